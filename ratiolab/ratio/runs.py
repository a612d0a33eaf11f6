"""Runs of several policies, each with as many seeds as it needs, wherever they are simulated."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ratiolab.executors import Executor
from ratiolab.model import Instance, Preemption
from ratiolab.online import Policy, Simulation, simulate
from ratiolab.online.clock import BatchTime


class Work(NamedTuple):
    """One simulation: the place of the policy among all, and the seed."""

    number: int
    seed: int


def simulated(
    executor: Executor,
    instance: Instance,
    policies: Sequence[Policy],
    seeds: range,
    *,
    preemption: Preemption | None = None,
    clock: BatchTime | None = None,
) -> Iterator[tuple[int, list[Simulation]]]:
    """Yield the place of each policy with its runs, in the order of the seeds, when all are there.

    A policy that uses no randomness runs with the first seed alone.
    """
    waiting = {
        number: [Work(number, seed) for seed in (seeds if policy.uses_randomness else seeds[:1])]
        for number, policy in enumerate(policies)
    }
    ran: dict[Work, Simulation] = {}
    works = [work for own in waiting.values() for work in own]
    shared = instance, policies, preemption, clock
    for work, run in executor.unordered(_simulate, works, *shared):
        ran[work] = run
        if all(each in ran for each in waiting[work.number]):
            yield work.number, [ran.pop(each) for each in waiting.pop(work.number)]


def _simulate(
    work: Work,
    instance: Instance,
    policies: Sequence[Policy],
    preemption: Preemption | None,
    clock: BatchTime | None,
) -> Simulation:
    policy = policies[work.number]
    return simulate(instance, policy, seed=work.seed, preemption=preemption, clock=clock)
