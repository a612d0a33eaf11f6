"""Reports of an evaluation: a page that works without a network, PDF, LaTeX, Markdown."""

import platform
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ratiolab.evaluation.result import Evaluation
from ratiolab.model import Instance
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.files import PathLike, write_bytes, write_text
from ratiolab.online.clock import BatchTime
from ratiolab.online.registry import parameter_values, rule
from ratiolab.ratio.choice import by_reason
from ratiolab.report.evaluation_table import IN_USE, NOTE, cells
from ratiolab.report.plots.canvas import Chart
from ratiolab.report.plots.evaluation import CHARTS, chart, inline_svg
from ratiolab.report.plots.pages import INNER, Pages, pages
from ratiolab.report.templating import filled
from ratiolab.version import made_by

FORMATS = (".html", ".pdf", ".tex", ".md")
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib")
NARROW = ("at most", "P99 TPOT")
"""Columns that a telephone shows beside the first two."""


def require_report_format(path: PathLike, formats: Sequence[str] = FORMATS, of: str = "") -> Path:
    """Return a path whose ending names a format of reports; raise ValueError for others."""
    path = Path(path)
    if path.suffix not in formats:
        raise ValueError(f"{path}: a report{of} can be {', '.join(formats)}, not {path.suffix!r}")
    return path


def write_report(
    made: Evaluation,
    path: PathLike,
    *,
    lines: Sequence[str] = (),
    provenance: Sequence[tuple[str, str]] = (),
    log: Sequence[str] = (),
) -> None:
    """Write a report, in one step; charts of a Markdown report, and of LaTeX, stand beside it.

    Parameters
    ----------
    path : ends in .html (one page with everything in it), .pdf, .tex (a table for \\input, with
        charts as PDF files) or .md (with charts as PNG files).
    lines : sentences below the recommendation.
    provenance : a description of the source, before the versions.
    log : what was understood of a request log, sentences.
    """
    path = require_report_format(path)
    slots = _slots(made, lines, provenance, log)
    if path.suffix == ".pdf":
        write_bytes(path, _pdf(made, slots))
    else:
        write_slots(
            slots, {name: (CHARTS[name].caption, chart(made, name)) for name in CHARTS}, path
        )


def write_slots(slots: dict[str, Any], charts: Mapping[str, tuple[str, Chart]], path: Path) -> None:
    """Write a report as HTML, LaTeX or Markdown: its content, and charts with their captions."""
    slots["latex"] = _latex(slots, path.stem)
    slots["figures"] = figures = []
    for name, (caption, drawn) in charts.items():
        where: str | Markup
        if path.suffix == ".html":
            where = Markup(inline_svg(drawn, name))  # its axes can be read off by a script
        else:
            ending = "pdf" if path.suffix == ".tex" else "png"
            file = path.with_name(f"{path.stem}-{name}.{ending}")
            write_bytes(file, drawn.png(120) if ending == "png" else drawn.vector("pdf"))
            where = file.name
        figures.append((name, caption, where))
    if path.suffix == ".tex":
        write_text(path, slots["latex"])
    else:
        write_text(path, filled(f"evaluation{path.suffix}", slots))


def _pdf(made: Evaluation, slots: dict[str, Any]) -> bytes:
    """Return the report as a PDF file with embedded fonts."""

    def write(page: Pages) -> None:
        page.heading(slots["title"], 15)
        for words in (*slots["situation"], slots["recommendation"], *slots["lines"]):
            page.paragraph(words)
        for words in slots["log"]:
            page.paragraph(words, 8)
        page.heading("Setting")
        page.pairs(slots["setting"])
        page.heading("Policies")
        page.paragraph(slots["note"], 9)
        page.table(slots["header"], slots["groups"])
        for words in (*slots["folded"], *slots["left_out"]):
            page.paragraph(words, 8)
        page.heading("Words")
        page.pairs(slots["words"])
        for plate in CHARTS.values():
            width, height = plate.size(made)
            page.chart(partial(plate.draw, made), plate.caption, min(height * INNER / width, 7.5))
        page.heading("Rules of the policies")
        page.pairs(slots["rules"])
        page.heading("Provenance")
        page.pairs(slots["provenance"])

    return pages(write)


def _latex(slots: dict[str, Any], label: str) -> str:
    """Return the table of policies in LaTeX, with the rules of the package booktabs.

    Words of the header stand below one another; a table that is wider than the text is scaled down.
    """
    header, groups = slots["header"], slots["groups"]
    lines = [
        f"% {' '.join(slots['title'].split())}; needs \\usepackage{{booktabs,graphicx}}",
        r"\begin{table}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{_tex(slots['title'])}. {_tex(slots['note'])}}}",
        rf"\label{{tab:{re.sub('[^a-zA-Z0-9-]', '-', label)}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"\toprule",
        " & ".join(rf"\shortstack[r]{{{_stacked(name)}}}" for name in header) + r" \\",
    ]
    for title, rows in groups:
        lines.append(r"\midrule")
        if (title, rows) != groups[-1]:  # the row of the bound says what it is
            lines.append(rf"\multicolumn{{{len(header)}}}{{l}}{{\emph{{{_tex(title)}}}}} \\")
        lines += [" & ".join(map(_tex, row)) + r" \\" for row in rows]
    lines += [r"\bottomrule", r"\end{tabular}}"]
    told = [*slots["situation"], slots["recommendation"], *slots["lines"], *slots["folded"]]
    lines += [r"\par\smallskip\begin{minipage}{\linewidth}\footnotesize"]
    lines += [_tex(" ".join(told)), r"\end{minipage}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _stacked(words: str) -> str:
    return r"\\".join(map(_tex, words.split()))


SPECIAL = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "[": "{[}",  # after the end of a row, a bracket or a star would be an option
    "*": "{*}",
    "–": "--",
    "—": "---",
    **{letter: letter for letter in "‘’“”…ßæÆøØ×"},
}

ACCENTS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327"
"""Combining marks that every font of LaTeX has on the letters below U+0180."""


def _tex(words: str) -> str:
    """Return text with what LaTeX would obey or lacks made plain, on one line.

    A letter that pdfLaTeX's own fonts do not have is shown by its number, as in U+03A9.

    >>> print(_tex("50% of café Ω -- [1]"))
    50\\% of café U+03A9 -{}- {[}1]
    """
    apart = re.sub("([-,'`!?])(?=[-,'`])", "\\1\0", " ".join(words.split()))
    return "".join(map(_tex_letter, apart))


def _tex_letter(letter: str) -> str:
    if letter == "\0":  # between letters that would be drawn as one, as -- is
        return "{}"
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if letter in SPECIAL or (letter.isascii() and letter.isprintable()):
        return SPECIAL.get(letter, letter)
    accented = letter < "\u0180" and base.isascii() and all(mark in ACCENTS for mark in marks)
    return letter if accented and marks else f"U+{ord(letter):04X}"


def _slots(
    made: Evaluation,
    lines: Sequence[str],
    provenance: Sequence[tuple[str, str]],
    log: Sequence[str],
) -> dict[str, Any]:
    instance = made.instance
    table = cells(made)
    recommendation, *advice = made.advice
    unit = "rounds" if made.clock is None else "seconds"
    return {
        "title": f"Schedulers on {instance.headline}",
        "situation": made.situation,
        "log": list(log),
        "recommendation": recommendation,
        "lines": [*advice, *lines],
        "setting": setting(made),
        "rules": rules(made),
        "words": list(WORDS),
        "note": f"Times are {unit}. {NOTE[0].upper()}{NOTE[1:]}.",
        "header": table.names,
        "narrow": [name in NARROW or k < 2 for k, name in enumerate(table.names)],
        "groups": table.groups,
        "folded": table.folded,
        "left_out": [f"{line[0].upper()}{line[1:]}." for line in by_reason(made.skipped)],
        "in_use": f"({IN_USE})",
        "provenance": [*provenance, *made_from(instance, instance.digest)],
    }


def made_from(instance: Instance, digest: str) -> list[tuple[str, str]]:
    """Return the source of the requests, and the versions that make a report."""
    return [
        ("instance", f"{instance.name}, digest {digest}"),
        ("source", instance.source or "not stated"),
        ("ratiolab", made_by()),
        ("Python", platform.python_version()),
        ("libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)),
    ]


def batch_time(clock: BatchTime | None) -> str:
    """Return how long a batch takes, in words.

    >>> batch_time(BatchTime(fixed=0.02, prefill=0.0001, kv=1e-8))
    '20 ms, and 100 µs for each token prefilled, 10 ns for each token of cache read'
    """
    if clock is None:
        return "every batch takes one round"
    parts = {
        "token prefilled": clock.prefill,
        "request decoding": clock.decode,
        "token of cache read": clock.kv,
        "token moved to the host or back": clock.swap,
    }
    found = [f"{_time(seconds)} for each {what}" for what, seconds in parts.items() if seconds]
    return f"{_time(clock.fixed)}{', and ' if found else ''}{', '.join(found)}"


def _time(seconds: float) -> str:
    """Return a short time in the unit that needs the fewest digits."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


WORDS = (
    ("latency", "from the arrival of a request to its last token"),
    ("TTFT", "time to first token: from the arrival to the first token"),
    ("TPOT", "time per output token: between two tokens, after the first"),
    ("P99", "the value that 99 of 100 requests do not exceed"),
    (
        "at most",
        "how many times the best possible schedule a policy takes, at most; the proven "
        "bound in the last row stands for that schedule, and the truth may be better",
    ),
    ("KV cache", "the memory of the server for the tokens of all requests that run"),
    ("eviction", "a running request has to give up its memory and continue later"),
)
"""Definitions of the terms of a report."""


def setting(made: Evaluation) -> list[tuple[str, str]]:
    """Return the requests, the memory, the clock and the semantics, each with its name."""
    instance = made.instance
    span = int(instance.arrival.max() - instance.arrival.min())
    tick = instance.tick_seconds
    timed = made.clock is not None and tick is not None
    over = f"{span * tick:,.1f} s" if timed and tick is not None else f"{span:,} rounds"
    requests = f"{len(instance):,}, " + (f"arriving over {over}" if span else "all at the start")
    tokens = {"prompts": instance.prompt, "outputs": instance.output}
    seeds = max((len(row.services) for row in made.rows), default=1)
    return [
        ("requests", requests),
        *(
            (name, f"{values.mean():,.1f} tokens on average, {values.max():,} at most")
            for name, values in tokens.items()
        ),
        *_intervals(instance),
        ("KV cache", f"{instance.memory:,} tokens"),
        ("time of a batch", batch_time(made.clock)),
        ("evictions", f"{made.preemption}: {EVICTIONS[made.preemption].rule}"),
        *[("seeds", f"{seeds} for each policy that uses randomness, one for the others")]
        * (seeds > 1),
    ]


def _intervals(instance: Instance) -> list[tuple[str, str]]:
    """Return the intervals of the outputs that policies know."""
    lower, upper = instance.lower, instance.upper
    if lower is None or upper is None:
        return [("told of outputs", "nothing beforehand")]
    equal = len(set(lower.tolist())) == len(set(upper.tolist())) == 1
    which = "one interval for every output" if equal else "each output has its own, all within"
    return [("told of outputs", f"{which}: {lower.min():,} to {upper.max():,} tokens")]


def rules(made: Evaluation) -> list[tuple[str, str]]:
    """Return the rule of each policy with its parameters, in the order of the table."""
    found = []
    for row in (*made.deployable, *made.knowing):
        if row.policy is not None:
            values = ", ".join(f"{name} {v}" for name, v in parameter_values(row.policy).items())
            words = rule(type(row.policy)).replace("``", "")
            found.append((row.name, f"{words} ({values})" if values else words))
    return found
