"""What the functions of this package return and raise."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, NamedTuple, Optional, Tuple




Class = Literal["invalid", "hazard", "style"]
Severity = Literal["error", "warning", "info"]
Level = Literal["allow", "info", "warn", "error"]


class Label(NamedTuple):
    """A place that explains a finding. Lines and columns count from 1, columns in bytes; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    message: str


class Edit(NamedTuple):
    """One replacement of text; an insertion has an empty place, a deletion an empty replacement."""

    line: int
    column: int
    end_line: int
    end_column: int
    replacement: str


class Fix(NamedTuple):
    """A change that removes a finding."""

    message: str
    applicability: Literal["certain", "likely"]
    edits: Tuple[Edit, ...]


class Finding(NamedTuple):
    """One finding. Lines and columns count from 1, columns in bytes; the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    class_: Class
    """``invalid``: NVIDIA's assembler refuses it; ``hazard``: it assembles and goes wrong; ``style``."""
    severity: Severity
    code: str
    """Such as ``P0205``."""
    rule: str
    """Such as ``operand-type``; ``ptx-cli explain RULE`` explains it."""
    message: str
    labels: Tuple[Label, ...]
    notes: Tuple[str, ...]
    fix: Optional[Fix]

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity}[{self.code} {self.rule}]: {self.message}"

    def as_dict(self) -> Dict[str, Any]:
        """The object that ``ptx-cli verify --message-format json`` prints."""
        fields = self._asdict()
        fields["class"] = fields.pop("class_")
        fields["labels"] = [label._asdict() for label in self.labels]
        fields["notes"] = list(self.notes)
        if self.fix is not None:
            fields["fix"] = {**self.fix._asdict(), "edits": [edit._asdict() for edit in self.fix.edits]}
        return fields


class Cause(NamedTuple):
    """Something that not every PTX version or target has."""

    what: str
    version: str
    targets: Tuple[str, ...]
    line: int
    column: int


class Needs(NamedTuple):
    """The lowest PTX version and the targets that have all that a module uses."""

    version: str
    targets: Tuple[str, ...]
    causes: Tuple[Cause, ...]
    """Each asks for more than all before it."""


class Parameter(NamedTuple):
    """A parameter of a function."""

    name: str
    type: str
    """With its dot: ``.u64``."""
    bytes: Optional[int]
    align: int


class Function(NamedTuple):
    """A kernel or device function."""

    name: str
    kind: Literal["entry", "func"]
    linkage: Optional[str]
    defined: bool
    """Whether it has a body."""
    line: int
    parameters: Tuple[Parameter, ...]
    returns: Tuple[Parameter, ...]
    instructions: int
    directives: Tuple[str, ...]
    """As they are written: ``.maxntid 128``."""


class Usage(NamedTuple):
    """What a function costs; ``None`` is what the compiler does not tell. Sizes are in bytes."""

    name: str
    kind: Literal["entry", "func"]
    registers: Optional[int]
    barriers: Optional[int]
    stack_bytes: Optional[int]
    spill_store_bytes: Optional[int]
    spill_load_bytes: Optional[int]
    shared_bytes: Optional[int]
    const_bytes: Optional[int]
    local_bytes: Optional[int]
    max_threads: Optional[int]


class LogLine(NamedTuple):
    """A message of the compiler."""

    severity: Literal["info", "warning", "error", "fatal"]
    line: Optional[int]
    message: str


class Report(NamedTuple):
    """What NVIDIA's assembler says about a text."""

    file: str
    backend: Literal["driver", "ptxas", "library"]
    backend_version: Optional[str]
    target: str
    accepted: bool
    seconds: float
    log: Tuple[LogLine, ...]
    functions: Tuple[Usage, ...]


class PtxError(ValueError):
    """A text or an argument is not right; the message is a sentence that says why."""


class InvalidPtxError(PtxError):
    """A text has errors, which are ``findings``."""

    def __init__(self, findings: List[Finding]) -> None:
        self.findings = findings
        first = f", the first: {findings[0]}" if findings else ""
        errors = "1 error" if len(findings) == 1 else f"{len(findings)} errors"
        super().__init__(f"the text has {errors} and no canonical form{first}")

    def __reduce__(self) -> Tuple[Any, ...]:
        return (type(self), (self.findings,))


class AssemblerError(RuntimeError):
    """There is no assembler here, or it gave no verdict; the message says what to do."""
