"""Which table of a file holds the requests, and in which layout."""

from collections.abc import Sequence
from dataclasses import replace

from ratiolab.workloads.guess import guessed
from ratiolab.workloads.layout import Layout, given_layout, listed
from ratiolab.workloads.layouts import LAYOUTS, known_layout
from ratiolab.workloads.tables import Table

HERE = "(rows)"
"""Column with the name of the list that a row is from, where several are read together."""

LISTED = 5
"""Places or layouts that a message names."""


def chosen_table(
    tables: Sequence[Table], columns: str | None, rows: str | None
) -> tuple[Table, Layout]:
    """Return the table of the requests, and its layout.

    `columns` are as the user names them, or None for a known layout. `rows` is the place of the
    table; None looks for it. Raise ValueError when no table has the columns, or several that are
    different things; it names options that read one.
    """
    if rows is not None:
        inside = [t for t in tables if f"{t.place}.".startswith(f"{rows}.")]
        if not inside:
            places = ", ".join(t.place or "the whole" for t in tables[:LISTED])
            raise ValueError(f"rows {rows!r}: there is no table, only {places}")
        tables = inside
    fitting: list[tuple[Table, Layout]] = []
    problem: ValueError | None = None
    for table in tables:
        header = {*table.columns, HERE}
        try:
            layout = given_layout(columns, table.columns) if columns else known_layout(header)
        except ValueError as error:
            problem = problem or error
            continue
        if layout is not None and not _holds_lists(table, layout):
            fitting.append((table, layout))
    if not fitting:
        if problem is not None:
            raise problem
        raise ValueError(_unknown(max(tables, key=len)))
    widest = max(layout.width for _, layout in fitting)
    fitting = [(table, layout) for table, layout in fitting if layout.width == widest]
    if len(fitting) == 1:
        table, layout = fitting[0]
        here = table.place.rpartition(".")[2]
        return table.with_columns({HERE: [here] * len(table)}) if here else table, layout
    return _together([table for table, _ in fitting]), fitting[0][1]


def _holds_lists(table: Table, layout: Layout) -> bool:
    """Return whether the tokens of a row are a list: then the row is a run, not a request."""
    names = layout.within(table.columns)
    firsts = [next(iter(table.columns[names[role]]), None) for role in ("prompt", "output")]
    return any(isinstance(value, list) for value in firsts)


def _together(tables: Sequence[Table]) -> Table:
    """Return lists that stand beside one another under names of their own as one table."""
    parents = {table.place.rpartition(".")[0] for table in tables}
    names = [table.place.rpartition(".")[2] for table in tables]
    if len(parents) > 1 or any(name.isdigit() for name in names):
        places = ", ".join(table.place for table in tables[:LISTED])
        more = f" and {len(tables) - LISTED} more" if len(tables) > LISTED else ""
        outer, _, own = tables[0].place.rpartition(".")
        one = tables[0].place if own.isdigit() or not outer else outer
        raise ValueError(
            f"holds {len(tables)} tables of requests ({places}{more}): name one, as in --rows {one}"
        )
    every = dict.fromkeys(name for table in tables for name in table.columns)
    columns = {
        name: [v for t in tables for v in t.columns.get(name, [None] * len(t))] for name in every
    }
    here = [name for name, table in zip(names, tables, strict=True) for _ in range(len(table))]
    told = " and ".join(f"{name} ({len(table)})" for name, table in zip(names, tables, strict=True))
    notes = (*tables[0].notes, f"the rows of {told} are read together; --rows reads one of them")
    whole = replace(tables[0], columns={**columns, HERE: here}, lines=None, place=parents.pop())
    return replace(whole, notes=notes)


def _unknown(table: Table) -> str:
    guess = guessed(table)
    how = f"perhaps {guess}" if guess else "as in --columns arrival=ts,prompt=n_in,output=n_out"
    place = f" (of the rows at {table.place})" if table.place else ""
    known = ", ".join(each.name for each in LAYOUTS)
    return (
        f"no known layout has its columns{place}, which are {listed(table.columns)}; name them, "
        f"{how} (known layouts: {known})"
    )
