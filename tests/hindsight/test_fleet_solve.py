"""The solver of fleets against the enumeration of every way to share the requests."""

import numpy as np
import pytest

from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.fleets import solve as solver
from ratiolab.hindsight.fleets.lists import admitted_list, best_list, improved, list_schedule
from ratiolab.hindsight.fleets.oracle import tiny_fleet_optimum
from ratiolab.hindsight.fleets.program import with_replicas
from ratiolab.hindsight.fleets.solve import METHODS, solve_fleet
from ratiolab.hindsight.programs.timeindexed import build
from ratiolab.model import Instance, Schedule
from ratiolab.model.feasibility import fleet_violations, require_feasible_fleet
from ratiolab.model.fleet import Fleet, FleetSchedule
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
    for fleet in fleets(40, seed=2):
        optimum = tiny_fleet_optimum(fleet).total_latency
        for method in ("auto", "certified", "cuts"):
            found = solve_fleet(fleet, method=method)
            assert found.lower <= optimum <= found.upper
            assert certify(found.certificate, fleet) == found.certified <= found.lower
            open_ += found.certified < optimum
        assert found.certified == found.lower  # of the last method: no solver's word
    assert open_ < 10


def test_growth_rows_bound_fleets_beyond_configurations():
    rng = np.random.default_rng(3)
    output, prompt = rng.integers(1, 60, 60), rng.integers(0, 100, 60)
    fleet = Fleet(Instance("large", 300, rng.integers(0, 30, 60), prompt, output), 3)
    found = solve_fleet(fleet, method="certified")
    assert found.lower_source == "growth rows"
    assert certify(found.certificate, fleet) == found.lower < found.upper


def test_eight_requests_on_two_replicas_are_solved_to_proof():
    rng = np.random.default_rng(4)
    for _ in range(3):
        output, prompt = rng.integers(1, 20, 8), rng.integers(0, 30, 8)
        fleet = Fleet(Instance("eight", 50, rng.integers(0, 8, 8), prompt, output), 2)
        found = solve_fleet(fleet)
        assert found.is_exact
        assert found.upper == tiny_fleet_optimum(fleet).total_latency


def test_lists_are_feasible_and_the_search_reaches_tiny_optima():
    reached = 0
    for fleet in fleets(60, seed=5):
        first = require_feasible_fleet(best_list(fleet))
        better = require_feasible_fleet(improved(first))
        optimum = tiny_fleet_optimum(fleet).total_latency
        assert optimum <= better.total_latency <= first.total_latency
        reached += better.total_latency == optimum
    assert reached >= 58


def test_a_list_gives_each_request_its_earliest_start_on_any_replica():
    """Literally, by trying rounds and replicas in order."""
    for fleet in fleets(60, seed=6):
        one = fleet.instance
        order = np.random.default_rng(len(fleet)).permutation(len(fleet))
        use = np.zeros((fleet.replicas, 200), np.int64)
        for i in order.tolist():
            ages = np.arange(1, one.output[i] + 1)
            tokens = one.prompt[i] + ages
            start, place = next(
                (p, r)
                for p in range(one.arrival[i], 150)
                for r in range(fleet.replicas)
                if (use[r, p + ages] + tokens <= one.memory).all()
            )
            use[place, start + ages] += tokens
            found = list_schedule(fleet, order)
            assert (found.runs.starts[i], found.replica[i]) == (start, place)


def test_counts_of_a_schedule_satisfy_the_program_and_are_read_back():
    """Also with merged classes and a deferral, whose replica has no meaning."""
    for fleet in fleets(60, seed=7):
        schedule = improved(best_list(fleet))
        starts, instance = schedule.runs.starts, fleet.instance
        for horizon in (None, 1):
            one = build(instance, starts + 2, horizon)
            many = with_replicas(one, fleet.memories)
            counts = many.counts(one, starts, schedule.replica)
            program = many.program
            rows = np.zeros(program.shape[0], np.int64)
            for j, count in enumerate(counts.tolist()):
                entries = slice(program.indptr[j], program.indptr[j + 1])
                np.add.at(rows, program.indices[entries], count * program.values[entries])
            assert (rows <= program.row_upper).all()
            assert (rows >= program.row_lower).all()
            read, places = many.read(one, counts)
            if horizon is None:
                again = FleetSchedule.from_starts(fleet, places, read)
                assert not fleet_violations(again)
                assert again.total_latency == schedule.total_latency == program.cost @ counts


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


def test_no_time_leaves_the_first_interval():
    [fleet] = [f for f in fleets(40, seed=8) if len(f) == 6][:1]
    found = solve_fleet(fleet, time_limit=0)
    assert found.lower <= tiny_fleet_optimum(fleet).total_latency <= found.upper
    assert len(found.stages) == 1


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


def test_every_stage_of_every_method_exists():
    assert {name for names in METHODS.values() for name in names} <= {
        *("lists", "cuts", "growth rows", "program", "more lists", "enumeration")
    }


def test_admission_in_order_goes_to_the_replica_that_can_start_first():
    """Literally: the first waiting request in the order, at each round, until it does not fit."""
    for fleet in fleets(60, seed=11):
        one = fleet.instance
        order = np.random.default_rng(len(fleet)).permutation(len(fleet)).tolist()
        use = np.zeros((fleet.replicas, 300), np.int64)
        starts, places = [-1] * len(fleet), [0] * len(fleet)
        for now in range(200):
            for i in order:
                if starts[i] >= 0 or one.arrival[i] > now:
                    continue
                ages = np.arange(1, one.output[i] + 1)
                tokens = one.prompt[i] + ages
                fits = (use[:, now + ages] + tokens <= one.memory).all(axis=1)
                if not fits.any():
                    break
                places[i], starts[i] = int(np.argmax(fits)), now
                use[places[i], now + ages] += tokens
        found = admitted_list(fleet, np.array(order))
        assert found.runs.starts.tolist() == starts
        assert found.replica.tolist() == places


def test_many_waiting_requests_are_better_admitted_in_order():
    rng = np.random.default_rng(12)
    output, prompt = rng.geometric(0.005, (2, 600)).clip(1, 1000)
    arrival = rng.integers(0, 1500, 600)
    crowd = Fleet(Instance("crowd", 4000, arrival, prompt, output), 3)
    by_volume = np.argsort(crowd.instance.volume, kind="stable")
    admitted = admitted_list(crowd, by_volume).total_latency
    assert best_list(crowd).total_latency <= admitted
    assert admitted < list_schedule(crowd, by_volume).total_latency
