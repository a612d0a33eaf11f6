"""Executors give the answers of plain calls, whatever runs them, and fail in one way."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import joblib
import pytest

from ratiolab.evaluation.evaluate import evaluate
from ratiolab.executors import Dask, Executor, Local, interruption, opened
from ratiolab.model import Instance, write_instance
from ratiolab.online import make
from ratiolab.records.improve import Try, improve
from ratiolab.records.store import RecordStore, faults

EASY = Instance("easy", 9, [0, 0, 1, 1, 2], [1, 2, 1, 3, 2], [4, 5, 2, 3, 4])


OWN = """
from dataclasses import dataclass
from typing import ClassVar
from ratiolab.online.policies.greedy import Greedy

@dataclass(frozen=True)
class Last(Greedy):
    name: ClassVar[str] = "last"
    source: ClassVar[str] = "an example"

    def key(self, view, request):
        return -view.arrival[request]
"""


def square_plus(item: int, table: list[int], last: int) -> int:
    return item * item + table[item % len(table)] + last


def fail_at_two(item: int, folder: Path) -> int:
    (folder / f"{item}-{time.time_ns()}").touch()
    if item == 2:
        raise ValueError(f"item {item} is wrong")
    return item


def end_the_process(item: int) -> int:
    os._exit(item)


def wait_for_answers(item: int, folder: Path, slots: int) -> int:
    """End only when so many calls have been answered that this one may run beside the others."""
    while len(list(folder.iterdir())) <= item - slots:
        time.sleep(0.01)
    return item


@pytest.mark.parametrize("workers", [1, 2])
def test_this_machine_gives_the_answers_of_plain_calls(workers, tmp_path):
    obeys_the_contract(Local(workers), tmp_path)


def test_there_are_no_more_processes_than_calls(monkeypatch):
    real, asked = joblib.Parallel, []

    def noted(n_jobs, **given):
        asked.append(n_jobs)
        return real(n_jobs=1, **given)

    monkeypatch.setattr(joblib, "Parallel", noted)
    for items in ([2, 3], range(9), iter([2])):
        assert all(answer == item**2 for item, answer in Local(4).unordered(pow, items, 2))
    assert asked == [2, 4, 1]


def test_an_error_ends_the_others_and_is_raised_as_it_is(tmp_path):
    with pytest.raises(ValueError, match="item 2 is wrong"):
        list(Local(2).unordered(fail_at_two, range(500), tmp_path))


@pytest.mark.parametrize("interruptible", [False, True])
def test_a_process_that_dies_is_one_sentence(interruptible):
    with pytest.raises(OSError, match="a worker process was killed, perhaps because the memory"):
        list(Local(2).unordered(end_the_process, [1, 2], interruptible=interruptible))


@pytest.mark.parametrize("words", ["", "joblib", "dask=", "local=2", "tcp://host:1"])
def test_other_words_are_refused(words):
    with pytest.raises(ValueError, match="must be local, dask or dask=ADDRESS"), opened(words):
        pass


def test_an_address_that_is_none_is_refused_with_what_to_type_next():
    pytest.importorskip("distributed", reason="needs the extra ratiolab[dask]")
    told = "executor 'dask=nope': .*; name the address of a scheduler that runs"
    with pytest.raises(ValueError, match=told), opened("dask=nope"):
        pass


def obeys_the_contract(executor: Executor, folder: Path) -> None:
    """Check all ways to call: eager, lazy, interruptible; with shared values and without items."""
    expected = [(i, i * i + [5, 7][i % 2] + 1) for i in range(40)]
    for how in ({}, {"lazily": True}, {"interruptible": True}):
        got = executor.unordered(square_plus, range(40), [5, 7], 1, **how)
        assert sorted(got) == expected
        assert list(executor.unordered(square_plus, [], [5, 7], 1, **how)) == []
    drawn: list[int] = []

    def items() -> Iterator[int]:
        for i in range(12):
            drawn.append(i)
            yield i

    behind = []
    waiting = executor.unordered(wait_for_answers, items(), folder, executor.slots, lazily=True)
    for answered, _ in enumerate(waiting, 1):
        behind.append(len(drawn) - answered)
        (folder / f"answered {answered}").touch()
    assert len(behind) == 12
    assert max(behind) <= 2 * executor.slots  # those that run, and those that have just ended


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the cluster about ports and workers that leave
def test_a_dask_cluster_of_two_workers_obeys_the_same_contract(tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra ratiolab[dask]")
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**settings, dashboard_address=None) as cluster,
        opened(f"dask={cluster.scheduler_address}") as executor,
    ):
        assert isinstance(executor, Dask)
        assert executor.slots == 2
        answers = tmp_path / "answers"
        answers.mkdir()
        obeys_the_contract(executor, answers)
        with pytest.raises(ValueError, match="item 2 is wrong"):
            list(executor.unordered(fail_at_two, [2], tmp_path))
        assert len(list(tmp_path.glob("2-*"))) == 1  # an error is no accident: it is not repeated
        store = RecordStore(tmp_path / "instances", tmp_path / "results")
        for name in ("one", "two", "three"):
            instance = EASY.replace(name=name, memory=9 + len(name))
            write_instance(instance, store.instances / "families" / f"{name}.json")
        done = improve(store, 0.5, executor=executor)
        assert sum(isinstance(each, Try) for each in done) == 3
        for record in store.records().values():
            assert record.proved == record.upper
            assert faults(store, record) == []
        (tmp_path / "own.py").write_text(OWN)
        policies = [make("fcfs"), make("a-random"), make(f"{tmp_path / 'own.py'}:Last")]
        (tmp_path / "own.py").unlink()  # machines of a cluster do not have it
        options: dict[str, Any] = {"preemption": "restart", "runs": 3}
        here = evaluate(EASY, policies, **options)
        there = evaluate(EASY, policies, **options, executor=executor)
        assert here.to_dict() == there.to_dict()
        with pytest.raises(OSError, match="the cluster gave a call up"):
            list(executor.unordered(end_the_process, [1]))


def in_thread(function: Callable[[], Any], group: str) -> tuple[Thread, list[Any]]:
    """Begin a call of a group in a thread of its own; the list will hold its answer."""
    answers: list[Any] = []
    thread = Thread(target=lambda: answers.append(interruption.called(function, group)))
    thread.start()
    return thread, answers


def test_calls_in_threads_hear_ctrl_c_once_and_only_those_of_their_group():
    """The first has no partial answer, the second has one, the third is of another group."""
    begun, over = [Event() for _ in range(3)], Event()

    def until_interrupted(own: Event) -> None:
        own.set()
        while not over.is_set():
            time.sleep(0.001)

    def partial() -> str:
        with suppress(KeyboardInterrupt):
            until_interrupted(begun[1])
        return "half"

    calls = [
        in_thread(lambda: until_interrupted(begun[0]), "one"),
        in_thread(partial, "one"),
        in_thread(lambda: until_interrupted(begun[2]) or "whole", "other"),
    ]
    for event in begun:
        event.wait()
    assert interruption.interrupt("one") == 2
    assert interruption.interrupt("one") == 0
    for thread, _ in calls[:2]:
        thread.join()
    assert interruption.called(lambda: "late", "one") == interruption.STOPPED
    over.set()
    calls[2][0].join()
    assert [answers for _, answers in calls] == [[interruption.STOPPED], ["half"], ["whole"]]
    with pytest.raises(ZeroDivisionError):
        interruption.called(lambda: 1 // 0, "third")
    assert interruption.interrupt("third") == 0
