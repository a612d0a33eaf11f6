"""Reports of an evaluation: one HTML page that works without a network, or Markdown for papers."""

import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratiolab.model.io import write_bytes, write_text
from ratiolab.ratio.evaluation import Evaluation, Row
from ratiolab.report.evaluation_table import ratio_words, shown
from ratiolab.report.plots.evaluation import CHARTS, inline_svg
from ratiolab.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

FORMATS = (".html", ".md")
LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib")
NOTE = (
    "At most: over a certified bound on every schedule under the same clock and semantics of "
    "evictions. The best schedule is not below the bound, so no policy is farther from it."
)


def require_report_format(path: Path) -> None:
    """Raise ValueError unless the ending of a path names a format of reports."""
    if path.suffix not in FORMATS:
        raise ValueError(f"{path}: a report can be {' or '.join(FORMATS)}, not {path.suffix!r}")


def write_report(
    made: Evaluation,
    path: Path,
    *,
    lines: Sequence[str] = (),
    provenance: Sequence[tuple[str, str]] = (),
) -> None:
    """Write a report, in one step; the charts of a Markdown report stand beside it.

    Parameters
    ----------
    path : ends in .html or .md.
    lines : sentences below the recommendation.
    provenance : what is told of the source, before the versions.
    """
    require_report_format(path)
    charts = {name: (draw(made), caption) for name, (draw, caption) in CHARTS.items()}
    slots = _slots(made, lines, provenance)
    if path.suffix == ".html":
        from markupsafe import Markup

        slots["figures"] = [
            (name, caption, Markup(inline_svg(chart, name)))
            for name, (chart, caption) in charts.items()
        ]
        slots["latex"] = made.to_frame().to_latex(index=False, float_format="%.4g")
    else:
        slots["figures"] = []
        for name, (chart, caption) in charts.items():
            file = path.with_name(f"{path.stem}-{name}.png")
            write_bytes(file, chart.png(120))
            slots["figures"].append((name, caption, file.name))
    text = _environment().get_template(f"evaluation{path.suffix}").render(slots)
    write_text(path, text)


def _slots(
    made: Evaluation, lines: Sequence[str], provenance: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    others = [metric for metric in made.metrics if metric.key != made.metric.key]

    def cells(row: Row) -> list[str]:
        knows = "" if row.policy is None else row.policy.information.value
        value = shown(row.value(made.metric), made.metric)
        if (interval := row.interval(made.metric)) is not None:
            value += f" ({' to '.join(shown(end, made.metric) for end in interval)})"
        rest = [shown(row.value(metric), metric) for metric in others]
        evictions = "" if row.policy is None else f"{row.evictions:,.0f}"
        return [row.name, knows, value, ratio_words(made, row), *rest, evictions]

    bounds = [shown(made.bounds[metric.key], metric) for metric in (made.metric, *others)]
    groups = [
        ("Policies that can be deployed", [cells(row) for row in made.deployable]),
        ("Policies that know every output length", [cells(row) for row in made.knowing]),
        ("The log itself", [cells(made.observed)] if made.observed else []),
        ("Bound on any schedule", [["bound", "", bounds[0], "1", *bounds[1:], ""]]),
    ]
    reasons: dict[str, list[str]] = {}
    for key, why in made.skipped:
        reasons.setdefault(why, []).append(key)
    instance = made.instance
    titles = (metric.title for metric in others)
    return {
        "title": f"Schedulers on {instance.headline}",
        "recommendation": made.headline,
        "lines": list(lines),
        "note": f"{NOTE} Times are {'rounds' if made.clock is None else 'seconds'}, evictions "
        f"{made.preemption}.",
        "header": ["policy", "knows", made.metric.title, "at most", *titles, "evictions"],
        "groups": [(name, rows) for name, rows in groups if rows],
        "left_out": [f"Left out {', '.join(keys)}: {why}." for why, keys in reasons.items()],
        "provenance": [
            *provenance,
            ("instance", f"{instance.name}, digest {instance.digest}"),
            ("source", instance.source or "not stated"),
            ("ratiolab", __version__),
            ("Python", platform.python_version()),
            ("libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)),
        ],
    }


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("ratiolab.report"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
