"""Cells of the papers' quick studies, which several tests read and one of them computes."""

import os
from pathlib import Path

import pytest

from ratiolab.studies.store import Store


def quick_store(folder: Path, factory: pytest.TempPathFactory, name: str) -> Store:
    """Return a store of its own in a folder, whose cells all tests of this run share."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    cells = base / "quick-cells" / name
    cells.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cells").symlink_to(cells, target_is_directory=True)
    return Store(folder)
