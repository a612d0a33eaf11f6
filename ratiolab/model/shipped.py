"""Files that come with the project: instances, witnesses and records.

In a checkout they stand beside the package, in ``instances`` and ``results``. An installed package
has the files that commands need in its folder ``data``.
"""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def shipped(name: str) -> Path:
    """Return a folder of the project, ``instances`` or ``results``."""
    inside = PACKAGE / "data" / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def here_or_shipped(name: str) -> Path:
    """Return a folder of the working directory if it is there, or else that of the project."""
    return Path(name) if Path(name).is_dir() else shipped(name)
