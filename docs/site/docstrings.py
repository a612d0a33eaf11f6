"""Docstrings of the project in the form that napoleon reads."""

import re

PARAMETER = re.compile(r"^(\*{0,2}\w[\w, *]*) : (.+)$")


def numpydoc(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with what the project writes more briefly than numpydoc.

    A parameter is ``name : description``: its type stands in the signature. A result is a sentence.
    Examples need no heading, and sentences may follow a section.

    >>> numpydoc(["Returns", "-------", "the bound.", "", ">>> 1 + 1", "2"])
    ['', '', ':returns: the bound.', '', 'Examples', '--------', '>>> 1 + 1', '2']
    """
    found: list[str] = []
    heading, number = "", 0
    while number < len(lines):
        line = lines[number]
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", below) and line.strip():
            heading = line
            if heading in ("Returns", "Yields") and not _has_types(lines[number + 2 :]):
                number, words = _sentence(lines, number + 2)
                found += ["", "", f":returns: {words}", ""]  # two blank lines end a section
                heading = "sentence"
                continue
            found += [line, below]
            number += 2
            continue
        if line.startswith(">>>") and heading not in ("", "Examples"):
            found += ["Examples", "--------"]
            heading = "Examples"
        if heading in ("Parameters", "Raises") and _is_prose(lines, number):
            found += ["", ""]  # which end a section
            heading = ""
        if heading == "Parameters" and (each := PARAMETER.match(line)):
            found += [each[1], f"    {each[2]}"]
        else:
            found.append(line)
        number += 1
    return found


def _is_prose(lines: list[str], number: int) -> bool:
    """Return whether a paragraph begins here that describes no entry of the section."""
    line, *below = lines[number:]
    if not line.strip() or line.startswith(" ") or PARAMETER.match(line):
        return False
    begins = not lines[number - 1].strip()
    return begins and not (below and below[0].startswith(" "))


def _has_types(rest: list[str]) -> bool:
    """Return whether descriptions are indented below the first line, which is a type then."""
    return len(rest) > 1 and rest[1].startswith(" ")


def _sentence(lines: list[str], number: int) -> tuple[int, str]:
    """Return where a paragraph ends, and its words."""
    words: list[str] = []
    while number < len(lines) and lines[number].strip():
        words.append(lines[number].strip())
        number += 1
    while number < len(lines) and not lines[number].strip():
        number += 1
    return number, " ".join(words)
