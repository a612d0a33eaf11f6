"""Replays the certificates of finite games: the rules written a second time, with names.

Nothing is shared with the code that finds values but the rules' parameters. A state here is a
sorted tuple of (state, bound, age) for each request, as in the certificates; actions are subsets of
the requests, outcomes are subsets of those that may complete, and optima come from `solve`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import factorial
from typing import Any, TypeAlias

from ratiolab.hindsight import solve
from ratiolab.model import Instance

State: TypeAlias = tuple[tuple[int, int, int], ...]

WAITS, RUNS, IS_DONE = 0, 1, 2


class CheckError(ValueError):
    """A certificate that does not prove what it says; the message names the place."""


class Rules:
    """The game of a certificate."""

    def __init__(self, game: list[int]) -> None:
        self.requests, self.prompt, self.memory, self.lower, self.upper = game

    @property
    def start(self) -> State:
        """The state in which nothing has happened."""
        return ((WAITS, self.lower - 1, 0),) * self.requests

    def choices(self, state: State) -> Iterator[tuple[int, ...]]:
        """Yield the sets of requests that may run in the next round, one of each kind of set."""
        live = [i for i, (kind, _, _) in enumerate(state) if kind != IS_DONE]
        seen = set()
        for number in range(1, len(live) + 1):
            for chosen in combinations(live, number):
                tokens = sum(self.prompt + state[i][2] + 1 for i in chosen)
                key = tuple(state[i] for i in chosen)
                if tokens <= self.memory and key not in seen:
                    seen.add(key)
                    yield chosen

    def results(self, state: State, chosen: tuple[int, ...]) -> Counter[State]:
        """Return the states after a round, and how many sets of completing requests lead there."""
        before, can, must = [], [], []
        for i, (kind, bound, age) in enumerate(state):
            if kind == IS_DONE:
                before.append((kind, bound, age))
            elif i not in chosen:
                before.append((WAITS, bound, 0))
            elif age + 1 <= bound:
                before.append((RUNS, bound, age + 1))
            elif age + 1 == self.upper:
                must.append((IS_DONE, age + 1, 0))
            else:
                can.append(age + 1)
        reached: Counter[State] = Counter()
        for bits in range(2 ** len(can)):
            after = [
                (IS_DONE, age, 0) if bits >> k & 1 else (RUNS, age, age)
                for k, age in enumerate(can)
            ]
            reached[tuple(sorted([*before, *must, *after]))] += 1
        return reached

    @cache  # noqa: B019 - as long as the check lasts
    def optimum(self, lengths: tuple[int, ...]) -> int:
        """Return the optimum of some outputs, proven by the solver."""
        n = self.requests
        found = solve(Instance("lengths", self.memory, [0] * n, [self.prompt] * n, lengths))
        if not found.is_exact:
            raise CheckError(f"lengths {lengths}: the optimum is not proven")
        return found.lower

    def agreeing(self, state: State, lengths: tuple[int, ...]) -> int:
        """Return how many of the n! orders of the lengths agree with a state."""

        @cache
        def assign(i: int, left: tuple[int, ...]) -> int:
            if i == len(state):
                return 1
            kind, bound, _ = state[i]
            number = 0
            for k, length in enumerate(left):
                if length == bound if kind == IS_DONE else length > bound:
                    number += assign(i + 1, left[:k] + left[k + 1 :])
            return number

        return assign(0, lengths)


def unfinished(state: State) -> int:
    """Return how many requests are not done."""
    return sum(kind != IS_DONE for kind, _, _ in state)


def _state(rows: list[list[int]]) -> State:
    return tuple((kind, bound, age) for kind, bound, age in rows)


def check(certificate: Mapping[str, Any]) -> str:
    """Replay a certificate and return what it proves; `CheckError` when it does not.

    Seconds for a thousand configurations; the work grows with the subsets of the requests.
    """
    rules = Rules(certificate["game"])
    if certificate["kind"] == "deterministic":
        return _check_deterministic(rules, certificate)
    return _check_randomised(rules, certificate)


def _check_deterministic(rules: Rules, certificate: Mapping[str, Any]) -> str:
    value = Fraction(certificate["value"])
    table = {_state(rows): w for rows, w in certificate["table"]}
    if table.get(rules.start) != 0:
        raise CheckError("the start has not the value 0")
    for state, w in table.items():
        if not unfinished(state):
            lengths = tuple(bound for _, bound, _ in state)
            if w != -value.numerator * rules.optimum(lengths):
                raise CheckError(f"lengths {lengths}: {w} is not minus value times optimum")
            continue
        worst = []
        for chosen in rules.choices(state):
            after = rules.results(state, chosen)
            if not all(s in table for s in after):
                raise CheckError(f"state {state}: an outcome is missing")
            worst.append(max(table[s] for s in after))
        if w != value.denominator * unfinished(state) + min(worst):
            raise CheckError(f"state {state}: {w} is not what its actions give")
    return f"the value for policies without randomness is {value}, {len(table)} configurations"


def _check_randomised(rules: Rules, certificate: Mapping[str, Any]) -> str:
    weights = {tuple(lengths): Fraction(w) for lengths, w in certificate["weights"]}
    table = {_state(rows): Fraction(v) for rows, v in certificate["table"]}
    lower = Fraction(certificate["lower"])
    scale = factorial(rules.requests)
    if sum(weights.values()) != 1 or min(weights.values()) < 0:
        raise CheckError("the weights are no distribution")
    for state, v in table.items():
        if not unfinished(state):
            if v > 0:
                raise CheckError(f"state {state}: all is done, and {v} is above 0")
            continue
        mass = sum(w * rules.agreeing(state, lengths) for lengths, w in weights.items())
        for chosen in rules.choices(state):
            after = rules.results(state, chosen)
            if not all(s in table for s in after):
                raise CheckError(f"state {state}: an outcome is missing")
            if v > mass * unfinished(state) + sum(n * table[s] for s, n in after.items()):
                raise CheckError(f"state {state}: an action costs less than {v}")
    optimum = sum(w * rules.optimum(lengths) for lengths, w in weights.items())
    if table[rules.start] < lower * scale * optimum:
        raise CheckError(f"the weights prove less than {lower}")
    proved = f"every policy pays at least {lower} against the weights"
    if certificate["upper"] is None:
        return proved
    upper = Fraction(certificate["upper"])
    policies = [
        (Fraction(share), {_state(c): [(tuple(s), n) for s, n in a] for c, a in rows})
        for share, rows in certificate["mixture"]
    ]
    if sum(share for share, _ in policies) != 1 or min(share for share, _ in policies) < 0:
        raise CheckError("the mixture is no distribution")
    every = range(rules.lower, rules.upper + 1)
    for lengths in combinations_with_replacement(every, rules.requests):
        cost = sum(share * _cost(rules, policy, lengths) for share, policy in policies)
        if cost > upper * scale * rules.optimum(lengths):
            raise CheckError(f"lengths {lengths}: the mixture costs more than {upper}")
    return f"{proved}; the mixture of {len(policies)} policies at most {upper}"


def _cost(rules: Rules, policy: Mapping[State, Any], lengths: tuple[int, ...]) -> int:
    """Return the cost of a policy summed over all orders of some lengths."""
    known: dict[State, int] = {}

    def cost(state: State) -> int:
        if not unfinished(state):
            return 0
        if state not in known:
            if state not in policy:
                raise CheckError(f"state {state}: a policy has no action")
            free = list(range(len(state)))
            chosen = []
            for sort, number in policy[state]:
                for _ in range(number):
                    i = next((i for i in free if state[i] == sort), None)
                    if i is None:
                        raise CheckError(f"state {state}: a policy runs what is not there")
                    free.remove(i)
                    chosen.append(i)
            if sum(rules.prompt + state[i][2] + 1 for i in chosen) > rules.memory:
                raise CheckError(f"state {state}: a policy lets memory overflow")
            after = rules.results(state, tuple(chosen))
            mass = rules.agreeing(state, lengths)
            known[state] = mass * unfinished(state) + sum(n * cost(s) for s, n in after.items())
        return known[state]

    return cost(rules.start)
