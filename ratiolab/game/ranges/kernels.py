"""Compiled parts of the game of ranges: cheapest paths, and functions that do not increase."""

import numpy as np

from ratiolab.machine_code import careful


@careful
def cheapest(volumes, shares, prices, widths):  # type: ignore[no-untyped-def]
    """Return the cost of the cheapest path of bounds, and its jumps: step, bound, cap.

    Parameters are those of `ratiolab.game.ranges.finite_range.dual_value`, with the widths of the
    steps; the integral of the price is not subtracted. O(volumes steps).
    """
    last, steps = len(volumes) - 1, len(prices)
    filled = np.zeros(last + 1)
    for j in range(1, last + 1):
        filled[j] = filled[j - 1] + (volumes[j] - volumes[j - 1]) * shares[j - 1]
    least, stay = np.zeros(last + 1), np.zeros(last + 1)
    choice = np.full((steps, last + 1), -1)
    for k in range(steps - 1, -1, -1):
        for a in range(last + 1):
            stay[a] = 2 * shares[a] * widths[k] + least[a]
        least[last] = stay[last]
        reached, cap = np.inf, -1
        for a in range(last - 1, -1, -1):
            to_next = prices[k] * filled[a + 1] + stay[a + 1]
            if to_next < reached:
                reached, cap = to_next, a + 1
            jump = reached + prices[k] * (volumes[a] * shares[a] - filled[a])
            least[a] = stay[a]
            if jump < stay[a]:
                least[a] = jump
                choice[k, a] = cap
    jumps = [(0, 0, 0) for _ in range(0)]
    bound = 0
    for k in range(steps):
        if choice[k, bound] >= 0:
            jumps.append((k, bound, choice[k, bound]))
            bound = choice[k, bound]
    return least[0], jumps


@careful
def not_increasing(values, weights):  # type: ignore[no-untyped-def]
    """Return the nearest sequence that does not increase, in weighted least squares."""
    mean, weight = np.empty(len(values)), np.empty(len(values))
    size = np.empty(len(values), np.int64)
    pools = 0
    for i in range(len(values)):
        mean[pools], weight[pools], size[pools] = values[i], weights[i], 1
        pools += 1
        while pools > 1 and mean[pools - 2] < mean[pools - 1]:
            both = weight[pools - 2] + weight[pools - 1]
            sums = mean[pools - 2] * weight[pools - 2] + mean[pools - 1] * weight[pools - 1]
            mean[pools - 2], weight[pools - 2] = sums / both, both
            size[pools - 2] += size[pools - 1]
            pools -= 1
    nearest, at = np.empty(len(values)), 0
    for i in range(pools):
        nearest[at : at + size[i]] = mean[i]
        at += size[i]
    return nearest


@careful
def climb(cost, widths, law, steps, tolerance):  # type: ignore[no-untyped-def]
    """Return the distribution of largest cost over the sum of widths times squares.

    A power method whose iterates are brought back to distributions that do not increase; it ends
    when no entry moves by more than the tolerance.
    """
    law = law / np.sqrt((widths * law * law).sum())
    for _ in range(steps):
        new = not_increasing((cost @ law) / widths, widths)
        new = new / np.sqrt((widths * new * new).sum())
        moved = np.abs(new - law).max()
        law = new
        if moved < tolerance:
            break
    return law
