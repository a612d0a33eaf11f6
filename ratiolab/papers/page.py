"""Pages of experiments: a template in Markdown, what fills its slots, findings and charts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ratiolab.papers.finding import Finding, findings_table

if TYPE_CHECKING:
    from ratiolab.report.plots.canvas import Chart


@dataclass(frozen=True, eq=False)
class Page:
    """Contents of a page.

    Parameters
    ----------
    slots : values by the names that the template has for them.
    findings : each statement of the paper beside what was found; the slot ``findings``.
    charts : by the last part of their files' names, functions that draw them.
    """

    slots: Mapping[str, Any] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    charts: Mapping[str, "Callable[[], Chart]"] = field(default_factory=dict)

    def text(self, template: Path, **slots: Any) -> str:
        """Return the template filled with what the page holds, and with some more slots.

        Raises
        ------
        jinja2.UndefinedError
            when the template names a slot that there is nothing for.
        """
        page = environment(template.parent).get_template(template.name)
        return page.render({**slots, **self.slots}, findings=findings_table(self.findings)).strip()


def environment(folder: Path) -> Environment:
    """Return how templates of a folder are read: strict on names, with formats for numbers."""
    templates = Environment(  # Markdown: nothing is escaped
        loader=FileSystemLoader(folder), undefined=StrictUndefined, autoescape=False
    )
    templates.filters.update(
        fixed=lambda value, digits=2: f"{value:.{digits}f}",
        significant=lambda value, digits=6: f"{value:.{digits}g}",
        percent=lambda value, digits=0: f"{value:.{digits}%}",
        thousands=lambda value: f"{value:,.0f}",
    )
    return templates
