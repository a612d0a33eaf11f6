"""The checker of tables: what weighs how much, and that no configuration exceeds the cap.

Why one test for each item decides what fits, `ratiolab.hindsight.relaxation.configurations` proves.
"""

from collections.abc import Sequence

import numpy as np

from ratiolab.hindsight.certificates import effort
from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.certificates.effort import CertificateError
from ratiolab.model.footprint import IntArray


def table_weights(number: int, table: Table, memory: int, most: int | None = None) -> IntArray:
    """Return the weight of every (m, r), shape (M + 1, M + 1).

    Parameters
    ----------
    most : items of a configuration at most; by default as many as fit.

    Raises
    ------
    CertificateError
        when something is no item, or a configuration exceeds the cap.
    """
    if table.cap < 0:
        raise CertificateError(f"table {number}: cap {table.cap} is negative")
    for m, r, weight in table.items:
        if m < 1 or r < 0 or m + r > memory or weight < 0:
            raise CertificateError(f"table {number}: {(m, r, weight)} is no item with a weight")
        if weight * memory > effort.LARGEST_SUM:
            raise CertificateError(f"table {number}: weight {weight} is too large")
    found = heaviest(table.items, memory, most)
    if found > table.cap:
        raise CertificateError(
            f"table {number}: a configuration weighs {found}, the cap is {table.cap}"
        )
    weights = np.zeros((memory + 1, memory + 1), np.int64)
    for m, r, weight in table.items:
        weights[m, r] = max(weights[m, r], weight)
    for axis in (0, 1):
        np.maximum.accumulate(weights, axis, out=weights)
    return weights


def heaviest(items: Sequence[tuple[int, int, int]], memory: int, most: int | None = None) -> int:
    """Return the largest weight of a configuration.

    ``rest[c, S]`` is the most that can still follow c items that hold S tokens now, using the
    items seen so far; these come in rising r, the last of a configuration first. More items come
    first, so that an item may follow itself.
    """
    least = min((m for m, _, _ in items), default=1)
    most = memory // least if most is None else min(most, memory // least)
    rest = np.zeros((most + 1, memory + 1), np.int64)
    for m, r, weight in sorted(items, key=lambda item: item[1]):
        for c in range(min(most - 1, (memory - m - r) // (least + r)), -1, -1):
            begin, end = c * least, memory - m - (c + 1) * r + 1
            here = rest[c, begin:end]
            np.maximum(here, weight + rest[c + 1, begin + m : end + m], out=here)
    return int(rest[0, 0])
