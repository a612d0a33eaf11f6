"""States of a layer in trees, by which of them have the same requests started."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.paths import join_kernels
from ratiolab.model.footprint import IntArray


class Layer(NamedTuple):
    """States of a layer in trees, as `ratiolab.hindsight.paths.join_kernels.plant` makes them.

    Parameters
    ----------
    roots : first node of each mask. tree : masks, values and tokens in the order of the trees, and
        the columns of the nodes.
    """

    roots: IntArray
    tree: tuple[NDArray[Any], ...]


def planted(mask: NDArray[np.uint64], value: IntArray, tokens: NDArray[np.uint64]) -> Layer:
    """Return states in trees that are searched for the least value."""
    rows = np.argsort(mask, kind="stable")
    masks, begin = np.unique(mask[rows], return_index=True)
    edges = np.append(begin, len(rows)).astype(np.int64)
    value, tokens = value[rows], tokens[rows]
    order, *nodes, roots = join_kernels.plant(edges, value, tokens)
    return Layer(roots, (masks, value[order], tokens[order], *nodes))
