"""Bounds of layered states that look ahead at what their running requests leave room for.

A state before round t, with the bound of `ratiolab.hindsight.layers.beam`, assumes that each
request not started takes its cheapest start from t on, and that at every later time the requests in
memory pay all of R. The running requests of the state make both too hopeful. Let ``limit`` be the
largest bound that is of interest; three steps raise the bound, or empty the state:

**Starts.** In every completion, request i starts at some p >= t at which it fits beside the
running requests alone until it completes. So the least of c_i(p) over those p replaces the least
over all p >= t. It suffices to test p at the completions of running requests and at its own, as
tokens only grow in between. Starts at which nothing runs any more are all allowed.

**Payments.** At t' > t the running requests that are not complete pay a known part of R_t'. The
others in memory then started at p in t..t'-1, each request once, and fit beside the running ones
at t' and later: let P be no less than the most that such a set pays. The rows of t' leave at least
R_t' minus the known part minus P, if that is positive. This adds to the bound, on top of the
starts: the bound splits latency into priced costs of starts and what the rows leave, and each part
is bounded over all completions by itself.

**Fixing.** A start whose c_i(p) exceeds the least of request i by more than limit - bound lies on
no completion of interest, and takes part in no set. The same holds at the root for all states.

P is found in two steps: a knapsack of tokens at t' alone, the same for all states of a layer, and a
search over sets in falling price that ends after `STEPS` steps: P then stays the knapsack's.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ratiolab.hindsight.layers import lookahead_kernels as kernels
from ratiolab.model.footprint import IntArray
from ratiolab.model.instance import Instance

STEPS = 20
"""Steps of the search over sets for one state and one time."""

FEW = 1_000
"""States of a layer below which looking ahead costs more than it saves."""

MOST_OPERATIONS = 10**7
"""Operations that the knapsacks of a layer may take."""

THREADS = 2
"""Parts of a layer that are looked at together."""


@dataclass(frozen=True, eq=False)
class Lookahead:
    """What looking ahead needs to know of an instance and its prices.

    Parameters
    ----------
    own, least : priced costs of starting at 0..end, and the least of starting then or later, both
        over the prices' denominator, shape (n, end + 1).
    priced : price of item (m, r) at times 0..T, shape (T + 1, M + 1, M + 1).
    paid : R of times 0..T.
    room : how far the bound of the root is below the limit.
    """

    instance: Instance
    own: IntArray = field(repr=False)
    least: IntArray = field(repr=False)
    priced: IntArray = field(repr=False)
    paid: IntArray = field(repr=False)
    room: int

    def __post_init__(self) -> None:
        instance, longest = self.instance, int(self.instance.output.max())
        prices = np.zeros((len(instance), longest + 1, len(self.paid)), np.int64)
        for i, (_, prompt, output) in enumerate(instance.requests):
            age = np.arange(1, output + 1)
            prices[i, age] = self.priced[:, prompt + age, output - age].T
        object.__setattr__(self, "item_price", prices)
        object.__setattr__(self, "alive", self.own - self.least[:, :1] <= self.room)
        columns = (instance.arrival, instance.prompt, instance.output)
        object.__setattr__(self, "requests", tuple(np.array(column) for column in columns))

    item_price: IntArray = field(init=False, repr=False)
    alive: NDArray[np.bool_] = field(init=False, repr=False)
    requests: tuple[IntArray, IntArray, IntArray] = field(init=False, repr=False)

    def left(
        self,
        started: NDArray[np.uint64],
        bound: IntArray,
        count: IntArray,
        job: NDArray[np.int16],
        age: NDArray[np.int16],
        t: int,
        limit: int,
    ) -> IntArray:
        """How far the raised bounds of these states before round t are below the limit.

        Negative for states that cannot lead to a schedule within the limit; for the others limit
        minus the result is a bound. Cost: O(n h + h p) a state, h the rounds until its running
        requests complete and p the items that may then be in memory.
        """
        arrival, prompt, output = self.requests
        last = min(t + int(output.max()), len(self.paid) - 1)
        span = last - t
        work = span * span * len(arrival) * self.instance.memory // 2
        room = limit - bound
        if span < 1 or len(bound) < FEW or work > MOST_OPERATIONS:
            return room
        offered = kernels.offers(
            t, last, self.item_price, prompt, output, arrival, self.alive, self.instance.memory
        )

        def look(part: slice) -> None:
            kernels.look(
                *(column[part] for column in (started, bound, count, job, age)),
                *(t, last, self.own, self.least, self.alive, self.item_price, self.paid),
                *(arrival, prompt, output, self.instance.memory, limit, STEPS),
                *offered,
                room[part],
            )

        edges = np.linspace(0, len(bound), THREADS + 1).astype(np.int64).tolist()
        parts = [slice(a, b) for a, b in pairwise(edges)]
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(look, parts))
        return room
