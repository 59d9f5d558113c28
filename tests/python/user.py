"""A user's program: mypy checks it with --strict, and it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import ptx_toolkit
from ptx_toolkit import Finding, Fix, Function, Needs


def loudest(findings: list[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "error" and finding.class_ != "style"]


def main() -> int:
    path = Path(sys.argv[1])
    text: str = path.read_text()
    findings = ptx_toolkit.verify(text, target=["sm_80", "sm_90a"], file=path, levels={"style": "allow"})
    findings += ptx_toolkit.verify(text.encode(), "sm_90a", "8.6", language="ptx", compiler="both")
    for finding in loudest(findings):
        place: tuple[int, int] = (finding.line, finding.column)
        fix: Fix | None = finding.fix
        print(finding, place, fix.edits[0].replacement if fix else "", *(label.message for label in finding.labels))
    laid_out: str = ptx_toolkit.format(text)
    as_bytes: bytes = ptx_toolkit.format(text.encode())
    assert laid_out.encode() == as_bytes
    needs: Needs = ptx_toolkit.needs(text)
    functions: list[Function] = ptx_toolkit.functions(ptx_toolkit.canonicalize(text))
    print(f"{path.name}: PTX {needs.version}, {', '.join(function.name for function in functions)}")
    try:
        report = ptx_toolkit.report(text, "sm_90a", backend="ptxas", timeout=60)
    except ptx_toolkit.AssemblerError as error:
        print(error)
        return 0
    registers: list[int | None] = [usage.registers for usage in report.functions]
    print(registers)
    return 0 if report.accepted else 1


if __name__ == "__main__":
    sys.exit(main())
