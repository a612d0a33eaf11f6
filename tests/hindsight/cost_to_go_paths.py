"""Ways through windows and their costs by definition, for tiny instances."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

from ratiolab.hindsight.certificates.duals import Duals
from ratiolab.hindsight.relaxation.lagrangian import capacity_costs, item_costs
from ratiolab.model import Instance

Pair = tuple[int, int]


class Ways:
    """Costs of windows: every way is tried, and nothing is left out.

    `ratiolab.hindsight.certificates.certify_cost_to_go` defines ways.
    """

    def __init__(self, instance: Instance, duals: Duals) -> None:
        self.requests, self.memory = list(instance.requests), instance.memory
        self.denominator, self.horizon = duals.denominator, len(duals.memory)
        self.last = int(instance.arrival.max())
        dense = [table.dense(instance.memory) for table in duals.tables]
        self.priced = item_costs(instance.memory, duals, dense)
        self.paid = capacity_costs(instance.memory, duals)
        self.end = max(self.horizon, self.last)
        self.cheapest = [
            min(self.cost(i, p) for p in range(arrival, self.end + 1))
            for i, (arrival, _, _) in enumerate(self.requests)
        ]
        self.value = sum(self.cheapest) - sum(self.paid)
        self.rest = cache(self._rest)

    def cost(self, i: int, start: int) -> int:
        arrival, _, output = self.requests[i]
        own = self.denominator * (start + output - arrival)
        return own + sum(self.price((i, age), start + age) for age in range(1, output + 1))

    def price(self, pair: Pair, time: int) -> int:
        (_, prompt, output), age = self.requests[pair[0]], pair[1]
        return int(self.priced[time, prompt + age, output - age]) if time <= self.horizon else 0

    def excess(self, i: int, start: int) -> int:
        return self.cost(i, start) - self.cheapest[i]

    def fits(self, pairs: tuple[Pair, ...]) -> bool:
        """Whether pairs of these ages now can all run until they complete."""
        tokens: Counter[int] = Counter()
        for i, age in pairs:
            _, prompt, output = self.requests[i]
            for later in range(1, output - age + 1):
                tokens[later] += prompt + age + later
        return max(tokens.values(), default=0) <= self.memory

    def left(self, pairs: tuple[Pair, ...], time: int) -> int:
        """What the rows of a time leave when pairs of these ages hold memory then."""
        paid = self.paid[time] if time <= self.horizon else 0
        return paid - sum(self.price(pair, time) for pair in pairs)

    def subsets(self, pairs: list[Pair]) -> Iterator[tuple[Pair, ...]]:
        """Those that fit together."""
        if not pairs:
            yield ()
            return
        for some in self.subsets(pairs[:-1]):
            yield some
            if self.fits((*some, pairs[-1])):
                yield (*some, pairs[-1])

    def _rest(self, running: tuple[Pair, ...], t: int) -> int:
        """The least cost from round t on, of starts and of what rows leave."""
        if t >= self.end:  # when duals have ended and all have arrived
            return 0  # of starting nothing more; no cost is negative
        arrived = [(i, 0) for i, (arrival, _, _) in enumerate(self.requests) if arrival <= t]
        costs = []
        for starts in self.subsets(arrived):
            held = (*running, *starts)
            if not held and t >= self.last:
                costs.append(sum(self.paid[t + 1 :]))
            elif self.fits(held):
                aged = tuple((i, age + 1) for i, age in held)
                after = tuple(sorted(pair for pair in aged if pair[1] < self.requests[pair[0]][2]))
                starting = sum(self.excess(i, t) for i, _ in starts)
                costs.append(starting + self.left(aged, t + 1) + self.rest(after, t + 1))
        return min(costs)

    def least(self, begin: int) -> int:
        """The cost of the cheapest way through the window from this time on."""
        pairs = [
            (i, age)
            for i, (arrival, _, output) in enumerate(self.requests)
            for age in range(1, min(output, begin - arrival + 1))
        ]
        return min(
            sum(self.excess(i, begin - age) for i, age in entry) + self.rest(entry, begin)
            for entry in self.subsets(pairs)
        )

    def of_schedule(self, starts: tuple[int, ...], begin: int) -> int:
        """What a schedule pays for requests that run after a time, and for the times after it."""
        total = 0
        for i, start in enumerate(starts):
            if start + self.requests[i][2] > begin:
                total += self.excess(i, start)
        for time in range(begin + 1, self.horizon + 1):
            held = [
                (i, time - start)
                for i, start in enumerate(starts)
                if start < time <= start + self.requests[i][2]
            ]
            total += self.left(tuple(held), time)
        return total
