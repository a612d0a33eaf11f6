"""Display of instances, schedules and results: data, a table, HTML and a picture."""

from abc import ABC, abstractmethod
from dataclasses import fields
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PLOTS = "ratiolab.report.plots.results"
"""Module whose function ``plot`` draws a result.

It belongs to a higher layer and is imported by name when a picture is drawn: no result depends on
how it is drawn.
"""


class Rebuilt:
    """A dataclass whose copies and pickles go through its constructor.

    Copies of read-only arrays are writeable: a constructor checks them and makes them read-only.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        values = {one.name: getattr(self, one.name) for one in fields(cast(Any, self))}
        return _build, (type(self), values)


def _build(kind: Any, values: dict[str, Any]) -> Any:
    return kind(**values)


class Tabular(ABC):
    """An object with a headline and a table, which notebooks show as HTML."""

    @property
    @abstractmethod
    def headline(self) -> str:
        """One line that says what the object is."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; commands print it with ``--json``."""

    @abstractmethod
    def to_frame(self) -> "pd.DataFrame":
        """Return the table as a data frame."""

    def _repr_html_(self) -> str:
        table = self.to_frame().to_html(
            index=False, border=0, na_rep="", max_rows=30, float_format="{:,.4g}".format
        )
        return f"<p>{escape(self.headline)}</p>\n{table}"


class Result(Tabular):
    """A result that can also be drawn.

    A result equals itself alone. Compare what `to_dict` returns to compare two of them.
    """

    def plot(self) -> "Figure":
        """Return a picture of the schedules as a matplotlib figure."""
        figure: Figure = import_module(PLOTS).plot(self)
        return figure
