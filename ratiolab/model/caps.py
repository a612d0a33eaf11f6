"""The best list of caps for requests that run to a cap, are killed, and run again: a shortest path.

The fluid theory uses this list. Policies that learn a distribution find the same list in loops, as
their code is also compiled (`ratiolab.online.pacing.cap_plan`).
"""

from typing import Any

import numpy as np


def cap_costs(above: Any, filled: Any, again: Any) -> Any:
    """Return the cost from each node on when the next cap is each later one, and the best follow.

    Nodes are what requests may be known to exceed, in order, the first nothing and the last the
    end. When all requests that outlive node j run in random order to node k, their work is that
    beyond j and what they lost of it, and the share that waits falls from above[j] to above[k]: it
    costs (again[j] + filled[k] - filled[j]) (above[j] + above[k]). O(nodes^2).

    Parameters
    ----------
    above : share of requests that outlive each node, shape (nodes,).
    filled : mean work of runs from nothing to each node.
    again : mean work that is done again when requests that outlive a node start anew; 0 where they
        keep their tokens.

    Returns
    -------
    An array of shape (nodes, nodes): row j, column k > j; infinite elsewhere. The least entry of a
    row is the next cap of the best list, that of row 0 the cost of all.

    >>> costs = cap_costs([1.0, 0.1, 0.0], [0.0, 1.0, 10.9], [0.0, 0.1, 0.0])
    >>> costs.argmin(axis=1)[:2].tolist(), round(float(costs[0].min()), 6)
    ([1, 2], 2.1)
    """
    above, filled, again = (np.asarray(part, dtype=np.float64) for part in (above, filled, again))
    last = len(above) - 1
    through, least = np.full((last + 1, last + 1), np.inf), np.zeros(last + 1)
    for j in range(last - 1, -1, -1):
        work = again[j] + filled[j + 1 :] - filled[j]
        through[j, j + 1 :] = work * (above[j] + above[j + 1 :]) + least[j + 1 :]
        least[j] = through[j].min()
    return through
