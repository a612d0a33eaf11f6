"""Serving engines as they are, on public request traces."""

import pandas as pd

from ratiolab.papers.ours.experiments import _engines
from ratiolab.papers.page import Page


def page(frame: pd.DataFrame) -> Page:
    """Compute findings, tables and charts."""
    return _engines.page(frame, "engines-traces")
