"""The solver of fleets against the enumeration of every way to share the requests."""

import numpy as np
import pytest

from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.fleets import solve as solver
from ratiolab.hindsight.fleets.lists import best_list, improved
from ratiolab.hindsight.fleets.oracle import tiny_fleet_optimum
from ratiolab.hindsight.fleets.solve import solve_fleet
from ratiolab.model import Instance, Schedule
from ratiolab.model.feasibility import fleet_violations, require_feasible_fleet
from ratiolab.model.fleet import Fleet
from tests.common.fleet_oracle import tiny_fleet


def fleets(count: int, seed: int, most: int = 6) -> list[Fleet]:
    rng = np.random.default_rng(seed)
    return [tiny_fleet(rng, most) for _ in range(count)]


def test_the_program_finds_the_optimum_in_both_formulations():
    for fleet in fleets(12, seed=1):
        optimum = tiny_fleet_optimum(fleet).total_latency
        for options in ({"method": "ip"}, {"backend": "pulp"}, {"method": "brute"}):
            found = solve_fleet(fleet, **options)
            assert (found.lower, found.upper, found.status) == (optimum, optimum, "optimal")
            assert not fleet_violations(found.schedule)


def test_every_end_of_an_interval_holds_and_its_certificate_proves_it():
    open_ = 0
    for fleet in fleets(24, seed=2):
        optimum = tiny_fleet_optimum(fleet).total_latency
        for method in ("auto", "certified", "cuts"):
            found = solve_fleet(fleet, method=method)
            assert found.lower <= optimum <= found.upper
            assert certify(found.certificate, fleet) == found.certified <= found.lower
            open_ += found.certified < optimum
        assert found.certified == found.lower  # of the last method: no solver's word
    assert open_ < 6


def test_growth_rows_bound_fleets_beyond_configurations():
    rng = np.random.default_rng(3)
    output, prompt = rng.integers(1, 60, 40), rng.integers(0, 100, 40)
    fleet = Fleet(Instance("large", 300, rng.integers(0, 20, 40), prompt, output), 3)
    found = solve_fleet(fleet, method="certified")
    assert found.lower_source == "growth rows"
    assert certify(found.certificate, fleet) == found.lower < found.upper


def test_eight_requests_on_two_replicas_are_solved_to_proof():
    rng = np.random.default_rng(4)
    for _ in range(2):
        output, prompt = rng.integers(1, 20, 8), rng.integers(0, 30, 8)
        fleet = Fleet(Instance("eight", 50, rng.integers(0, 8, 8), prompt, output), 2)
        found = solve_fleet(fleet)
        assert found.is_exact
        assert found.upper == tiny_fleet_optimum(fleet).total_latency


def test_lists_are_feasible_and_the_search_reaches_tiny_optima():
    reached = 0
    for fleet in fleets(36, seed=5):
        first = require_feasible_fleet(best_list(fleet))
        better = require_feasible_fleet(improved(first))
        optimum = tiny_fleet_optimum(fleet).total_latency
        assert optimum <= better.total_latency <= first.total_latency
        reached += better.total_latency == optimum
    assert reached >= 35


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "dp"}, "not for several replicas: take one of auto"),
        ({"backend": "cplex"}, "must be 'highs'"),
        ({"backend": "pulp", "method": "cuts"}, "must be 'ip'"),
        ({"time_limit": -1}, "must be at least 0"),
    ],
)
def test_what_a_fleet_has_no_stage_for_is_refused(options, message):
    fleet = Fleet(Instance("pair", 3, [0, 0], [1, 1], [2, 2]), 2)
    with pytest.raises(ValueError, match=message):
        solve_fleet(fleet, **options)


def test_ctrl_c_keeps_the_interval(monkeypatch):
    def interrupt(*_: object, **__: object) -> Schedule:
        raise KeyboardInterrupt

    monkeypatch.setattr(solver, "improved", interrupt)
    [fleet] = [f for f in fleets(60, seed=9) if not solve_fleet_is_trivial(f)][:1]
    found = solve_fleet(fleet)
    assert found.interrupted
    assert found.note == "Ctrl-C in stage lists"
    assert found.lower <= tiny_fleet_optimum(fleet).total_latency <= found.upper


def solve_fleet_is_trivial(fleet: Fleet) -> bool:
    return solve_fleet(fleet, time_limit=0).is_exact
