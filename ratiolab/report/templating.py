"""Templates of pages: text with named slots, which code fills."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ratiolab.model.files import write_text
from ratiolab.version import made_by

TEMPLATES = Path(__file__).parent / "templates"


MADE = "\n*Written by ratiolab "
"""How the last line of a page begins."""


def write_page(path: Path, text: str) -> None:
    """Write a page of Markdown, with version, commit and date in its last line.

    A page that says the same already stays as it is, with the commit that it came from.
    """
    if not (path.is_file() and path.read_text(encoding="utf-8").startswith(text + MADE)):
        write_text(path, f"{text}{MADE}{made_by()}.*\n")


def unsigned(page: str) -> str:
    """Return a page without the line of its version, commit and date."""
    text, found, line = page.rpartition(MADE)
    return text if found and line.endswith(".*\n") and "\n" not in line[:-1] else page


def filled(template: str, slots: Mapping[str, Any], folder: Path = TEMPLATES) -> str:
    """Return a template of a folder with its slots filled."""
    return environment(folder).get_template(template).render(slots) + "\n"


def environment(folder: Path) -> Environment:
    """Return how templates of a folder are read: strict on names, with formats for numbers."""
    templates = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        autoescape=lambda name: name is not None and name.endswith(".html"),
    )
    templates.filters.update(
        fixed=lambda value, digits=2: _formatted(value, f".{digits}f"),
        significant=lambda value, digits=6: _formatted(value, f".{digits}g"),
        percent=lambda value, digits=0: _formatted(value, f".{digits}%"),
        thousands=lambda value: _formatted(value, ",.0f"),
        rows=rows,
        plain=plain,
    )
    return templates


def rows(cells: Iterable[Iterable[Any]]) -> str:
    """Return the rows of a Markdown table."""
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in cells)


def plain(words: Any) -> str:
    """Return text that Markdown shows as it is: no markup, no link, no cell ends in it.

    >>> plain("<b>a|b</b> [c](d) 2 * 3")
    '&lt;b&gt;a\\\\|b&lt;/b&gt; \\\\[c\\\\](d) 2 \\\\* 3'
    """
    text = " ".join(str(words).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|$~#])", r"\\\1", text)


def _formatted(value: Any, spec: str) -> str:
    if isinstance(value, StrictUndefined):
        str(value)  # raises the error that names the slot
    return format(value, spec)
