"""Everything that can be known in a finite game, and what each choice of a policy leads to.

Requests are equal but for what has been seen of them, so histories with the same future merge. Of
each request a configuration says one thing: that it waits and its output is more than b, that it
runs, has g tokens and its output is more than b >= g, or that it is done with output d. An action
says how many running requests of each sort go on in the next round and, for each bound, how many
requests start: waiting requests, or requests that stop in this round and start again at once.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np

from ratiolab.game.rules import Game
from ratiolab.model.footprint import IntArray, held

MOST_CONFIGURATIONS = 400_000

WAITING, RUNNING, DONE = range(3)


class Sort(NamedTuple):
    """Knowledge of a request: its state, a bound that its output exceeds, and its tokens.

    Of a done request the bound is its output.
    """

    state: int
    bound: int
    age: int = 0


Configuration: TypeAlias = tuple[Sort, ...]
Action: TypeAlias = tuple[tuple[Sort, int], ...]
"""How many requests run in the next round, by sort; sorts without a running request are left out.

A running sort goes on. A waiting sort starts, from the requests that wait with this bound or stop
with it in this round.
"""


@dataclass(frozen=True, eq=False)
class Arena:
    """All configurations of a game with their actions and outcomes, as arrays.

    Parameters
    ----------
    configurations : the first is the start.
    unfinished : requests of each configuration that are not done, shape (configurations,).
    owner : configuration of each action, ascending.
    actions : what runs.
    first : first outcome of each action, shape (actions,).
    target, ways : configuration after each outcome, and how many choices of the requests that
        complete lead to it when requests have names.
    """

    game: Game
    configurations: tuple[Configuration, ...]
    unfinished: IntArray
    owner: IntArray
    actions: tuple[Action, ...]
    first: IntArray
    target: IntArray
    ways: IntArray

    @property
    def leaves(self) -> IntArray:
        """The configurations in which all requests are done."""
        return np.flatnonzero(self.unfinished == 0)

    def lengths(self, leaf: int) -> tuple[int, ...]:
        """Return the outputs of a configuration in which all are done."""
        return tuple(sort.bound for sort in self.configurations[leaf])

    def outcomes(self, action: int) -> range:
        """Return the outcomes of an action."""
        last = action + 1 == len(self.first)
        return range(
            int(self.first[action]), len(self.target) if last else int(self.first[action + 1])
        )


def arena(game: Game, most: int = MOST_CONFIGURATIONS) -> Arena:
    """Return all configurations that can be reached."""
    start = (Sort(WAITING, game.lower - 1),) * game.requests
    place = {start: 0}
    found = [start]
    owner: list[int] = []
    actions: list[Action] = []
    first: list[int] = []
    target: list[int] = []
    ways: list[int] = []
    at = 0
    while at < len(found):
        for action in _actions(game, found[at]):
            owner.append(at)
            actions.append(action)
            first.append(len(target))
            for following, number in _outcomes(game, found[at], action).items():
                if following not in place:
                    if len(found) == most:
                        raise MemoryError(f"{game}: more than {most:,} configurations")
                    place[following] = len(found)
                    found.append(following)
                target.append(place[following])
                ways.append(number)
        at += 1
    unfinished = np.array([sum(sort.state != DONE for sort in c) for c in found])
    columns = (np.array(column, np.int64) for column in (owner, first, target, ways))
    owners, firsts, targets, numbers = columns
    return Arena(game, tuple(found), unfinished, owners, tuple(actions), firsts, targets, numbers)


def _actions(game: Game, configuration: Configuration) -> Iterator[Action]:
    live = Counter(sort for sort in configuration if sort.state != DONE)
    running = sorted(sort for sort in live if sort.state == RUNNING)
    bounds = sorted({sort.bound for sort in live})

    def go_on(k: int, room: int, kept: Action, idle: Counter[int]) -> Iterator[Action]:
        if k == len(running):
            yield from start(0, room, kept, idle)
            return
        sort = running[k]
        tokens = held(game.prompt, sort.age + 1)
        for number in range(min(live[sort], room // tokens) + 1):
            stopped = idle + Counter({sort.bound: live[sort] - number})
            going = (*kept, (sort, number)) if number else kept
            yield from go_on(k + 1, room - number * tokens, going, stopped)

    def start(k: int, room: int, chosen: Action, idle: Counter[int]) -> Iterator[Action]:
        if k == len(bounds):
            if chosen:  # a round in which nothing runs gains nothing
                yield chosen
            return
        tokens = held(game.prompt, 1)
        for number in range(min(idle[bounds[k]], room // tokens) + 1):
            begun = (*chosen, (Sort(WAITING, bounds[k]), number)) if number else chosen
            yield from start(k + 1, room - number * tokens, begun, idle)

    waiting = Counter({s.bound: number for s, number in live.items() if s.state == WAITING})
    yield from go_on(0, game.memory, (), waiting)


def _outcomes(game: Game, configuration: Configuration, action: Action) -> Counter[Configuration]:
    runs = dict(action)
    rest: list[Sort] = [sort for sort in configuration if sort.state == DONE]
    may_end: list[tuple[Sort, int]] = []
    idle: Counter[int] = Counter()
    for sort, number in Counter(sort for sort in configuration if sort.state != DONE).items():
        idle[sort.bound] += number - (runs.get(sort, 0) if sort.state == RUNNING else 0)
    for sort, number in action:
        if sort.state == WAITING:
            idle[sort.bound] -= number
        age = sort.age + 1
        if age <= sort.bound:
            rest += [Sort(RUNNING, sort.bound, age)] * number
        else:
            may_end.append((Sort(RUNNING, age, age), number))
    rest += [Sort(WAITING, bound) for bound in idle.elements()]
    outcomes: Counter[Configuration] = Counter()
    choices = (range(n + 1) if sort.age < game.upper else (n,) for sort, n in may_end)
    for ended in product(*choices):
        number, following = 1, list(rest)
        for (sort, running), done in zip(may_end, ended, strict=True):
            number *= comb(running, done)
            following += [Sort(DONE, sort.age)] * done + [sort] * (running - done)
        outcomes[tuple(sorted(following))] += number
    return outcomes
