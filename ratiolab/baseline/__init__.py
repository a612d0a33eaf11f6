"""Baselines: pinned values in a versioned file, recomputed after every change.

The file is JSON of format ``ratiolab-baseline/1``, a list of entries one a line. An entry names
what is computed (its kind and arguments) and the value that it had. Integers, fractions,
expressions and verdicts are compared exactly, floats within the entry's own ``tolerance``
(relative), which is part of what is pinned.

A ratio may be that of a policy of the user, ``path/to/file.py:ClassName``, with a path relative to
the baseline. To recompute it runs that file, so that it is refused unless the caller allows it.
"""

from ratiolab.baseline.entries import Drift, Entry
from ratiolab.baseline.file import (
    FORMAT,
    BaselineFile,
    Placed,
    Unreadable,
    entry_of,
    read_baseline,
    read_placed,
    write_baseline,
)
from ratiolab.baseline.judge import Judged, annotation, annotations, judge

__all__ = [
    "FORMAT",
    "BaselineFile",
    "Drift",
    "Entry",
    "Judged",
    "Placed",
    "Unreadable",
    "annotation",
    "annotations",
    "entry_of",
    "judge",
    "read_baseline",
    "read_placed",
    "write_baseline",
]
