"""The pages that the program itself writes: rules, instructions, commands and the keys of ptx.toml."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("PTX_CLI") or str(ROOT / "target/debug/ptx-cli")

# The first two digits of a rule's code.
FAMILIES = {
    "00": ("suppression", "Suppression comments"),
    "01": ("text", "Text and header"),
    "02": ("instruction", "Instructions"),
    "03": ("declaration", "Declarations"),
    "04": ("call", "Calls and parameters"),
    "05": ("register", "Registers without a value"),
    "06": ("carry", "Carry chains"),
    "07": ("memory", "Memory"),
    "08": ("control", "Control and divergence"),
    "09": ("asynchronous", "Asynchronous operations"),
    "10": ("asm", "Asm statements of CUDA C++"),
}
MANUAL = "https://docs.nvidia.com/cuda/parallel-thread-execution/"


def ask(*arguments: str, cwd: Path = ROOT, statuses: tuple[int, ...] = (0,)) -> str:
    """What the program prints on standard output."""
    done = subprocess.run(
        [PROGRAM, *arguments],
        cwd=cwd,
        # As wide as a page.
        env={**os.environ, "COLUMNS": "84"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    if done.returncode not in statuses:
        raise RuntimeError(f"{PROGRAM} {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def slug(title: str) -> str:
    """The title as a part of an address."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


# Rules


@dataclass
class Shown:
    """What the verification of the data files tells of a rule."""

    fixes: set[str] = field(default_factory=set)
    finding: str = ""


def shown() -> dict[str, Shown]:
    """For each rule a finding as the terminal shows it, and how certain its fixes are."""
    rules: dict[str, Shown] = defaultdict(Shown)
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases"
        shutil.copytree(ROOT / "tests/cases", cases)
        for path in cases.rglob("*"):
            if path.suffix in (".ptx", ".cu", ".cuh"):
                path.write_bytes(without_expectations(path.read_bytes()))
        arguments = ("verify", "--no-config", "--color", "never", "--level", "info", "--all-findings", "cases")
        for line in ask(*arguments, "--message-format", "json", cwd=Path(folder), statuses=(0, 1)).splitlines():
            finding = json.loads(line)
            if finding["fix"]:
                rules[finding["rule"]].fixes.add(finding["fix"]["applicability"])
        text = ask(*arguments, cwd=Path(folder), statuses=(0, 1))
    # The gravest finding in the files of the rule itself, and of those the shortest.
    order = {"error": 0, "warning": 1, "info": 2}
    best: dict[str, tuple[int, int]] = {}
    for finding in re.split(r"\n\n(?=\w+\[P\d{4} )", text):
        match = re.match(r"(\w+)\[P\d{4} ([\w-]+)\].*\n +--> (\S+)", finding)
        if match and match[3].startswith(f"cases/{match[2]}/"):
            rank = (order[match[1]], len(finding))
            if rank < best.get(match[2], (3, 0)):
                best[match[2]] = rank
                rules[match[2]].finding = finding.strip("\n")
    return rules


def without_expectations(source: bytes) -> bytes:
    """A data file without the comments that say what is found in it."""
    source = re.sub(rb"(?m)^[ \t]*//~.*\n", b"", source)
    return re.sub(rb"[ \t]*//~?\^* *(?:error|warning|info)\[.*", b"", source)


def sections_of_manual(doc: str) -> list[str]:
    """The sections of NVIDIA's manual that a page names."""
    found: list[str] = []
    for match in re.finditer(r'sections? ((?:"[^"]+"(?:,? and |, )?)+)', doc.replace("\n", " ")):
        found += re.findall(r'"([^"]+)"', match[1])
    return list(dict.fromkeys(found))


def fix_of(known: Shown) -> str:
    return {
        (): "none",
        ("certain",): "certain: `--fix` applies it",
        ("likely",): "likely: `--fix --unsafe-fixes` applies it",
        ("certain", "likely"): "certain or likely, as the case is",
    }[tuple(sorted(known.fixes))]


def rule_page(rule: dict[str, str], known: Shown) -> str:
    name, code = rule["rule"], rule["code"]
    family, title = FAMILIES[code[1:3]]
    former = re.search(r"\(formerly ([^)]+)\)", ask("explain", name).rsplit("\n", 2)[-2])
    facts = [
        ("Code", code + (f" (formerly {former[1]})" if former else "")),
        ("Class", f"[{rule['class']}](index.md#{rule['class']})"),
        ("Level by default", rule["level"]),
        ("Family", f"[{title}](index.md#{family})"),
        ("Fix", fix_of(known)),
    ]
    sections = sections_of_manual(rule["doc"])
    if sections:
        facts.append(("Manual", ", ".join(f"“{section}”" for section in sections) + f" of the [PTX ISA]({MANUAL})"))
    table = "\n".join(f"| {key} | {value} |" for key, value in facts)
    summary = rule["summary"][0].upper() + rule["summary"][1:]
    finding = f"## How it is told\n```text\n{known.finding}\n```\n\n" if known.finding else ""
    return f"""---
description: "{summary.replace('"', "'")}"
---
# {name}

{summary}.

| | |
|---|---|
{table}

{rule["doc"]}

{finding}## Setting its level
```toml title="ptx.toml"
[rules]
{name} = "allow"    # or "info", "warn", "error"
```

`// ptx-allow: {name} -- why` on the line of a finding suppresses it there.
"""


def rules() -> tuple[dict[str, str], list]:
    """The pages of the rules, and their part of the navigation."""
    known = shown()
    listed = [json.loads(line) for line in ask("rules", "--message-format", "json").splitlines()]
    families: dict[str, list[dict[str, str]]] = defaultdict(list)
    for rule in listed:
        families[rule["code"][1:3]].append(rule)
    pages = {f"rules/{rule['rule']}.md": rule_page(rule, known[rule["rule"]]) for rule in listed}
    parts = []
    navigation: list = ["rules/index.md"]
    for number, members in families.items():
        family, title = FAMILIES[number]
        rows = "".join(
            f"| <span id=\"{rule['code']}\">{rule['code']}</span> | [{rule['rule']}]({rule['rule']}.md) | {rule['class']} | "
            f"{rule['level']} | {'yes' if known[rule['rule']].fixes else ''} | {rule['summary']} |\n"
            for rule in members
        )
        parts.append(
            f"## {title} {{ #{family} }}\n\n| code | rule | class | level | fix | finds |\n|---|---|---|---|---|---|\n{rows}"
        )
        navigation.append({title: [{rule["rule"]: f"rules/{rule['rule']}.md"} for rule in members]})
    pages["rules/index.md"] = RULES.format(number=len(listed)) + "\n".join(parts)
    return pages, navigation


RULES = """---
hide: [toc]
---
# Rules

`ptx-cli verify` knows {number} rules. Flags, `ptx.toml` and comments name a rule by its name or its code.
Codes that a rule had before still name it.

- <span id="invalid"></span>**invalid**: NVIDIA's assembler refuses the program for this target and version.
- <span id="hazard"></span>**hazard**: it assembles, yet it reads something undefined, or it breaks a rule of the ISA on some path.
- <span id="style"></span>**style**: canonical form, and unused things.

The code's first two digits are the family. “Fix” tells whether findings of the rule have one, at least some of them.
[Configuration](../configuration.md) tells how a rule gets another level.

"""


# Instructions


def paragraphs(text: str) -> list[str]:
    return [part for part in (part.strip("\n") for part in re.split(r"\n[ \t]*\n", text)) if part]


def chapters() -> dict[str, list[str]]:
    """The chapters of the instruction table, each with its opcodes."""
    found: dict[str, list[str]] = {}
    without: set[str] = set()
    for paragraph in paragraphs(ask("isa")):
        *title, names = paragraph.split("\n")
        listed = [name.strip() for name in names.split(",")]
        if title:
            found[title[0]] = listed
        else:
            without.update(listed)
    # Forms that have no chapter stand with the others of their opcode.
    lost = without.difference(*found.values())
    if lost:
        raise RuntimeError(f"`isa` tells no chapter of {', '.join(sorted(lost))}")
    return found


def forms(opcode: str, titles: set[str]) -> dict[str, list[str]]:
    """The forms of an opcode, by chapter."""
    found: dict[str, list[str]] = defaultdict(list)
    title = None
    for paragraph in paragraphs(ask("isa", opcode)):
        if paragraph in titles:
            title = paragraph
        elif title is None:
            raise RuntimeError(f"`isa {opcode}` begins without a chapter: {paragraph}")
        else:
            found[title].append(paragraph)
    return found


def clause(line: str) -> str:
    """A line below a form as an item of a list, its modifiers as code."""
    line = line.strip()
    values = re.fullmatch(r"(\.\w+) = \{ (.*) \}", line)
    if values:
        return f"- `{values[1]}` is " + ", ".join(f"`{value}`" for value in values[2].split(", "))
    return "- " + re.sub(r"(?<![\w.])(\.[A-Za-z][\w:.]*\w)", r"`\1`", html.escape(line, quote=False))


def form(paragraph: str) -> str:
    lines = paragraph.split("\n")
    syntax = [line for line in lines if not line.startswith(" ")]
    below = [line.strip() for line in lines if line.startswith(" ")]
    # What it does stands before what it needs, and an example behind that; later forms that do the same have neither.
    purpose = f"{below.pop(0)}.\n\n" if below and not below[0].startswith("since PTX") else ""
    example = below.pop(0).removeprefix("for example ") if below and below[0].startswith("for example ") else ""
    example = f"\n```ptx\n{example}\n```\n" if example else ""
    clauses = "\n".join(clause(line) for line in below)
    return f"{purpose[:1].upper()}{purpose[1:]}" + "```text\n" + "\n".join(syntax) + f"\n```\n\n{clauses}\n{example}"


def instructions() -> tuple[dict[str, str], list]:
    """The pages of the instruction table, and their part of the navigation."""
    listed = chapters()
    titles = set(listed)
    known = {opcode: forms(opcode, titles) for opcode in sorted({name for names in listed.values() for name in names})}
    pages, navigation = {}, ["isa/index.md"]
    index, where = [], defaultdict(list)
    for title, names in listed.items():
        # Every chapter is one of instructions.
        short = title.replace(" Instructions", "")
        page = f"{slug(short)}.md"
        body = []
        for name in names:
            if title not in known[name]:
                raise RuntimeError(f"`isa {name}` tells no form of the chapter {title}")
            body.append(f"## {name}\n\n" + "\n".join(form(text) for text in known[name][title]))
            where[name].append((short, f"{page}#{slug(name)}"))
        pages[f"isa/{page}"] = f"# {short}\n\n" + "\n".join(body)
        navigation.append({short: f"isa/{page}"})
        index.append(f"| [{short}]({page}) | " + ", ".join(f"[{name}]({page}#{slug(name)})" for name in names) + " |\n")
    pages["isa/special-registers.md"] = special_registers()
    navigation.append({"Special registers": "isa/special-registers.md"})
    pages["isa/directives.md"] = directives()
    navigation.append({"Directives": "isa/directives.md"})
    letters: dict[str, list[str]] = defaultdict(list)
    for name in sorted(where):
        places = where[name]
        if len(places) == 1:
            letters[name[0]].append(f"[{name}]({places[0][1]})")
        else:
            links = ", ".join(f"[{short}]({place})" for short, place in places)
            letters[name[0]].append(f"{name} ({links})")
    pages["isa/index.md"] = (
        ISA.format(number=len(where), forms=sum(len(texts) for found in known.values() for texts in found.values()))
        + "".join(index)
        + "\n## By name\n\n"
        + "".join(f"**{letter}** — {' · '.join(names)}\n\n" for letter, names in letters.items())
    )
    return pages, navigation


def entries(word: str) -> list[dict]:
    """What the program knows of special registers or directives, at least as many as there have been for years."""
    found = [json.loads(line) for line in ask("isa", "--json", word).splitlines()]
    if len(found) < 40:
        raise RuntimeError(f"`isa {word}` lists only {len(found)}")
    return found


def since(entry: dict) -> str:
    until = f" until {entry['until']}" if entry.get("until") else ""
    return f"{entry['version']}{until} | {entry['targets']}"


def special_registers() -> str:
    """All special registers; the elements of a vector have what differs from it in their own rows."""
    found = entries("%")
    whole = {entry["register"]: entry for entry in found}
    rows = []
    for entry in found:
        name = entry["register"]
        vector = whole.get(name.partition(".")[0], entry)
        if vector is not entry and entry["range"] is None:
            continue
        type = f".v{entry['elements']} {entry['type']}" if entry["elements"] > 1 else entry["type"]
        numbers = "{} to {}".format(*entry["range"]) if entry["range"] else ""
        rows.append(f"| `{name}` | `{type}` | {numbers} | {entry['varies']} | {since(entry)} |\n")
    return (
        "---\nhide: [toc]\n---\n# Special registers\n\n"
        "What the hardware tells a thread. They are read with `mov`, a vector by its elements: `%tid.x`.\n\n"
        "| register | type | values | which threads read the same | PTX | targets |\n|---|---|---|---|---|---|\n" + "".join(rows)
    )


def directives() -> str:
    """All directives."""
    rows = []
    for entry in entries("."):
        code = lambda words: ", ".join(f"`{word}`" for word in words)
        besides = [f"with {code(entry['needs'])}"] * bool(entry["needs"]) + [f"not with {code(entry['excludes'])}"] * bool(entry["excludes"])
        where = "; ".join([", or ".join(entry["places"]), *besides])
        where = re.sub(r"(?<!`)`?\.attribute\(…\)`?", "`.attribute(…)`", where)
        syntax = entry["syntax"].replace("|", "\\|")
        rows.append(f"| `{syntax}` | {entry['purpose']} | {where} | {since(entry)} |\n")
    return (
        "---\nhide: [toc]\n---\n# Directives\n\n"
        "Statements that are no instructions: they declare, or tell the assembler something.\n\n"
        "| directive | what it is for | where it stands | PTX | targets |\n|---|---|---|---|---|\n" + "".join(rows)
    )


ISA = """---
hide: [toc]
---
# Instructions

The instruction table of the toolkit: {number} instructions in {forms} forms, each with the PTX version and the targets that it
needs. `ptx-cli isa OPCODE` prints the same on a terminal. [Special registers](special-registers.md) and
[directives](directives.md) have pages of their own.

Of `{{.ftz}}` the braces say that it may be left out. `.type` stands for one of the values below the form.
“sm_100f or higher in the same family” are targets that share the features of a family.
“Since PTX 8.6” is what `.version` has to be at least.

## By chapter

| chapter | instructions |
|---|---|
"""


# Commands and keys


def commands() -> str:
    """The help of each command."""
    listed = re.search(r"Commands:\n(.*?)\n\n", ask("--help"), re.DOTALL)
    if not listed:
        raise RuntimeError("`--help` lists no commands")
    names = [line.split()[0] for line in listed[1].splitlines() if re.match(r"  \S", line)]
    parts = [f"## {name}\n\n```text\n{ask(name, '--help').strip()}\n```\n" for name in names if name != "help"]
    return "# Commands\n\nWhat `ptx-cli COMMAND --help` prints.\n\n" + "\n".join(parts)


def keys() -> str:
    """The keys of ptx.toml, from its schema."""
    schema = json.loads((ROOT / "ptx-cli/ptx.schema.json").read_text())
    rows: list[str] = []

    def kind(property: dict) -> str:
        if "enum" in property:
            values = property["enum"]
            shown = values if len(values) <= 4 else [values[0], "…", values[-1]]
            return ", ".join(f"`{value}`" if value != "…" else value for value in shown)
        if property.get("type") == "array":
            return "list of " + (kind(property["items"]) if "enum" in property["items"] else "texts")
        if "allOf" in property:
            return "table of levels"
        return {"string": "text", "boolean": "`true` or `false`", "integer": "number"}.get(property["type"], "table")

    def walk(properties: dict, prefix: str) -> None:
        for name, property in properties.items():
            inner = property.get("properties")
            items = property.get("items", {}).get("properties") if property.get("type") == "array" else None
            described = property.get("description", "").replace("|", "\\|")
            if inner:
                walk(inner, f"{prefix}{name}.")
            elif items:
                rows.append(f"| `[[{prefix}{name}]]` | tables | What holds for some files only. |\n")
                walk(items, f"{prefix}{name}.")
            else:
                default = f" Default: `{property['default']}`." if "default" in property else ""
                rows.append(f"| `{prefix}{name}` | {kind(property)} | {described}{default} |\n")

    walk(schema["properties"], "")
    return "| key | value | meaning |\n|---|---|---|\n" + "".join(rows)


def section_of(file: str, title: str) -> str:
    """A section of a Markdown file of this repository, without its heading."""
    text = (ROOT / file).read_text(encoding="utf-8")
    match = re.search(rf"(?ms)^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text)
    if not match:
        raise RuntimeError(f"{file} has no section `{title}`")
    return match[1].strip() + "\n"
