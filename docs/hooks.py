"""What MkDocs is to do besides: it asks for the generated pages and puts them into the book."""

from __future__ import annotations

import re

import generate
import lexers
from mkdocs.structure.files import File

generated: dict[str, str] = {}


def on_config(config):
    """Makes the pages, and their part of the navigation."""
    lexers.register()
    for title, make in (("Rules", generate.rules), ("Instructions", generate.instructions)):
        pages, navigation = make()
        generated.update(pages)
        config.nav.append({title: navigation})
    generated["commands.md"] = generate.commands()
    return config


def on_files(files, config):
    """Adds them, and the schema of ptx.toml, which that file may name by its address."""
    for address, text in generated.items():
        files.append(File.generated(config, address, content=text))
    schema = generate.ROOT / "ptx-cli/ptx.schema.json"
    files.append(File.generated(config, schema.name, abs_src_path=str(schema)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Fills in what pages take from elsewhere: `{{ keys }}` and `{{ README.md: Title }}`."""
    markdown = markdown.replace("{{ keys }}", generate.keys())
    return re.sub(r"(?m)^\{\{ ([\w./-]+): (.+) \}\}$", lambda match: generate.section_of(match[1], match[2]), markdown)
