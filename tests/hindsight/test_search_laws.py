"""Four laws of searches and bounds on tiny instances, whose optimum another search knows."""

from dataclasses import replace

import pytest
from tiny_instances import tiny

from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.effort import CertificateError
from ratiolab.hindsight.relaxation.growth import dual_bound, growth_bounds
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, improved_schedule
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import require_feasible, stream


@pytest.mark.parametrize("block", range(5))
def test_schedules_are_feasible_bounds_enclose_the_optimum_and_only_true_ones_are_certified(
    block: int,
) -> None:
    met = 0
    for seed in range(10_000 + 60 * block, 10_060 + 60 * block):
        instance = tiny(seed, most=8, longest=6)
        optimum = tiny_optimum(instance).latency
        assert optimum is not None
        first = best_list_schedule(instance)
        schedule = require_feasible(improved_schedule(first, stream(seed, "search"), 2_000))
        assert optimum <= schedule.total_latency <= first.total_latency
        met += schedule.total_latency == optimum
        ascent = dual_bound(instance, first.total_latency, steps=20)
        for proof in (ascent, next(growth_bounds(instance, 1e6))):
            assert certify(proof, instance) == proof.bound <= optimum
            with pytest.raises(CertificateError):
                certify(replace(proof, bound=proof.bound + 1), instance)
    assert met >= 54  # a search that misses many optima would be seen
