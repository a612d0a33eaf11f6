#!/usr/bin/env python3
"""Find sentences that a stranger stumbles over, in pages, docstrings, messages and help texts.

``.ci/prose.py [FILE ...]`` prints each hit with its rule and exits with 1 if there is any. Code,
commands and doctests are skipped. Rewrite a sentence by its sense: name the subject, use the
standard term of the field, and say one thing.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

START = r"(?:\A|\| |(?<=[.:;]\s))"
RULES = {
    "a request, label or process is no person": r"\b(?i:(no|any|some|every)body|whom|whoever)\b",
    "give a number, or say at least": r"\bso (many|much)\b(?! that| as)"
    r"|\b(as many times|no less than|as much work as|for the rest|behind (it|the name))\b",
    "repeat the noun": r"\b([Tt]hose|[Oo]nes?) (that|which|who)\b|\b[Oo]f (which|whom)\b",
    "begin with the subject": START
    + r"(What|Who|Whom|Those|Of (the|those|two)) [a-z][^?]*?\.(?!\w)",
    "name the thing": r"\bwhat (is left|no \w+|it (is|takes|costs|was)|is there)\b",
    "say by how much": r"\b(is|are) worth\b",
    "use the active voice": r"\bis (known|told|judged|served|asked) (of|by|for|from)\b",
    "begin with a noun": r"(?:\A|\| |(?<=\.\s))([Tt]he (same|others|latter|former)|Both|So)\b",
    "use the field's term": r"\b(remember(s|ed)?|walks?|to bracket|bracketed|[Ee]nclos\w+)\b"
    r"|\bwhat completing\b",
    "no space before %": r"[\dx] %(?!\w)",
    "write a leading zero": r"(?<![\w.\])}])\.\d",
    "report a median and range, or nothing": r"\binstead of \.?\d",
    "no Python value in a sentence": r"\[(True|False)",
}
"""What a hit should become, and the pattern of a hit; a space stands for any white space."""

COMPILED = {rule: re.compile(text.replace(" ", r"\s+")) for rule, text in RULES.items()}

EXCEPTIONS = {
    "results/benchmarks.md",
}
"""Files, or parts of sentences, that no rule is for; at most ten lines."""


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield paragraphs, items and rows of a text with the line on which each begins."""
    text = re.sub(r"```.*?```", lambda found: "\n" * found[0].count("\n"), text, flags=re.S)
    text = re.sub(
        r"^ *>>>.*(\n *\S.*)*", lambda found: "\n" * found[0].count("\n"), text, flags=re.M
    )
    text = re.sub(r"(``?)[^`]+?\1", lambda code: "x" + "\n" * code[0].count("\n"), text)
    starts = r"\n(?=\s*\n|\s*[-*|#] ?|\s*\d+\. |[ \w*,]+ : )|(?<=---)\n"
    text = re.sub(
        r"\{\{.*?\}\}|\{%.*?%\}", lambda slot: "x" + "\n" * slot[0].count("\n"), text, flags=re.S
    )
    at = 0
    for part in re.split(f"({starts})", text):
        lead = len(part) - len(part.lstrip())
        if part.strip():
            begin = re.sub(r"^\s*[\w*, ]+ : |^[-*#\s]+", "", part)  # of a list, or a parameter
            yield text[: at + lead].count("\n") + 1, begin.rstrip()
        at += len(part)


def strings(source: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings and messages of a module, with a letter for each value put in."""
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(source)):
        if node in inside:
            continue
        if isinstance(node, ast.JoinedStr):
            inside.update(ast.walk(node))
            parts = (p.value if isinstance(p, ast.Constant) else "x" for p in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def hits(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, rule and words of each hit in a file."""
    source = path.read_text(encoding="utf-8")
    texts = [(1, source)] if path.suffix == ".md" else strings(source)
    for first, text in texts:
        if not re.search(r"[a-z,] [a-z]", text) or "(?:" in text:
            continue  # a word, or a pattern
        for line, block in blocks(text):
            for rule, pattern in COMPILED.items():
                for found in pattern.finditer(block):
                    words = block[max(0, found.start() - 60) : found.end() + 40]
                    if not any(known in words for known in EXCEPTIONS):
                        above = block[: found.start()].count("\n")
                        yield first + line - 1 + above, rule, " ".join(words.split())


def files() -> list[Path]:
    """Return every page and module that people read."""
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    pages += [p for place in ("docs", "results", "instances") for p in (ROOT / place).rglob("*.md")]
    pages += (ROOT / "ratiolab").rglob("*.md")
    pages += (ROOT / "ratiolab").rglob("*.py")
    return sorted(p for p in pages if not str(p.relative_to(ROOT)).startswith(tuple(EXCEPTIONS)))


if __name__ == "__main__":
    count = 0
    for path in [Path(name).resolve() for name in sys.argv[1:]] or files():
        for line, rule, words in hits(path):
            count += 1
            print(f"{path.relative_to(ROOT)}:{line}: {rule}: {words}")
    print(f"{count} hits")
    sys.exit(count > 0)
