"""Known layouts of request logs, one a file: the name ``LAYOUT`` of each module here."""

from collections.abc import Collection, Sequence
from importlib import import_module
from pkgutil import iter_modules

from ratiolab.workloads.layout import Layout

LAYOUTS: Sequence[Layout] = tuple(
    import_module(f"{__name__}.{module.name}").LAYOUT
    for module in sorted(iter_modules(__path__), key=lambda module: module.name)
)
"""Known layouts, by the names of their files."""


def known_layout(header: Collection[str]) -> Layout | None:
    """Return the known layout that fits these columns and needs the most of them, if any does."""
    fitting = [layout for layout in LAYOUTS if layout.fits(header)]
    return max(fitting, key=lambda layout: layout.width, default=None)
