"""How the book colours PTX and sessions of a terminal. Pygments knows both, but PTX of some years ago only, and it takes
an output that begins with `#` for a command of the superuser."""

from __future__ import annotations

import re

from pygments.lexer import bygroups, include
from pygments.lexers import BashSessionLexer, PtxLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

PTX = {
    "root": [
        (r"\s+", Whitespace),
        (r"(@)(!?)(\s*)(%?[\w$]+)", bygroups(Operator, Operator, Whitespace, Name.Variable)),
        (r"[A-Za-z_$][\w$]*(?=\s*:(?!:))", Name.Label),
        (r"\.[a-z]\w*", Keyword.Declaration, "line"),
        # The opcode with its modifiers is one word.
        (r"[a-z]\w*(?:\.[\w:]+)*", Keyword, "line"),
        include("words"),
    ],
    # What is behind the first word of a statement.
    "line": [
        (r"\n", Whitespace, "#pop"),
        (r"[^\S\n]+", Whitespace),
        (r";", Punctuation, "#pop"),
        # A body begins.
        (r"(\))(\s*)(\{)", bygroups(Punctuation, Whitespace, Punctuation), "#pop"),
        (r"\.[a-z]\w*", Keyword.Type),
        include("words"),
    ],
    "words": [
        (r"//[^\n]*", Comment.Single),
        (r"/\*(?:[^*]|\*(?!/))*\*/", Comment.Multiline),
        (r'"(?:[^"\\\n]|\\.)*"', String),
        (r"%[\w$]+(?:\.[xyzw]\b)?", Name.Variable),
        (r"0[fF][0-9A-Fa-f]{8}\b|0[dD][0-9A-Fa-f]{16}\b", Number.Float),
        (r"0[xX][0-9A-Fa-f]+U?\b|0[bB][01]+U?\b", Number.Hex),
        (r"\d+\.\d+(?:[eE][+-]?\d+)?|\d+U?\b", Number),
        (r"[A-Za-z_$][\w$]*", Name),
        (r"[-+*/%&|^~!<>=?]", Operator),
        (r".", Punctuation),
    ],
}


def register() -> None:
    """Puts these in the place of those that Pygments has. It must not have used them before."""
    PtxLexer.tokens = PTX
    BashSessionLexer._ps1rgx = re.compile(r"^(\$ )(.*\n?)")
