"""Round robin in shortest-job-first order, on the model of RR-SJF's Figure 1.

One server makes one token per round; all requests wait at time 0; a request that has used
its slice goes to the end of the line. Write S for the total completion time of SJF and
L for the total length.

Every slice: RR-SJF costs at most 2 S - L. A later, longer request gets less than L_i
tokens before request i ends, an earlier, shorter one all of its own, so
C_i <= sum_j min(L_i, L_j), and these sum to 2 S - L. Equal lengths and slices of one
token come within n (n - 1) / 2 of it: the price over SJF then tends to 2, no "marginal
increase" of the end-to-end latency.

First tokens: RR-SJF is never later than SJF, for any request. But SJF does not minimise
their mean: slices of one token put them at 1, ..., n, the least possible.

Source of the rule: Gogineni et al., Round-Robin Shortest Job First Inference Scheduling
for LLMs, Figure 1 and Algorithm 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Service:
    """Rounds in which each request, in the caller's order, gets its first and last token."""

    ttft: tuple[int, ...]
    completion: tuple[int, ...]


def serve(lengths: Sequence[int], *, shortest_first: bool, quantum: int | None = None) -> Service:
    """Serve requests that all arrive at time 0.

    ``shortest_first`` orders the first line by length (ties by index), or by index. ``quantum`` is
    the number of tokens per slice; None runs each request to its end. The four rules of the paper
    are FCFS (False, None), SJF (True, None), RR (False, q) and RR-SJF (True, q).

    Cost: O(sum of lengths / quantum + n log n).

    >>> serve([4, 1, 3], shortest_first=True, quantum=2)
    Service(ttft=(4, 1, 2), completion=(8, 1, 6))
    """
    if any(length < 1 for length in lengths):
        raise ValueError(f"lengths {list(lengths)}: each must be at least 1")
    if quantum is not None and quantum < 1:
        raise ValueError(f"quantum {quantum}: must be at least 1")
    order = list(range(len(lengths)))
    line = deque(sorted(order, key=lambda i: lengths[i]) if shortest_first else order)
    left, now = list(lengths), 0
    first, completion = [0] * len(lengths), [0] * len(lengths)
    while line:
        i = line.popleft()
        first[i] = first[i] or now + 1
        work = left[i] if quantum is None else min(quantum, left[i])
        now += work
        left[i] -= work
        if left[i]:
            line.append(i)
        else:
            completion[i] = now
    return Service(tuple(first), tuple(completion))


def cost_bound(lengths: Sequence[int]) -> int:
    """Return 2 S - L = sum over all pairs of min(L_i, L_j): what RR-SJF never exceeds.

    >>> cost_bound([4, 1, 3])
    18
    """
    return sum(min(a, b) for a in lengths for b in lengths)
