"""Bounds that prices of memory rows and growth rows prove, in plain Python integers.

The bound and its proof stand in `ratiolab.hindsight.certificates.duals`. Costs of starts
are computed here from their first differences, which are sums of prices: with A_t the price of a
token in all, u_t + sum_k m0_k y_{k,t}, with q_k the ages at which row k counts fewer than m0_k
tokens or just as many, and C = p + o,

    c(p + 1) - c(p) = 1 + (s + o) A_{C+1} - s A_{p+1} - sum of A over p+1..C
        + sum_k w_k [(s + q_k) y_{p+q_k+1} - s y_{p+1} - sum of y over p+1..p+q_k
                     + m0_k (y_{C+1} - y_{p+q_k+1})]
        - M sum_k [w_k y_{C+1} - sum of y over C-w_k+1..C],

y standing for y_k. The ages g = 1..o of a request cost, summed by parts, with L(t) the sum of A
over times up to t and K(t) that of L over times before t,

    sum of A_{p+g} (s + g) = (s + o) L(p + o) - s L(p) - K(p + o) + K(p).

As long as p + 1, C + 1, p + q_k + 1 and C - w_k + 1 stay in their runs, these
differences grow by the same amount from start to start: the least cost stands at an end of such a
piece, or, where they grow, at the first start at which they are not negative.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise

from ratiolab.hindsight.certificates.duals import GrowthDuals
from ratiolab.hindsight.certificates.effort import Effort, TooCostlyError, piece_steps
from ratiolab.model.footprint import volume
from ratiolab.model.instance import Instance

MOST_TIMES = 2**22
"""Most times with prices; sums are kept for each."""

GUESSES = 20
"""Starts at which the cost of a request is first computed, about as long as this many pieces."""

BLOCK = 16
"""Runs whose starts are left out together."""

MOST_ROWS = 16
"""Most growth rows."""


def scaled_growth_value(prices: GrowthDuals, instance: Instance, room: int | None = None) -> int:
    """Return the lower bound that prices prove, times their denominator.

    The cost is O(T + n w), with T times that have prices and w runs that a request may wait.

    Parameters
    ----------
    room : tokens of all replicas; by default those of the instance, the largest one.

    Raises
    ------
    ValueError
        as `checked_costs`.

    >>> two = Instance("two", 2, [0, 0], [1, 1], [1, 1])
    >>> scaled_growth_value(GrowthDuals(2, 0, (1,), (1,), (), ()), two)  # 1/2 a token at time 1
    6
    """
    return checked_costs(prices, instance, room).value()


def checked_costs(prices: GrowthDuals, instance: Instance, room: int | None = None) -> "Costs":
    """Return the costs of starts under these prices.

    Parameters
    ----------
    room : as for `scaled_growth_value`.

    Raises
    ------
    ValueError
        when a price is negative, runs do not ascend, a row counts less than one token or round, or
        the check would take too long.
    """
    if prices.denominator < 1:
        raise ValueError(f"denominator {prices.denominator} must be at least 1")
    if len(prices.rows) > MOST_ROWS:
        raise ValueError(f"{len(prices.rows)} growth rows are more than {MOST_ROWS}")
    if len(prices.rows) != len(prices.growth):
        raise ValueError(f"{len(prices.rows)} growth rows, but duals of {len(prices.growth)}")
    for number, (tokens, rounds) in enumerate(prices.rows):
        if tokens < 1 or rounds < 1:
            raise ValueError(f"growth row {number}: {tokens} tokens, {rounds} rounds are below 1")
    edges = [prices.begin, *prices.ends]
    for run, (before, end) in enumerate(pairwise(edges)):
        if end <= before:
            raise ValueError(f"run {run} ends at {end}, not after {before}")
    times = edges[-1] - edges[0]
    if times > MOST_TIMES:
        raise TooCostlyError(f"duals reach over {times} times, more than {MOST_TIMES}")
    for row in (prices.token, *prices.growth):
        if len(row) != len(prices.ends):
            raise ValueError(f"{len(row)} duals, but {len(prices.ends)} runs")
        for run, dual in enumerate(row):
            if dual < 0:
                raise ValueError(f"dual {dual} of run {run} is negative")
    return Costs(prices, edges, instance, instance.memory if room is None else room)


class _Family:
    """Prices of one kind, their sums over times, and sums of these sums."""

    def __init__(self, edges: list[int], price: list[int]) -> None:
        self.edges, self.begin = edges, edges[0]
        self.price = [0, *price, 0]  # before the runs, in each, after them
        steps = (
            price
            for (before, end), price in zip(pairwise(edges), price, strict=True)
            for _ in range(end - before)
        )
        self.level = [0, *accumulate(steps)]
        self.area = [0, *accumulate(self.level)]  # sum of the level before a time

    def upto(self, time: int) -> int:
        """Return the sum of prices up to a time."""
        past = time - self.begin
        return self.level[min(past, len(self.level) - 1)] if past > 0 else 0

    def below(self, time: int) -> int:
        """Return the sum, over all times before this one, of the sums of prices up to them."""
        past, last = time - self.begin, len(self.level) - 1
        if past > last:
            return self.area[last] + (past - last) * self.level[last]
        return self.area[past] if past > 0 else 0

    def tokens(self, start: int, held: int, rounds: int) -> int:
        """Return the cost of held + 1, held + 2, ... tokens over ``rounds`` after a start."""
        stop = start + rounds
        level = (held + rounds) * self.upto(stop) - held * self.upto(start)
        return level - self.below(stop) + self.below(start)


class Costs:
    """Costs of starts, and their least."""

    def __init__(
        self, prices: GrowthDuals, edges: list[int], instance: Instance, room: int
    ) -> None:
        self.prices, self.passed = prices, 0  # blocks of runs that were looked at
        self.room = room
        self.unit, self.rows, self.edges = prices.denominator, prices.rows, edges
        self.instance, self.memory = instance, instance.memory
        self.growth = [_Family(edges, list(row)) for row in prices.growth]
        token = list(prices.token)
        for (tokens, _), row in zip(prices.rows, prices.growth, strict=True):
            token = [whole + tokens * price for whole, price in zip(token, row, strict=True)]
        self.token = _Family(edges, token)
        self.floors = [
            min(self.token.price[run : run + BLOCK])
            for run in range(0, len(self.token.price), BLOCK)
        ]
        self.slack = self.memory * sum(
            rounds * (rounds + 1) // 2 * max(row, default=0)
            for (_, rounds), row in zip(prices.rows, prices.growth, strict=True)
        )

    def value(self) -> int:
        """Return the bound times the denominator."""
        requests, each = list(self.instance.requests), piece_steps(self.prices)
        Effort(0, len(requests) * GUESSES * each).require_affordable()
        known = [self.first_guess(*request) for request in requests]
        pieces = 0
        for request, best in zip(requests, known, strict=True):
            pieces += self.pieces(*request, best)
            Effort(0, pieces * each + self.passed).require_affordable()
        total = sum(
            self.least(*request, best) for request, best in zip(requests, known, strict=True)
        )
        return total - self.room * self.token.level[-1]

    def cost(self, start: int, arrival: int, prompt: int, output: int) -> int:
        """Return the cost of a start."""
        done = start + output
        cost = self.unit * (done - arrival) + self.token.tokens(start, prompt, output)
        for (tokens, rounds), row in zip(self.rows, self.growth, strict=True):
            grows = min(max(tokens - prompt, 0), output)
            held = row.tokens(start, prompt, grows)
            held += tokens * (row.upto(done) - row.upto(start + grows))
            credit = rounds * row.upto(done) - row.below(done) + row.below(done - rounds)
            cost += rounds * held - self.memory * credit
        return cost

    def first_guess(self, arrival: int, prompt: int, output: int) -> int:
        """Return the least cost over a few starts."""
        request = arrival, prompt, output
        best, wait = self.cost(arrival, *request), 1
        while arrival + wait < self.edges[-1] and self.unit * (wait + output) - self.slack < best:
            best = min(best, self.cost(arrival + wait, *request))
            wait += 1 + wait // 4
        return best

    def pieces(self, arrival: int, prompt: int, output: int, best: int) -> int:
        """Return how many pieces there are, at most, where a start may cost less than the best."""
        offsets, count = self.offsets(prompt, output), 0
        for first, last in self.ranges(arrival, prompt, output, [best]):
            count += 1
            for offset in offsets:
                count += bisect_right(self.edges, last + offset)
                count -= bisect_right(self.edges, first + offset)
        return count

    def ranges(
        self, arrival: int, prompt: int, output: int, best: list[int]
    ) -> Iterator[tuple[int, int]]:
        """Yield ranges of starts, one a block of runs, where one may cost less than the best.

        All its tokens cost a request at least what the cheapest run costs that a start of the block
        reaches, and credits take off at most the slack.
        """
        edges, start, tokens = self.edges, arrival, volume(prompt, output)
        while start < edges[-1]:
            latency = self.unit * (start + output - arrival) - self.slack
            if latency >= best[0]:
                return
            self.passed += 1
            block = bisect_right(edges, start) // BLOCK
            end = edges[min(block * BLOCK + BLOCK, len(edges)) - 1]
            reached = bisect_right(edges, end + output) // BLOCK
            if latency + min(self.floors[block : reached + 1]) * tokens < best[0]:
                yield start, end
            start = end

    def offsets(self, prompt: int, output: int) -> list[int]:
        """Return from where prices change the differences, counted from the start."""
        found = [0, output]
        for tokens, rounds in self.rows:
            found += [min(max(tokens - prompt, 0), output), output - rounds]
        return found

    def least(self, arrival: int, prompt: int, output: int, best: int) -> int:
        """Return the least cost over all starts from the arrival on; ``best`` is one of them."""
        ends = arrival, max(arrival, self.edges[-1])  # with no dual any more at the second
        known = [min(best, *(self.cost(start, arrival, prompt, output) for start in ends))]
        offsets = self.offsets(prompt, output)
        for first, last in self.ranges(arrival, prompt, output, known):
            cost = self.least_within(first, last, arrival, prompt, output, offsets)
            known[0] = min(known[0], cost)
        return known[0]

    def least_within(
        self, start: int, stop: int, arrival: int, prompt: int, output: int, offsets: list[int]
    ) -> int:
        """Return the least cost over the starts of a range, its end included."""
        edges, token, unit = self.edges, self.token, self.unit
        runs = [bisect_right(edges, start + offset) for offset in offsets]
        best = cost = self.cost(start, arrival, prompt, output)
        while start < stop:
            end = stop
            for run, offset in zip(runs, offsets, strict=True):
                if run < len(edges):
                    end = min(end, edges[run] - offset)
            done = start + output
            head, tail = token.price[runs[0]], token.price[runs[1]]
            step = unit + (prompt + output) * tail - prompt * head
            step += token.upto(start) - token.upto(done)
            rise = head - tail
            for k, (tokens, rounds) in enumerate(self.rows):
                row, grows = self.growth[k], offsets[2 + 2 * k]
                first, last = row.price[runs[0]], row.price[runs[1]]
                turn, early = row.price[runs[2 + 2 * k]], row.price[runs[3 + 2 * k]]
                grown = (prompt + grows) * turn - prompt * first + tokens * (last - turn)
                grown += row.upto(start) - row.upto(start + grows)
                credit = rounds * last + row.upto(done - rounds) - row.upto(done)
                step += rounds * grown - self.memory * credit
                rise += rounds * (first - turn) + self.memory * (last - early)
            length = end - start
            if rise > 0 and step < 0:
                turn = min(length, -(step // rise))
                best = min(best, cost + turn * step + turn * (turn - 1) // 2 * rise)
            cost += length * step + length * (length - 1) // 2 * rise
            best = min(best, cost)
            start = end
            for place, offset in enumerate(offsets):
                if runs[place] < len(edges) and edges[runs[place]] == start + offset:
                    runs[place] += 1
        return best
