"""Lower bound on the optimum from prices of tokens, equal prompts, all requests at round 0.

Let L(t) >= 0 be the price of a token at time t. A request that starts in round p completes at p + o
and pays (s + j) L(p + j) at its ages j = 1, ..., o; no schedule pays more than M times the sum of
all prices. Hence OPT is at least the sum over the requests of the least of p + o + payment over p
>= 0, less M sum L(t). The prices here are those at which the volumes, served one after the other
and the smallest first with full memory, would be served when they are: the integral of 1/vol of the
request that is being served, from t - 1/2 to the end.
"""

from collections.abc import Sequence
from fractions import Fraction

from ratiolab.model.footprint import volume


def volume_prices(prompt: int, outputs: Sequence[int], memory: int) -> list[Fraction]:
    """Return the prices L(1), L(2), ... as far as they are above 0, exactly. O(n + V/M).

    >>> [str(price) for price in volume_prices(0, [1, 1], 1)]
    ['3/2', '1/2']
    """
    work = [volume(prompt, output) for output in sorted(outputs)]
    end, price, k = Fraction(sum(work), memory), Fraction(0), len(work)
    after = end  # of what is served from here on, the price is known
    prices = []
    for doubled in range(2 * _rounds(end) - 1, 0, -2):
        time = Fraction(doubled, 2)
        while k and (begin := after - Fraction(work[k - 1], memory)) > time:
            price += (after - begin) / work[k - 1]
            after, k = begin, k - 1
        prices.append(price + (after - time) / work[k - 1])
        # the rest of this request is served before
    return prices[::-1]


def _rounds(end: Fraction) -> int:
    """Return how many of 1/2, 3/2, 5/2, ... lie before the end."""
    return -((1 - 2 * end) // 2) if end > Fraction(1, 2) else 0


def price_bound(prompt: int, outputs: Sequence[int], memory: int) -> Fraction:
    """Return the larger of C and of what the volume prices prove, rounds. O(V/M sum of all o).

    >>> price_bound(0, [1, 1], 1), price_bound(0, [2, 2], 9)
    (Fraction(3, 1), Fraction(4, 1))
    """
    prices = volume_prices(prompt, outputs, memory)
    least = {output: _least(prompt, output, prices) for output in set(outputs)}
    proved = sum((least[output] for output in outputs), start=-memory * sum(prices, Fraction(0)))
    return max(Fraction(sum(outputs)), proved)


def _least(prompt: int, output: int, prices: Sequence[Fraction]) -> Fraction:
    """Return the least of completion and payment over all starts."""

    def cost(start: int) -> Fraction:
        paid = enumerate(prices[start : start + output], 1)
        return start + output + sum(((prompt + j) * price for j, price in paid), Fraction(0))

    return min(map(cost, range(len(prices) + 1)))
