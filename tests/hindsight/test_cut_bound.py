"""The cut bound lies between the plain linear program and the optimum."""

import numpy as np
import pytest
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.cuts.cut_bound import CutProgress, cut_bound
from ratiolab.model import Instance


def drawn(n: int = 14) -> Instance:
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, n)
    output = [int(rng.integers(1, 30 - s + 1)) for s in prompt]
    return Instance("drawn", 30, [0] * n, prompt, output)


@pytest.mark.parametrize("block", range(4))
def test_the_cut_bound_lies_between_the_plain_one_and_the_optimum(block: int) -> None:
    exact = 0
    for seed in range(30 * block, 30 * (block + 1)):
        instance = tiny(seed, most=6)
        optimum = least_latency(instance)
        found = cut_bound(instance, rounds=10)
        assert found.plain <= found.lower <= optimum, seed
        exact += found.lower == optimum
    assert exact > 20  # of 30: cuts and rounding up close most tiny instances


def test_more_rounds_never_weaken_the_bound_and_repeat_exactly() -> None:
    instance = drawn()
    found = [cut_bound(instance, rounds=rounds) for rounds in (0, 2, 4, 4)]
    assert found[0].lower == found[0].plain
    assert found[0].lower < found[1].lower <= found[2].lower
    assert found[2].certificate == found[3].certificate
    assert found[2].stopped == "rounds"


@pytest.mark.parametrize("horizon", [0, 1, 7, 300])
def test_any_horizon_gives_a_valid_bound(horizon: int) -> None:
    for seed in range(20):
        instance = tiny(seed, most=6)
        found = cut_bound(instance, horizon=horizon, rounds=4)
        assert instance.output.sum() <= found.lower <= least_latency(instance)


def test_limits_stop_it_with_what_is_proven() -> None:
    instance = drawn()
    assert cut_bound(instance, time_limit=0).stopped == "time"
    assert cut_bound(instance, time_limit=0).lower >= instance.output.sum()
    target = cut_bound(instance, rounds=2).lower
    stopped = cut_bound(instance, target=target)
    assert stopped.stopped == "target"
    assert stopped.lower >= target
    seen: list[CutProgress] = []
    cut_bound(instance, rounds=3, progress=seen.append)
    assert [now.rounds for now in seen] == [0, 1, 2, 3]
    assert sorted(now.lower for now in seen) == [now.lower for now in seen]


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(ValueError, match="memory 201 exceeds 200"):
        cut_bound(Instance("large", 201, [0], [1], [1]))
    with pytest.raises(ValueError, match="non-zeros exceed"):
        cut_bound(drawn(), horizon=10**6)
    with pytest.raises(ValueError, match="rounds -1"):
        cut_bound(drawn(), rounds=-1)
