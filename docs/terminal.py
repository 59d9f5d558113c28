#!/usr/bin/env python3
"""Draws what a command prints on a terminal, in its colours, as an SVG.

    docs/terminal.py PROGRAM            draws docs/terminal.svg
    docs/terminal.py PROGRAM --check    fails where docs/terminal.svg is not what PROGRAM prints
"""

import html
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "terminal.svg"
ARGUMENTS = ["verify", "tests/cases/combined/addition_96.ptx"]

# Readable in the dark window whatever the page around it.
COLORS = {"31": "#f47067", "91": "#ff938a", "33": "#e0b252", "93": "#f2cc60", "34": "#6cb6ff", "94": "#6cb6ff",
          "32": "#6bc46d", "92": "#8ddb8c", "36": "#76e3ea", "96": "#76e3ea"}
BACKGROUND, TEXT, DIM = "#1c2128", "#cdd9e5", "#768390"
SIZE, LINE, WIDTH, MARGIN, TOP = 13, 19, 7.83, 18, 42
# Browsers show one blank where there are several of the usual ones.
NO_BREAK = "\u00a0"
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


def printed(program):
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CLICOLOR")}
    environment.update(COLUMNS="100", LC_ALL="C.UTF-8")
    command = [str(pathlib.Path(program).resolve()), "--color", "always", *ARGUMENTS]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 1:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout.rstrip("\n").split("\n")


def spans(line):
    """The pieces of a line with their colour and weight."""
    color, bold, at = TEXT, False, 0
    for escape in [*ESCAPE.finditer(line), None]:
        piece = line[at:escape.start() if escape else None]
        if piece:
            yield piece, color, bold
        if escape is None:
            return
        at = escape.end()
        for code in escape[1].split(";"):
            if code in ("", "0"):
                color, bold = TEXT, False
            elif code == "1":
                bold = True
            elif code == "2":
                color = DIM
            elif code in COLORS:
                color = COLORS[code]
            else:
                sys.exit(f"there is no colour for the code {code}")


def picture(lines):
    columns = max(len(ESCAPE.sub("", line)) for line in lines)
    width, height = round(2 * MARGIN + columns * WIDTH), TOP + len(lines) * LINE + MARGIN
    plain = "\n".join(ESCAPE.sub("", line) for line in lines)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>What ptx-cli prints</title><desc>{html.escape(plain)}</desc>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>',
        *(f'<circle cx="{20 + 18 * number}" cy="18" r="6" fill="{color}"/>'
          for number, color in enumerate(("#f47067", "#e0b252", "#6bc46d"))),
        f'<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="{SIZE}">',
    ]
    for number, line in enumerate(lines):
        column = 0
        for piece, color, bold in spans(line):
            if piece.strip():
                weight = ' font-weight="bold"' if bold else ""
                # Every piece at its own column and as wide as its columns, so that no font moves an underline.
                lead = len(piece) - len(piece.lstrip(" "))
                shown = piece.strip(" ")
                x = MARGIN + (column + lead) * WIDTH
                out.append(
                    f'<text x="{x:.1f}" y="{TOP + (number + 0.7) * LINE:.1f}" fill="{color}"{weight}'
                    f' textLength="{len(shown) * WIDTH:.1f}" lengthAdjust="spacingAndGlyphs">{html.escape(shown, quote=False).replace(" ", NO_BREAK)}</text>'
                )
            column += len(piece)
    return "\n".join([*out, "</g>", "</svg>", ""])


def main():
    program, *rest = sys.argv[1:]
    prompt = f"\x1b[92m$\x1b[0m ptx-cli {' '.join(ARGUMENTS)}"
    drawn = picture([prompt, *printed(program)])
    if rest == ["--check"]:
        if PICTURE.read_text(encoding="utf-8") != drawn:
            sys.exit(f"docs/terminal.svg is not what the program prints: docs/terminal.py {program} draws it anew")
        return
    PICTURE.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
