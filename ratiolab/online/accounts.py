"""Accounts opened from instances, and closed as schedules and times."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ratiolab.model import Instance, IntArray, Preemption, Schedule
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.instance import PICOSECONDS
from ratiolab.online import account
from ratiolab.online.account import Account
from ratiolab.online.clock import BatchTime
from ratiolab.online.rules import Containers
from ratiolab.online.view import NEVER


class Ended(NamedTuple):
    """A run that has ended: its account, how, the decisions, and when requests were delivered."""

    account: Account
    outcome: Literal["complete", "stalled", "looping"]
    decisions: int
    delivered: Sequence[int] | IntArray


def opened(
    instance: Instance,
    preemption: Preemption,
    budget: int,
    clock: BatchTime | None,
    make: Containers,
) -> Account:
    """Return the account of a run before its first round.

    Parameters
    ----------
    preemption : what an eviction costs.
    budget : most tokens of a batch, 0 for no limit.
    clock : how long a batch takes; None for unit rounds.
    make : makes columns and lists, for Python or for compiled code.
    """
    n = len(instance)
    order = np.argsort(instance.arrival, kind="stable")
    due = instance.arrival if clock is None else clock.arrivals(instance)
    first = int(due[order[0]])
    v = make.scalars(account.SCALARS)
    v[account.LEFT], v[account.MEMORY], v[account.BUDGET] = n, instance.memory, budget
    for name, place in account.EVICTED.items():
        v[place] = getattr(EVICTIONS[preemption], name)
    v[account.CHUNK_OF], v[account.CHUNK_UNTIL] = -1, NEVER
    v[account.TIME if clock else account.NOW] = first
    if clock is not None:
        v[account.CLOCKED] = 1
        for place, coefficient in enumerate(clock.whole, account.FIXED):
            v[place] = coefficient
    zeros, none = np.zeros(n, np.int64), np.full(n, -1)
    columns = (order, due, instance.prompt, instance.output, zeros, zeros, *[none] * 4)
    return Account(v, *map(make.copied, columns), *map(make.heap, (3, 1, 1, 1, 1, 1, 5, 1, 5)))


def schedule_of(s: Account, instance: Instance, preemption: Preemption) -> Schedule:
    """Return the runs that have ended, as a schedule of an instance."""
    runs = np.asarray(s.runs, dtype=np.int64).reshape(-1, 5)
    request, start, stop, lead, unfilled = runs.T
    return Schedule(instance, request, start, stop, preemption, s.released, lead, unfilled)


def boundaries(s: Account) -> NDArray[np.float64]:
    """Return the seconds at which all rounds up to the present one begin, shape (rounds + 1,)."""
    table = np.array(s.stretches, dtype=np.float64).reshape(-1, 5)
    table[:, 1:] /= PICOSECONDS
    rounds = np.arange(s.v[account.NOW] + 1)
    lengths = np.diff(table[:, 0], append=len(rounds)).astype(np.int64)
    began, time, first, second, growth = (np.repeat(column, lengths) for column in table.T)
    m = rounds - began - 1
    passed = first + m * second + growth * (m * (m - 1) / 2)
    times: NDArray[np.float64] = time + np.where(m < 0, 0.0, passed)
    return times
