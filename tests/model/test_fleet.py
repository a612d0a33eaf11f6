"""Fleets, their schedules, and the judge of them."""

import copy
import json
import pickle

import numpy as np
import pytest

from ratiolab.model import FormatError, InfeasibleScheduleError, Instance, Schedule, held
from ratiolab.model.feasibility import fleet_violations, require_feasible_fleet, violations
from ratiolab.model.fleet import Fleet, FleetSchedule, fleet_of, replicas_of
from ratiolab.model.fleet_io import (
    read_fleet,
    read_fleet_schedule,
    write_fleet,
    write_fleet_schedule,
)
from ratiolab.model.io import write_instance

PAIR = Instance("pair", 3, [0, 0], [1, 1], [2, 2])


def test_one_replica_is_no_fleet():
    with pytest.raises(ValueError, match="one replica is an instance"):
        Fleet(PAIR, 1)
    assert fleet_of(PAIR, 1) is PAIR


@pytest.mark.parametrize("replicas", [0, -1, True, 2.0, "2", 10**7])
def test_a_number_of_replicas_that_makes_no_sense_is_refused(replicas):
    with pytest.raises(ValueError, match="replicas"):
        Fleet(PAIR, replicas)


@pytest.mark.parametrize("replica", [[0.5, 1], [True, 0], np.array([0.5, 1])])
def test_replicas_that_are_no_integers_are_refused(replica):
    with pytest.raises(ValueError, match=r"replica .*must be .*integer"):
        FleetSchedule.from_starts(Fleet(PAIR, 2), replica, [0, 0])


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_read_only_too(copied):
    schedule = FleetSchedule.from_starts(Fleet(PAIR, 2), [0, 1], [0, 0])
    assert PAIR.digest
    again = copied(schedule)
    assert again.fleet == schedule.fleet
    assert again.to_dict() == schedule.to_dict()
    for one in (schedule, again):
        for column in (one.replica, one.runs.start, one.fleet.instance.output):
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                column.setflags(write=True)


def test_memory_is_judged_replica_by_replica():
    """Literally: the tokens of each replica at each time, added up."""
    rng = np.random.default_rng(3)
    verdicts = []
    for _ in range(300):
        n = int(rng.integers(1, 6))
        output, prompt = rng.integers(1, 4, n), rng.integers(0, 3, n)
        fleet = Fleet(Instance("x", 6, [0] * n, prompt, output), 2)
        starts, replica = rng.integers(0, 5, n), rng.integers(0, 2, n)
        schedule = FleetSchedule.from_starts(fleet, replica, starts)
        tokens = {}
        for i in range(n):
            for age in range(1, output[i] + 1):
                key = replica[i], starts[i] + age
                tokens[key] = tokens.get(key, 0) + held(prompt[i], age)
        fits = max(tokens.values()) <= 6
        verdicts.append(fits)
        assert fits == (not fleet_violations(schedule))
        assert violations(schedule) == fleet_violations(schedule)
        if fits:
            assert require_feasible_fleet(schedule) is schedule
        else:
            with pytest.raises(InfeasibleScheduleError, match=r"replica [01]: \d+ tokens"):
                require_feasible_fleet(schedule)
    assert 50 < sum(verdicts) < 250  # both happen


def test_a_replica_out_of_range_and_runs_of_others_are_refused():
    fleet = Fleet(PAIR, 2)
    with pytest.raises(ValueError, match="request 1: replica 2"):
        FleetSchedule.from_starts(fleet, [0, 2], [0, 0])
    with pytest.raises(ValueError, match="must be of"):
        FleetSchedule(fleet, [0, 0], Schedule.from_starts(PAIR.replace(memory=9), [0, 0]))
    with pytest.raises(ValueError, match="request 5, which is unknown"):
        FleetSchedule(fleet, [0, 1], Schedule.from_runs(PAIR, [(0, 0, 2), (1, 0, 2), (5, 0, 1)]))


def test_fleets_are_read_as_they_were_written(tmp_path):
    fleet, path = Fleet(PAIR, 3), tmp_path / "fleet.json"
    write_fleet(fleet, path)
    assert read_fleet(path) == fleet
    assert read_fleet(path, replicas=2) == Fleet(PAIR, 2)
    assert read_fleet(path, replicas=1) == PAIR
    assert read_fleet(path, memory=7).instance.memory == 7
    write_instance(PAIR, path)
    assert read_fleet(path) == PAIR
    assert read_fleet(path, replicas=3) == fleet


def test_memories_that_differ_are_a_fleet_of_their_own(tmp_path):
    nine, path = PAIR.replace(memory=9), tmp_path / "fleet.json"
    fleet = Fleet(nine, 2, (9, 7))
    assert Fleet(nine, 2, (9, 9)) == Fleet(nine, 2)
    assert Fleet(nine, 2, (9, 9)).to_dict() == Fleet(nine, 2).to_dict()
    assert len({f.digest for f in (fleet, Fleet(nine, 2, (7, 9)), Fleet(nine, 2))}) == 3
    assert fleet_of(nine, [7, 9]) == Fleet(nine, 2, (7, 9))
    write_fleet(fleet, path)
    assert read_fleet(path) == fleet
    assert read_fleet(path, memory=8) == Fleet(nine.replace(memory=8), 2)
    assert read_fleet(path, memory=[3, 4, 3]) == Fleet(PAIR.replace(memory=4), 3, (3, 4, 3))
    with pytest.raises(FormatError, match="2 memories are given for 3 replicas"):
        read_fleet(path, replicas=3)
    with pytest.raises(ValueError, match="needs replicas of equal memory"):
        replicas_of(fleet)


@pytest.mark.parametrize(
    "memories", [(9,), (9, 0), (8, 7), (9, 10), (9, 7.0), (9, True), (9, 9, 9)]
)
def test_memories_that_contradict_the_fleet_are_refused(memories):
    with pytest.raises(ValueError, match="memories"):
        Fleet(PAIR.replace(memory=9), 2, memories)


def test_a_request_on_a_replica_too_small_for_it_is_refused():
    fleet = Fleet(Instance("two", 9, [0, 0], [1, 7], [2, 2]), 2, (9, 7))
    with pytest.raises(ValueError, match=r"request 1: prompt\+output 9 exceeds memory 7 of"):
        FleetSchedule.from_starts(fleet, [0, 1], [0, 0])
    [broken] = fleet_violations(FleetSchedule.from_starts(fleet, [0, 0], [0, 0]))
    assert broken.rule == "memory"


def test_a_fleet_file_is_no_instance(tmp_path):
    from ratiolab.model import read_instance

    write_fleet(Fleet(PAIR, 3), tmp_path / "fleet.json")
    with pytest.raises(FormatError, match="ratiolab-instance/1"):
        read_instance(tmp_path / "fleet.json")


def test_fleet_schedules_are_read_as_they_were_written(tmp_path):
    fleet, path = Fleet(PAIR, 2), tmp_path / "schedule.json"
    runs = Schedule.from_runs(PAIR, [(0, 0, 1), (0, 1, 3), (1, 0, 2)])
    schedule = FleetSchedule(fleet, [0, 1], runs)
    write_fleet_schedule(schedule, path)
    again = read_fleet_schedule(path, fleet)
    assert again.to_dict() == schedule.to_dict()
    with pytest.raises(FormatError, match="are not those"):
        read_fleet_schedule(path, Fleet(PAIR, 3))
    good = json.loads(path.read_text())
    for change, message in (
        ({"replica": [0, 1, 1]}, "runs on two replicas"),
        ({"replica": [0, 0]}, "2 values for 3 runs"),
        ({"replica": [0, 2, 0]}, "replica 2 must be"),
        ({"total_latency": 4}, "total_latency 4 is not"),
        ({"replicas": 3}, "are not those"),
        ({"replicas": 1}, "replicas"),
    ):
        path.write_text(json.dumps(good | change))
        with pytest.raises(FormatError, match=message):
            read_fleet_schedule(path, fleet)
