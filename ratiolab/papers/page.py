"""Pages of experiments: a template in Markdown, what fills its slots, findings and charts."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratiolab.papers.finding import Finding, findings_table
from ratiolab.report.templating import environment

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart


@dataclass(frozen=True)
class Head:
    """The head of a template.

    Parameters
    ----------
    name : name of the experiment and of its files.
    title : one line at the head of the page and in the list of experiments.
    source : paper, section and figures.
    figures : columns of results that ``NAME.csv`` keeps; what tells its rows apart is kept anyway.
    """

    name: str
    title: str
    source: str
    figures: tuple[str, ...]


def read_template(path: Path) -> tuple[Head, str]:
    """Read a template: a head in TOML between two lines ``+++``, then Markdown with slots."""
    _, head, body = path.read_text(encoding="utf-8").split("+++\n", 2)
    fields = tomllib.loads(head)
    return Head(**fields | {"figures": tuple(fields["figures"])}), body


@dataclass(frozen=True, eq=False)
class Page:
    """Contents of a page.

    Parameters
    ----------
    slots : values by the names that the template has for them.
    findings : statements of the paper beside what was found; they fill the slot ``findings``.
    charts : functions that draw the charts, by the last part of the names of their files.
    """

    slots: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    charts: Mapping[str, "Callable[[], Chart]"] = field(default_factory=dict)

    def text(self, template: Path, *, judged: bool = True, **slots: Any) -> str:
        """Return the template filled with what the page holds, and with some more slots.

        A page that is not judged has no verdicts; templates ask ``judged`` for words that depend on
        figures. Raise jinja2.UndefinedError when the template names a slot that there is nothing
        for.
        """
        page = environment(template.parent).from_string(read_template(template)[1])
        table = findings_table(self.findings, judged=judged)
        return page.render({**slots, **self.slots}, findings=table, judged=judged).strip()
