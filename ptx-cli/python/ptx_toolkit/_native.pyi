import os
from typing import List, Literal, Mapping, Optional, Sequence, Union, overload

from ._types import Finding, Function, Level, Needs, Report

__all__ = [
    "__version__",
    "verify",
    "format",
    "canonicalize",
    "needs",
    "functions",
    "report",
    "main",
    "started_by",
]

__version__: str

def verify(
    text: Union[str, bytes, bytearray],
    target: Union[str, Sequence[str], None] = None,
    ptx_version: Optional[str] = None,
    *,
    file: Union[str, os.PathLike[str], None] = None,
    language: Optional[Literal["ptx", "cuda"]] = None,
    levels: Optional[Mapping[str, Level]] = None,
    compiler: Literal["nvcc", "clang", "both"] = "nvcc",
) -> List[Finding]:
    """The findings of a PTX text, or of the asm statements of CUDA C++, in the order of their places.

    ``target`` asks "would this load there?", ``ptx_version`` "would a driver of that version take it?". ``file`` is
    the name in findings; its extension tells the language unless ``language`` does. ``levels`` gives rules
    (``carry-undefined``, ``P0601``, ``hazard``, ``all``) other levels. No ``ptx.toml`` is read. Raises PtxError where
    an argument is not right; a text that is not right has findings.
    """

@overload
def format(
    text: str,
    *,
    layout: str = "compiler",
    indent: Optional[int] = None,
    width: int = 100,
    language: Optional[Literal["ptx", "cuda"]] = None,
) -> str: ...
@overload
def format(
    text: Union[bytes, bytearray],
    *,
    layout: str = "compiler",
    indent: Optional[int] = None,
    width: int = 100,
    language: Optional[Literal["ptx", "cuda"]] = None,
) -> bytes: ...
def canonicalize(text: Union[str, bytes, bytearray]) -> str:
    """The text from the typed representation, without comments. Raises InvalidPtxError where it has errors."""

def needs(text: Union[str, bytes, bytearray]) -> Needs:
    """The lowest PTX version and the targets that the text needs, whatever its header says."""

def functions(text: Union[str, bytes, bytearray]) -> List[Function]:
    """The functions that the text declares or defines, in its order."""

def report(
    text: Union[str, bytes, bytearray],
    target: Optional[str] = None,
    *,
    file: Union[str, os.PathLike[str], None] = None,
    backend: Literal["auto", "driver", "ptxas", "library"] = "auto",
    max_registers: Optional[int] = None,
    timeout: float = 600.0,
) -> Report:
    """Compiles with NVIDIA's assembler and tells registers, spills and memory.

    A text that is refused is a report whose ``accepted`` is false. Raises AssemblerError where nobody compiles.
    """

def main(arguments: List[str]) -> int: ...
def started_by(program: str, arguments: List[str]) -> None: ...
