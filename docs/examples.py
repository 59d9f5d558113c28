#!/usr/bin/env python3
"""Runs the examples in pages of the book and compares what they print with what the pages say.

    docs/examples.py PAGE…            fails where an example prints something else
    docs/examples.py --bless PAGE…    writes what is printed into the pages

The blocks of a page are one session, in a folder of its own that has the kernels and data files of the tests.

* A block with a `title` is a file: it is written before what follows.
* `console`: a line with `$ ` is a command, for which bash is asked. The lines below are its output; a line `[…]`
  stands for any lines, and within a line for any text.
* `pycon`: a session of Python in which `ptx_toolkit` is imported, as for `doctest`.
* `python`: has to be Python.

`<!-- needs NAME -->` on the line above a block says what it cannot do without: `ptxas`, or `ptx_toolkit`, which every
`pycon` needs. `<!-- not run: WHY -->` says why a block is not run. The environment has the program (PTX_CLI), a Python
with the module (PTX_PYTHON, may be missing) and the assembler (PTXAS, may be missing).
"""

from __future__ import annotations

import ast
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(
    r"(?m)^(?:<!-- (?P<note>needs|not run:) (?P<why>.+?) -->\n)?"
    r"```(?P<language>[\w-]+)(?: title=\"(?P<title>[^\"]+)\")?[^\n]*\n(?P<text>.*?)^```$",
    re.DOTALL,
)
ANY = "[…]"


@dataclass
class Outcome:
    """What became of a page."""

    run: int = 0
    ignored: int = 0
    failures: list[str] | None = None


class Session:
    """A folder in which the blocks of a page are run, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        for part in ("tests/kernels", "tests/cases", "examples"):
            shutil.copytree(ROOT / part, self.folder / part)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "ptx-cli").symlink_to(Path(os.environ["PTX_CLI"]).absolute())
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }
        self.status = 0

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def command(self, command: str) -> str:
        # The status of the command before is there for `$?`.
        done = subprocess.run(
            ["bash", "-c", f"(exit {self.status})\n{command}"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
        )
        self.status = done.returncode
        return done.stdout

    def console(self, text: str) -> str:
        """The block as it would be with what the commands print."""
        lines = text.splitlines()
        parts: list[str] = []
        at = 0
        while at < len(lines):
            if not lines[at].startswith("$ "):
                raise ValueError(f"a console block begins with a command, not with {lines[at]!r}")
            command = [lines[at][2:]]
            while command[-1].endswith("\\"):
                at += 1
                command.append(lines[at].removeprefix("> "))
            at += 1
            start = at
            while at < len(lines) and not lines[at].startswith("$ "):
                at += 1
            said = lines[start:at]
            printed = [line.rstrip() for line in self.command("\n".join(command)).strip("\n").splitlines()]
            # An empty line before the next command is only there for the reader.
            gap = [""] if at < len(lines) and said and said[-1] == "" else []
            while said and said[-1] == "":
                said.pop()
            shown = said if agree(said, printed) else printed
            parts += ["$ " + command[0], *("> " + line for line in command[1:]), *shown, *gap]
        return "\n".join(parts) + "\n"

    def python(self, text: str, python: str) -> str | None:
        """What doctest says of a session, if anything."""
        self.write("session.txt", ">>> import ptx_toolkit\n" + text)
        done = subprocess.run(
            [python, "-m", "doctest", "-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE", "session.txt"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
        )
        return done.stdout if done.returncode else None


def agree(said: list[str], printed: list[str]) -> bool:
    """Whether the lines of a page are those that were printed, but for times and what `[…]` stands for."""

    def pattern(line: str) -> str:
        if line == ANY:
            return r"(?:[^\n]*\n)*?"
        timeless = re.escape(line).replace(re.escape(ANY), "[^\n]*")
        return re.sub(r"in\\ \d+\\\.\d+\\ s", r"in \\d+\\.\\d+ s", timeless) + r"\n"

    text = "".join(line + "\n" for line in printed)
    return re.fullmatch("".join(pattern(line.rstrip()) for line in said), text) is not None


def page(path: Path, bless: bool) -> Outcome:
    """Runs the blocks of a page."""
    outcome = Outcome(failures=[])
    source = path.read_text(encoding="utf-8")
    python = os.environ.get("PTX_PYTHON")
    there = {"ptxas": bool(os.environ.get("PTXAS")), "ptx_toolkit": bool(python)}
    pieces: list[str] = []
    done = 0
    before = ""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(Path(folder))
        for block in BLOCK.finditer(source):
            language, text = block["language"], block["text"]
            line = source.count("\n", 0, block.start("text"))
            where = f"{path}:{line}"
            if block["note"] == "needs" and block["why"] not in there:
                raise ValueError(f"{where}: nobody knows what `{block['why']}` is")
            needed = [block["why"]] if block["note"] == "needs" else []
            if block["title"]:
                session.write(block["title"], text)
                continue
            if language == "python":
                ast.parse(text, where)
            if language not in ("console", "pycon") or block["note"] == "not run:":
                continue
            if language == "pycon":
                needed.append("ptx_toolkit")
            if not all(there[each] for each in needed):
                outcome.ignored += 1
                continue
            outcome.run += 1
            if language == "pycon":
                # The sessions of a page are one, and only the last block is new.
                before += "".join(text)
                wrong = session.python(before, python or "")
                if wrong:
                    outcome.failures.append(f"{where}:\n{wrong}")
                continue
            new = session.console(text)
            if new != text:
                pieces += [source[done : block.start("text")], new]
                done = block.end("text")
                difference = difflib.unified_diff(text.splitlines(), new.splitlines(), "page", "printed", lineterm="")
                outcome.failures.append(f"{where}:\n" + "\n".join(difference))
    if bless and pieces:
        path.write_text("".join(pieces) + source[done:], encoding="utf-8")
    return outcome


def main() -> int:
    bless = sys.argv[1:2] == ["--bless"]
    outcomes = [page(Path(name), bless) for name in sys.argv[1 + bless :]]
    for outcome in outcomes:
        for failure in outcome.failures or []:
            print(failure, file=sys.stderr)
    failed = sum(len(outcome.failures or []) for outcome in outcomes)
    ignored = sum(outcome.ignored for outcome in outcomes)
    print(f"examples: {sum(outcome.run for outcome in outcomes)} run, {failed} differ, {ignored} ignored")
    if ignored and os.environ.get("CI"):
        print("examples were ignored, and CI wants all of them to run", file=sys.stderr)
        return 1
    return 1 if failed and not bless else 0


if __name__ == "__main__":
    sys.exit(main())
