"""Propositions 6 and 7 and Theorem 8 of the proof of V by routes of their own, beside false ones.

Jobs are served one by one, the quadratic form is summed anew from its definition, and statements
that differ in one step are shown to fail where the right ones hold.
"""

import numpy as np
import pytest

from ratiolab.game.ranges.cap_design import best_caps
from ratiolab.game.ranges.finite_range import dual_value
from ratiolab.game.ranges.orders import Move, form, most
from ratiolab.theory.limits.volume_restart import Shares

LISTS = [
    (5.0, [1.3, 2.1, 3.4, 4.4], 1),
    (5.0, [1.3, 2.1, 3.4, 4.4], 2),
    (30.0, np.geomspace(1.2, 25, 9).tolist(), 3),
]
"""Largest volume, caps below it, offsets."""


def drawn_law(rng, ratio):
    volumes = np.unique(np.append(np.exp(rng.uniform(0, np.log(ratio), 4)), ratio))
    weights = rng.dirichlet(np.full(len(volumes), 0.7)) + 1e-3
    return volumes, weights / weights.sum()


def served(volumes, weights, caps, offsets, ratio, jobs, rng):
    """The sum of completion times of jobs on one machine, over n**2 / 2: no formula at all."""
    length = rng.choice(volumes, jobs, p=weights)
    offset = rng.integers(offsets, size=jobs)
    left, now, total = np.ones(jobs, bool), 0.0, 0.0
    for level, cap in enumerate([*caps, *[ratio] * offsets]):
        turn = np.flatnonzero(left & (offset == level % offsets))
        rng.shuffle(turn)
        ends = now + np.cumsum(np.minimum(length[turn], cap))
        done = length[turn] <= cap
        total += ends[done].sum()
        left[turn[done]] = False
        now = ends[-1] if len(turn) else now
    assert not left.any()
    return 2 * total / jobs**2


def summed_form(caps, offsets, ratio, *, again=1.0, after=True):
    """The form of Proposition 7 from its definition, a row and a column for each cell.

    `again` and `after` make it wrong: work that is done again is left out, or the share that is
    unfinished is taken after a level only.
    """
    edges = [0.0, 1.0, *caps, ratio]
    cells = len(edges) - 1
    at = {edge: k for k, edge in enumerate(edges)}

    def share(cap):  # Y at a cap is at most the mean of the cell before it, and 0 at the end
        row = np.zeros(cells)
        if cap < ratio:
            row[max(at[cap] - 1, 0)] = 1.0
        return row

    form, last = np.zeros((cells, cells)), [0.0] * offsets
    for level, cap in enumerate([*caps, *[ratio] * offsets]):
        bound = last[level % offsets]
        if bound == ratio:
            continue
        before = sum(share(x) for x in last) / offsets
        last[level % offsets] = cap
        later = sum(share(x) for x in last) / offsets
        work = again * bound * share(bound)
        for cell in range(at[bound], at[cap]):
            work[cell] += edges[cell + 1] - edges[cell]
        form += np.outer(work, before + later if after else 2 * later) / offsets
    return form, np.diff(edges)


def moved(caps, offsets, ratio):
    """The form of the same list by the product's code, from moves between nodes."""
    nodes = [0.0, 1.0, *caps, ratio]
    last, moves = [0] * offsets, []
    for level, cap in enumerate([*range(2, len(nodes)), *[len(nodes) - 1] * (offsets - 1)]):
        if last[level % offsets] < cap:
            moves.append(Move(last[level % offsets], cap, 1 / offsets))
            last[level % offsets] = cap
    return form(moves, nodes)


@pytest.mark.parametrize(("ratio", "caps", "offsets"), LISTS)
def test_jobs_served_one_by_one_cost_what_the_form_says_at_most(ratio, caps, offsets):
    rng = np.random.default_rng(7)
    summed, widths = summed_form(caps, offsets, ratio)
    for _ in range(8):
        volumes, weights = drawn_law(rng, ratio)
        shares = Shares(list(zip(volumes.tolist(), weights.tolist(), strict=True)))
        edges = np.append(0.0, np.cumsum(widths))
        means = np.diff([shares.integral(x) for x in edges]) / widths
        cost = served(volumes, weights, caps, offsets, ratio, 20_000, rng)
        assert cost <= 1.02 * means @ summed @ means  # the sample's error
        for guess in (means, np.sort(rng.random(len(means)) + 0.01)):
            bound = most(moved(caps, offsets, ratio), widths, guess)
            assert means @ summed @ means <= bound * shares.optimum + 1e-9


def test_no_price_of_work_says_more_than_a_policy_costs():
    rng = np.random.default_rng(3)
    tight = too_much = 0.0
    for _ in range(150):
        ratio = float(np.exp(rng.uniform(0.3, 4)))
        volumes, weights = drawn_law(rng, ratio)
        law = list(zip(volumes.tolist(), weights.tolist(), strict=True))
        shares = Shares(law)
        ends = np.geomspace(0.05, 1.5 * shares.integral(ratio), 60)
        begins = np.append(0.0, ends[:-1])
        price = rng.uniform(0.5, 3) * np.minimum(
            1.0, rng.uniform(0.1, 1) / np.maximum(begins, 0.05)
        )
        price = np.maximum(price - rng.uniform(0, 0.4), 0)
        above = [1.0, *(1 - np.cumsum(weights)[:-1]).tolist(), 0.0]
        dual = dual_value([0.0, *volumes.tolist()], above, ends.tolist(), price.tolist())
        cost = min(best_caps(law)[1], shares.integral(ratio) / shares.optimum)
        assert dual <= cost + 1e-9
        tight = max(tight, dual / cost)
        # without what all work is worth the statement is false
        worth = float(price @ np.diff(np.append(0.0, ends))) / shares.optimum
        too_much = max(too_much, (dual + worth) / cost)
    assert tight > 0.7
    assert too_much > 1.0
