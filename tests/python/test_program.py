"""The program `ptx-cli` as the wheel installs it: streams, exit status and signals are those of the real one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ptx_toolkit

PROGRAM = shutil.which("ptx-cli") or ""
WRONG = b".version 8.6\n.target sm_90\n.address_size 64\n.entry k() { add.u32 %r1, %r1, 1; ret; }\n"


def run(*arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=60)


class Program(unittest.TestCase):
    def test_it_is_the_one_of_the_wheel(self) -> None:
        self.assertTrue(PROGRAM.startswith(sys.prefix), PROGRAM)
        self.assertIn(ptx_toolkit.__version__.encode(), run("--version").stdout)
        module = subprocess.run([sys.executable, "-m", "ptx_toolkit", "--version"], capture_output=True)
        self.assertEqual(module.stdout, run("--version").stdout)

    def test_exit_status_and_streams(self) -> None:
        found = run("verify", "--message-format", "json", "-", stdin=WRONG)
        self.assertEqual((found.returncode, found.stderr), (1, b""))
        self.assertEqual(json.loads(found.stdout.splitlines()[0])["rule"], "undeclared-name")
        clean = run("format", "-", stdin=b".version 8.6\n.target sm_90\n")
        self.assertEqual((clean.returncode, clean.stderr), (0, b""))
        # The end of the text comes out too, though it is no line.
        self.assertTrue(clean.stdout.startswith(b".version 8.6"))
        missing = run("verify", "no-such-file.ptx")
        self.assertEqual((missing.returncode, missing.stdout), (2, b""))
        self.assertIn(b"no-such-file.ptx", missing.stderr)
        self.assertEqual(run("no-such-command").returncode, 2)

    @unittest.skipIf(os.name == "nt", "there are no such signals")
    def test_signals_end_it_as_any_program(self) -> None:
        # A shell starts what it runs in the background with signals ignored, and what is ignored stays so.
        def heed_signals() -> None:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)

        for number in (signal.SIGINT, signal.SIGTERM):
            child = subprocess.Popen(
                [PROGRAM, "lsp"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                preexec_fn=heed_signals,
            )
            assert child.stdin and child.stdout and child.stderr
            message = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
            child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
            child.stdin.flush()
            # It answers, so it runs and not the interpreter before it.
            self.assertTrue(child.stdout.readline().startswith(b"Content-Length"))
            child.send_signal(number)
            self.assertEqual(child.wait(timeout=30), -number)
            self.assertEqual(child.stderr.read(), b"")
            for stream in (child.stdin, child.stdout, child.stderr):
                stream.close()

    @unittest.skipIf(os.name == "nt", "there is no `head`")
    def test_a_closed_pipe_is_no_failure(self) -> None:
        done = subprocess.run(
            f"set -o pipefail; '{PROGRAM}' rules --all 2>&1 | head -n 1 >/dev/null; '{PROGRAM}' isa add | head -n 1",
            shell=True, executable="/bin/bash", capture_output=True, timeout=60,
        )
        self.assertEqual(done.stderr, b"")

    def test_fixes_are_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "k.ptx")
            path.write_bytes(WRONG.replace(b"add.u32 %r1, %r1, 1;", b".reg .f32 %f1; mov.f32 %f1, 0f3F800000; add.ftz.rn.f32 %f1, %f1, %f1;"))
            run("verify", "--fix", str(path))
            self.assertIn(b"add.rn.ftz.f32", path.read_bytes())
            self.assertEqual(os.listdir(folder), ["k.ptx"])


if __name__ == "__main__":
    unittest.main()
