"""What is left to pay after a state, as the checker of paths tries it, against its definition."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.certificates import certify_paths
from ratiolab.hindsight.certificates.certificate import path_certificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.path_bounds import Bounds
from ratiolab.hindsight.certificates.path_states import waits
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling.weights import Weights


def most_rest(other: Bounds, begun: np.uint64, held: Any) -> int:
    """Return the most rest of the states with these requests started that hold no more, or -1."""
    rests = [-1]
    for group in np.flatnonzero(other.begun == begun):
        own = slice(other.edges[group], other.edges[group + 1])
        fit = (other.tokens[own] <= held).all(axis=1)
        rests += [-int(total) for total in other.total[own][fit] if total <= 0]
    return max(rests)


class Definition:
    """The least over all sets of starts, beside what the compiled loop finds of each state."""

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        self.sets = self.grown = self.looked_up = 0

    def __call__(
        self, result: Any, room: int, layer: Any, floors: Any, step: Any, *more: Any
    ) -> int:
        number: int = self.compiled(result, room, layer, floors, step, *more)
        wait, (rises, totals, bits, needs), tokens, space, after, before, chosen = more
        capacity, limit, watched = step
        self.looked_up += number
        for s in chosen:
            most, floor = limit + 1 - layer.total[s], floors[s]
            safe = layer.paid[s] + waits(layer.begun[s], watched, wait)
            missing = list[set[int]]()
            for size in range(len(rises) + 1 if safe <= limit else 0):
                for some in combinations(range(len(rises)), size):
                    held, begun, fits = layer.tokens[s].astype(int), layer.begun[s], True
                    for k in some:
                        fits &= not begun & bits[k] and begun & needs[k] == needs[k]
                        fits &= bool((held <= space[k]).all())
                        held, begun = held + tokens[k], begun | bits[k]
                    if not fits or safe + sum(rises[k] for k in some) > limit:
                        continue
                    self.sets += 1
                    then = np.append(held[1:], 0)
                    rest = most_rest(after, begun, then)
                    if before[0]:
                        known = most_rest(before[2], begun & before[1], then)
                        rest = -1 if min(rest, known) < 0 else max(rest, known)
                    if rest >= 0:
                        self.grown += any(one < set(some) for one in missing)
                        most = min(most, capacity + sum(totals[k] for k in some) + rest)
                    else:
                        missing.append(set(some))
            assert result[s] == max(most, floor)
        return number


@pytest.mark.parametrize("watched", [(0,), (1,), (0, 5), (2, 7)])
def test_rests_are_the_least_of_all_sets_of_starts(
    watched: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = Definition(certify_paths._rests)
    monkeypatch.setattr(certify_paths, "_rests", definition)
    for seed in range(24):
        instance = tiny(seed, most=6, longest=5)
        proven = cut_bound(instance, rounds=0).certificate
        potentials = Weights.of(instance, proven.duals)
        everyone, optimum = 2 ** len(instance) - 1, least_latency(instance)
        sets = *(some & everyone for some in watched), everyone
        numbers = proven, optimum, potentials.unit, potentials.least, sets
        assert certify(path_certificate(*numbers), instance) == optimum
    assert definition.sets > definition.looked_up > 200
    assert definition.grown  # no state for a set says nothing of the sets that contain it
