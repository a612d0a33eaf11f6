"""Labels of a layer in trees, by which of them have the same requests started."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.labelling import tree_kernels
from ratiolab.model.footprint import IntArray


class Layer(NamedTuple):
    """Labels of a layer in trees, as `ratiolab.hindsight.labelling.tree_kernels.plant` makes them.

    Parameters
    ----------
    roots : first node of each mask. tree : masks, values and tokens in the order of the trees, and
        the columns of the nodes.
    """

    roots: IntArray
    tree: tuple[NDArray[Any], ...]


def planted(mask: NDArray[np.uint64], value: IntArray, tokens: NDArray[np.uint64]) -> Layer:
    """Return labels in trees that are searched for the least value."""
    rows = np.argsort(mask, kind="stable")
    masks, begin = np.unique(mask[rows], return_index=True)
    edges = np.append(begin, len(rows)).astype(np.int64)
    value, tokens = value[rows], tokens[rows]
    order, *nodes, roots = tree_kernels.plant(edges, value, tokens)
    return Layer(roots, (masks, value[order], tokens[order], *nodes))
