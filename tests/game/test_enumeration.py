"""Values of small games again, by every move that `simulate` allows, and by policies played.

The enumeration shares nothing with the game but its parameters: requests have names, optima come
from every list of starts, and a history carries its cost, so that no value has to be iterated.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from math import factorial
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

from ratiolab.game import Deterministic, Game, check, deterministic_value, randomised_value
from ratiolab.game.configurations import DONE, RUNNING, WAITING, Arena, Sort
from ratiolab.model import Instance
from ratiolab.online import POLICIES, Decision, Information, Policy, make, simulate

WAITS, RUNS, ENDED = "waits", "runs", "ended"


def optimum(game, lengths):
    """Return the least total latency over all lists of starts."""
    best = None
    for starts in product(range(sum(lengths)), repeat=len(lengths)):
        held = Counter()
        for start, length in zip(starts, lengths, strict=True):
            for age in range(1, length + 1):
                held[start + age] += game.prompt + age
        if max(held.values()) <= game.memory:
            total = sum(starts) + sum(lengths)
            best = total if best is None else min(best, total)
    return best


def decisions(game, state):
    """Yield what may follow each decision: for each request, its tokens after the round or None.

    A running request goes on, stops, or stops and starts again; a waiting request starts or waits.
    """
    ways = {WAITS: lambda _: (None, 1), RUNS: lambda age: (age + 1, None, 1), ENDED: lambda _: (0,)}
    for after in product(*(ways[kind](age) for kind, _, age in state)):
        if sum(game.prompt + age for age in after if age) <= game.memory:
            yield after


def answers(game, state, after):
    """Yield the states that the adversary can choose from."""
    choices = []
    for one, age in zip(state, after, strict=True):
        kind, bound, _ = one
        if kind == ENDED:
            choices.append([one])
        elif age is None:
            choices.append([(WAITS, bound, 0)])
        elif age <= bound:
            choices.append([(RUNS, bound, age)])
        else:
            ends, goes_on = (ENDED, age, 0), (RUNS, age, age)
            choices.append([ends, goes_on] if age < game.upper else [ends])
    yield from product(*choices)


def value_by_enumeration(game):
    """Return the least ratio that some policy never exceeds."""
    lists = combinations_with_replacement(range(game.lower, game.upper + 1), game.requests)
    optima = {lengths: optimum(game, lengths) for lengths in lists}
    most = max(optima.values())
    costs = range(1, 2 * game.requests * game.upper * game.requests)
    ratios = sorted({Fraction(c, opt) for opt in optima.values() for c in costs if opt <= c})

    def guaranteed(ratio):
        @cache
        def wins(state, cost):
            left = sum(kind != ENDED for kind, _, _ in state)
            if not left:
                return cost <= ratio * optima[tuple(sorted(bound for _, bound, _ in state))]
            if cost + left > ratio * most:
                return False
            return any(
                all(wins(tuple(sorted(s)), cost + left) for s in answers(game, state, after))
                for after in decisions(game, state)
            )

        return wins(((WAITS, game.lower - 1, 0),) * game.requests, 0)

    low, high = 0, len(ratios) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if guaranteed(ratios[middle]) else (middle + 1, high)
    return ratios[low]


@pytest.mark.parametrize(
    ("game", "value"),
    [
        (Game(2, 1, 5, 1, 4), Fraction(4, 3)),  # 10/7 where a stopped request waits a round
        (Game(2, 0, 4, 1, 4), Fraction(11, 9)),
        (Game(2, 0, 6, 2, 5), Fraction(13, 11)),
        (Game(3, 0, 3, 1, 3), Fraction(18, 13)),
        (Game(3, 1, 4, 1, 3), Fraction(3, 2)),
        (Game(3, 1, 6, 2, 4), Fraction(17, 11)),
    ],
)
def test_the_value_is_that_of_all_moves_of_the_simulator_tried(game, value):
    assert deterministic_value(game).value == value_by_enumeration(game) == value


def bound_by_enumeration(game, multisets):
    """Return the best ratio that weights of some multisets prove, by one linear program.

    Its variables are the weights, and the least cost from each state on: no decision costs less.
    """
    start = ((WAITS, game.lower - 1, 0),) * game.requests
    place, states, rows = {start: 0}, [start], []
    for state in states:
        for after in decisions(game, state) if any(s[0] != ENDED for s in state) else ():
            following = list(answers(game, state, after))
            for one in following:
                if one not in place:
                    place[one] = len(states)
                    states.append(one)
            rows.append((state, following))

    def agreeing(state, lengths):
        return sum(
            all(
                o == b if kind == ENDED else o > b
                for o, (kind, b, _) in zip(order, state, strict=True)
            )
            for order in permutations(lengths)
        )

    n = len(states)
    matrix = lil_matrix((len(rows), n + len(multisets)))
    for row, (state, following) in enumerate(rows):
        if state not in following:  # else the row says that a cost is not below 0
            matrix[row, place[state]] = 1
        for one in following:
            if one != state:
                matrix[row, place[one]] = -1
        left = sum(kind != ENDED for kind, _, _ in state)
        for k, lengths in enumerate(multisets):
            matrix[row, n + k] = -left * agreeing(state, lengths)
    optima = [factorial(game.requests) * optimum(game, lengths) for lengths in multisets]
    ended = [all(kind == ENDED for kind, _, _ in state) for state in states]
    found = linprog(
        -np.eye(1, n + len(multisets))[0],
        A_ub=matrix.tocsr(),
        b_ub=np.zeros(len(rows)),
        A_eq=np.array([[0] * n + optima]),
        b_eq=[1],
        bounds=[(None, 0 if end else None) for end in ended] + [(0, None)] * len(multisets),
    )
    return -found.fun


@pytest.mark.parametrize(
    ("game", "multisets", "bound"),
    [
        (Game(2, 1, 5, 1, 4), [(1, 2)], 1),
        (Game(2, 1, 5, 1, 4), [(1, 4)], 1),
        (Game(2, 1, 5, 1, 4), [(1, 1)], 1),
        (Game(2, 1, 5, 1, 4), [(2, 4)], Fraction(8, 7)),
        (Game(2, 1, 5, 1, 4), [(1, 2), (3, 3), (3, 4), (1, 2)], Fraction(21, 20)),
        (Game(3, 1, 4, 1, 3), [(1, 2, 3), (3, 3, 3)], Fraction(7, 6)),
    ],
)
def test_a_bound_by_a_few_multisets_is_that_of_all_moves_tried(game, multisets, bound):
    found = randomised_value(game, multisets=multisets)
    assert (found.lower, found.upper) == (bound, None)
    assert sum(found.weights.values()) == 1
    assert bound_by_enumeration(game, list(dict.fromkeys(multisets))) == pytest.approx(float(bound))
    assert f"at least {bound} " in check(found.to_dict())


@dataclass(frozen=True)
class Played(Policy):
    """A policy of a game: what runs in each configuration."""

    board: Arena
    choice: Any

    name: ClassVar[str] = "played"
    information: ClassVar[Information] = Information.LOWER_BOUND

    def start(self, setting, rng):
        bounds: dict[int, int] = {}

        def decide(view):
            for i in view.arrived:
                bounds[i] = view.lower[i] - 1
            sorts = {i: Sort(WAITING, bounds[i]) for i in view.waiting}
            for i, start in view.running.items():
                age = view.now - start
                bounds[i] = max(bounds[i], age)
                sorts[i] = Sort(RUNNING, bounds[i], age)
            ended = [Sort(DONE, view.output[i]) for i in view.arrival if i not in sorts]
            configuration = tuple(sorted([*sorts.values(), *ended]))
            chosen = self.board.actions[self.choice[self.board.configurations.index(configuration)]]
            stopped, admitted = [], []
            on = Counter({sort: number for sort, number in chosen if sort.state == RUNNING})
            for i in view.running:
                if not on[sorts[i]]:
                    stopped.append(i)
                on[sorts[i]] -= on[sorts[i]] > 0
            for sort, number in chosen:
                if sort.state == WAITING:
                    idle = [*view.waiting, *stopped]
                    fit = [i for i in idle if bounds[i] == sort.bound and i not in admitted]
                    admitted += fit[:number]
            return Decision(admitted, stopped)

        return decide


def cost_of(policy, game, lengths, seed=0):
    """Return the total latency of a policy, and None when it never ends."""
    n = game.requests
    equal = ([value] * n for value in (game.lower, game.upper, game.upper))
    instance = Instance(
        "play", game.memory, [0] * n, [game.prompt] * n, lengths,
        **dict(zip(("lower", "upper", "predicted"), equal, strict=True)),
    )  # fmt: skip
    run = simulate(instance, policy, seed=seed, patience=500)
    return run.total_latency if run.outcome == "complete" else None


def labelled(game):
    return product(range(game.lower, game.upper + 1), repeat=game.requests)


@pytest.mark.parametrize("game", [Game(2, 1, 5, 1, 4), Game(3, 0, 3, 1, 3), Game(3, 1, 5, 1, 4)])
def test_the_simulator_runs_the_best_policy_and_its_worst_ratio_is_the_value(game):
    found: Deterministic = deterministic_value(game)
    board = found.arena
    choice = {int(c): found.best_action(int(c)) for c in set(board.owner)}
    worst = max(
        Fraction(cost_of(Played(board, choice), game, o), game.optima[tuple(sorted(o))])
        for o in labelled(game)
    )
    assert worst == found.value


def test_the_simulator_runs_the_mixture_and_no_lengths_cost_more_than_the_value():
    game = Game(2, 1, 5, 1, 4)
    found = randomised_value(game)
    mixture = [(share, Played(found.arena, policy)) for share, policy in found.mixture]
    for lengths in game.lengths:
        orders = list(permutations(lengths))
        cost = sum(share * cost_of(one, game, o) for share, one in mixture for o in orders)
        assert cost <= found.upper * game.optima[lengths] * len(orders)


def uninformed():
    """Return the policies that know no more than the interval, as the instances of a game tell it.

    Equal predictions say nothing. Ties by the true lengths and runs that overflow are no moves.
    """
    told = (Information.NOTHING, Information.LOWER_BOUND, Information.INTERVAL)
    known = [make(key) for key in POLICIES]
    return [
        policy
        for policy in known
        if policy.information in (*told, Information.PREDICTION)
        and policy.ties not in ("worst", "best")
        and not policy.may_overflow
        and "restart" in policy.semantics
    ]


@pytest.mark.parametrize("game", [Game(2, 1, 5, 1, 4), Game(3, 0, 3, 1, 3)], ids=str)
@pytest.mark.parametrize("policy", uninformed(), ids=lambda policy: policy.name)
def test_no_policy_of_the_registry_is_below_the_value(game, policy):
    deterministic, mixed = values(game)
    for seed in range(3 if policy.uses_randomness else 1):
        # with its random numbers fixed a policy is one without randomness
        costs = {o: cost_of(policy, game, o, seed) for o in labelled(game)}
        if None in costs.values():
            continue  # it never ends: its ratio has no bound
        worst = max(Fraction(c, game.optima[tuple(sorted(o))]) for o, c in costs.items())
        assert worst >= deterministic.value
        expected = sum(
            weight * sum(costs[o] for o in permutations(lengths)) / factorial(game.requests)
            for lengths, weight in mixed.weights.items()
        )
        optima = sum(weight * game.optima[lengths] for lengths, weight in mixed.weights.items())
        assert expected >= mixed.lower * optima


@cache
def values(game):
    return deterministic_value(game), randomised_value(game)
