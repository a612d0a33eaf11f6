"""What a schedule keeps of what was promised, against definitions written out by hand."""

import numpy as np
import pytest
from tiny_instances import tiny

from ratiolab.adversary.case import Case
from ratiolab.model import Instance, Schedule, read_instance, write_instance
from ratiolab.model.promises import (
    goodput,
    in_time,
    last_starts_in_time,
    weighted_latency,
    with_limits,
)
from ratiolab.online import simulate
from ratiolab.online.clock import BatchTime
from ratiolab.workloads.blocks import in_blocks


def test_a_request_is_in_time_up_to_its_last_start_and_not_one_round_later():
    rng = np.random.default_rng(5)
    for _ in range(200):
        n, memory = int(rng.integers(1, 5)), 20
        output = rng.integers(1, 6, n)
        arrival = rng.integers(0, 5, n)
        dates = {"deadline": rng.integers(1, 15, n), "first_by": rng.integers(1, 9, n)}
        if rng.random() < 0.5:
            del dates[str(rng.choice(list(dates)))]
        instance = Instance("any", memory, arrival, [0] * n, output, **dates)
        starts = arrival + rng.integers(0, 6, n)
        expected = [
            p + o <= (dates["deadline"][i] if "deadline" in dates else 99)
            and p + 1 <= (dates["first_by"][i] if "first_by" in dates else 99)
            for i, (p, o) in enumerate(zip(starts, output, strict=True))
        ]
        assert in_time(Schedule.from_starts(instance, starts)).tolist() == expected
        assert (starts <= last_starts_in_time(instance)).tolist() == expected


def test_goodput_counts_weights_and_a_first_token_of_an_evicted_run_counts():
    two = Instance("two", 4, [0, 0], [1, 1], [3, 3], first_by=[2, 2], weight=[3, 4])
    apart = Schedule.from_starts(two, [0, 3])
    assert (goodput(apart), weighted_latency(apart)) == (3, 3 * 3 + 4 * 6)
    evicting = Schedule(two, [0, 1, 1], [0, 0, 3], [3, 1, 6])
    assert goodput(evicting) == 7


def test_goodput_without_dates_is_refused():
    with pytest.raises(ValueError, match="no request has a deadline; give the column"):
        goodput(Schedule.from_starts(Instance("one", 4, [0], [1], [3]), [0]))


def test_limits_are_dates_of_all_requests():
    instance = with_limits(Instance("two", 9, [0, 3], [1, 1], [4, 2]), ttft=1.5, latency=4)
    assert (instance.first_by.tolist(), instance.deadline.tolist()) == ([1, 4], [4, 7])
    with pytest.raises(ValueError, match="limit of ttft 0 must be between 1 and"):
        with_limits(instance, ttft=0)


@pytest.mark.parametrize("name", ["promised.json", "promised.csv"])
def test_files_keep_promises(tmp_path, name):
    columns = {"weight": [2, 1], "deadline": [9, 8], "first_by": [2, 2]}
    instance = Instance("promised", 9, [0, 3], [1, 1], [4, 2], **columns)
    write_instance(instance, tmp_path / name)
    again = read_instance(tmp_path / name, 9)
    assert (again.digest, again.promises) == (instance.digest, tuple(columns))


def test_what_moves_or_changes_requests_refuses_dates():
    instance = with_limits(tiny(3), latency=9)
    with pytest.raises(ValueError, match="leave the dates of column deadline behind"):
        in_blocks(instance, 2)
    with pytest.raises(ValueError, match="an adversary changes requests and knows no column"):
        Case.of_instance(instance)


def test_a_run_in_seconds_has_no_dates_in_batches():
    instance = with_limits(tiny(3), latency=1).replace(tick_seconds=1.0)
    run = simulate(instance, "fcfs", clock=BatchTime(fixed=3.0))
    assert run.schedule.instance.promises == ()
    with pytest.raises(ValueError, match="no request has a deadline"):
        goodput(run.schedule)
