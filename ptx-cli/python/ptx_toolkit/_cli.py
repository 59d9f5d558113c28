"""The program ``ptx-cli``, which is in the extension module."""

import signal
import sys

from . import _native


def main() -> int:
    """Runs the program with the arguments of this process; its exit status."""
    # The program has handlers of its own, and what it does not handle ends it as any other. Whoever started it may
    # want it to ignore a signal; Python itself ignores the last two.
    for name in ("SIGINT", "SIGXFSZ", "SIGPIPE"):
        number = getattr(signal, name, None)
        if number is not None and (name != "SIGINT" or signal.getsignal(number) is not signal.SIG_IGN):
            signal.signal(number, signal.SIG_IGN if name == "SIGPIPE" else signal.SIG_DFL)
    # The driver's compiler runs in a process of its own.
    _native.started_by(sys.executable, ["-m", "ptx_toolkit"])
    return _native.main(sys.argv)
