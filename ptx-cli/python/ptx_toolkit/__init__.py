"""Verify, format and report on NVIDIA PTX.

>>> import ptx_toolkit
>>> for finding in ptx_toolkit.verify(kernel.asm["ptx"], target="sm_90a"):
...     print(finding)

Texts are ``str`` or ``bytes``. The functions release the interpreter's lock and may be called from any thread.
Nothing here prints, and only :func:`report` needs NVIDIA's tools.
"""

from ._native import __version__, canonicalize, format, functions, needs, report, verify
from ._types import (
    AssemblerError,
    Cause,
    Edit,
    Finding,
    Fix,
    Function,
    InvalidPtxError,
    Label,
    LogLine,
    Needs,
    Parameter,
    PtxError,
    Report,
    Usage,
)

__all__ = [
    "AssemblerError",
    "Cause",
    "Edit",
    "Finding",
    "Fix",
    "Function",
    "InvalidPtxError",
    "Label",
    "LogLine",
    "Needs",
    "Parameter",
    "PtxError",
    "Report",
    "Usage",
    "__version__",
    "canonicalize",
    "format",
    "functions",
    "needs",
    "report",
    "verify",
]
