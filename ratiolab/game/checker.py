"""Replays the certificates of finite games: the rules written a second time, with names.

Nothing is shared with the code that finds values but the rules' parameters. A state here is a
sorted tuple of (state, bound, age) for each request, as in the certificates; actions are subsets of
the requests, outcomes are subsets of the requests that may complete, and optima come from `solve`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import comb, factorial, lcm
from typing import Any, TypeAlias

from ratiolab.hindsight import solve
from ratiolab.model import Instance

State: TypeAlias = tuple[tuple[int, int, int], ...]
Runs: TypeAlias = dict[int, int]
"""The requests that run in a round, and the tokens that each has generated at its end."""

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

    def choices(self, state: State) -> Iterator[Runs]:
        """Yield what may run in the next round, one of each kind of set.

        A running request rests, goes on, or starts again; a waiting request rests or starts.
        """
        alike: dict[tuple[int, int, int], list[int]] = {}
        for i, one in enumerate(state):
            if one[0] != IS_DONE:
                alike.setdefault(one, []).append(i)
        splits = []
        for (kind, _, age), group in alike.items():
            most = len(group) if kind == RUNS else 0
            splits.append(
                [
                    [(i, age + 1) for i in group[:on]] + [(i, 1) for i in group[on : on + again]]
                    for on in range(most + 1)
                    for again in range(len(group) - on + 1)
                ]
            )
        for parts in product(*splits):
            chosen = dict(pair for part in parts for pair in part)
            if chosen and self.tokens(chosen) <= self.memory:
                yield chosen

    def tokens(self, chosen: Runs) -> int:
        """Return the tokens in memory at the end of a round."""
        return sum(self.prompt + age for age in chosen.values())

    def results(self, state: State, chosen: Runs) -> Counter[State]:
        """Return the states after a round, and how many sets of completing requests lead there."""
        before: list[tuple[int, int, int]] = []
        can: Counter[int] = Counter()
        for i, (kind, bound, age) in enumerate(state):
            if kind == IS_DONE:
                before.append((kind, bound, age))
            elif i not in chosen:
                before.append((WAITS, bound, 0))
            elif chosen[i] <= bound:
                before.append((RUNS, bound, chosen[i]))
            elif chosen[i] == self.upper:
                before.append((IS_DONE, chosen[i], 0))
            else:
                can[chosen[i]] += 1
        reached: Counter[State] = Counter()
        for ending in product(*(range(number + 1) for number in can.values())):
            after, ways = list(before), 1
            for (age, number), done in zip(can.items(), ending, strict=True):
                after += [(IS_DONE, age, 0)] * done + [(RUNS, age, age)] * (number - done)
                ways *= comb(number, done)
            reached[tuple(sorted(after))] += ways
        return reached

    @cache  # noqa: B019 - as long as the check lasts
    def optimum(self, lengths: tuple[int, ...]) -> int:
        """Return the optimum of some outputs, proven by the solver."""
        n = self.requests
        found = solve(Instance("lengths", self.memory, [0] * n, [self.prompt] * n, lengths))
        if not found.is_exact:
            raise CheckError(f"lengths {lengths}: the optimum is not proven")
        return found.lower

    @cache  # noqa: B019 - as long as the check lasts
    def agreeing(self, state: State, lengths: tuple[int, ...]) -> int:
        """Return how many of the n! orders of the lengths agree with a state.

        Done requests take one of the lengths that are theirs; then those with the largest bound
        choose first, so that all others may have what they leave.
        """
        left, number = Counter(lengths), 1
        for kind, bound, _ in state:
            if kind == IS_DONE:
                number *= left[bound]
                left[bound] -= 1
        bounds = sorted((bound for kind, bound, _ in state if kind != IS_DONE), reverse=True)
        for taken, bound in enumerate(bounds):
            free = sum(count for length, count in left.items() if length > bound)
            number *= max(0, free - taken)
        return max(0, number)


def unfinished(state: State) -> int:
    """Return how many requests are not done."""
    return sum(kind != IS_DONE for kind, _, _ in state)


def _state(rows: list[list[int]]) -> State:
    return tuple((kind, bound, age) for kind, bound, age in rows)


def check(certificate: Mapping[str, Any]) -> str:
    """Replay a certificate and return what it proves; `CheckError` when it does not.

    Seconds for a thousand configurations with few kinds of requests in each.
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
    fractions = {_state(rows): Fraction(v) for rows, v in certificate["table"]}
    lower = Fraction(certificate["lower"])
    scale = factorial(rules.requests)
    if sum(weights.values()) != 1 or min(weights.values()) < 0:
        raise CheckError("the weights are no distribution")
    # all in integers, multiples of one over the common denominator
    common = lcm(*(w.denominator for w in [*weights.values(), *fractions.values()]))
    table = {state: int(v * common) for state, v in fractions.items()}
    shares = {lengths: int(w * common) for lengths, w in weights.items()}
    for state, v in table.items():
        if not unfinished(state):
            if v > 0:
                raise CheckError(f"state {state}: all is done, and {v}/{common} is above 0")
            continue
        waiting = unfinished(state) * sum(
            w * rules.agreeing(state, lengths) for lengths, w in shares.items()
        )
        for chosen in rules.choices(state):
            after = rules.results(state, chosen)
            if not all(s in table for s in after):
                raise CheckError(f"state {state}: an outcome is missing")
            if v > waiting + sum(n * table[s] for s, n in after.items()):
                raise CheckError(f"state {state}: an action costs less than {v}/{common}")
    optimum = sum(w * rules.optimum(lengths) for lengths, w in weights.items())
    if fractions[rules.start] < lower * scale * optimum:
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
    drawn = list(combinations_with_replacement(every, rules.requests))
    costs = [(share, _costs(rules, policy, drawn)) for share, policy in policies]
    for k, lengths in enumerate(drawn):
        if sum(share * cost[k] for share, cost in costs) > upper * scale * rules.optimum(lengths):
            raise CheckError(f"lengths {lengths}: the mixture costs more than {upper}")
    return f"{proved}; the mixture of {len(policies)} policies at most {upper}"


def _costs(
    rules: Rules, policy: Mapping[State, Any], drawn: Sequence[tuple[int, ...]]
) -> list[int]:
    """Return the cost of a policy for each list of lengths, summed over all their orders."""
    known: dict[State, list[int]] = {}

    def cost(state: State) -> list[int]:
        if not unfinished(state):
            return [0] * len(drawn)
        if state not in known:
            if state not in policy:
                raise CheckError(f"state {state}: a policy has no action")
            chosen = _chosen(state, policy[state])
            if rules.tokens(chosen) > rules.memory:
                raise CheckError(f"state {state}: a policy lets memory overflow")
            waiting = unfinished(state)
            total = [waiting * rules.agreeing(state, lengths) for lengths in drawn]
            for after, ways in rules.results(state, chosen).items():
                total = [x + ways * y for x, y in zip(total, cost(after), strict=True)]
            known[state] = total
        return known[state]

    return cost(rules.start)


def _chosen(state: State, action: Sequence[tuple[tuple[int, ...], int]]) -> Runs:
    """Return what runs by an action of a policy.

    A sort that runs goes on. A sort that waits starts; requests that stop may start, too.
    """
    free = [i for i, (kind, _, _) in enumerate(state) if kind != IS_DONE]
    chosen: Runs = {}
    for sort, number in sorted(action, reverse=True):  # what goes on, then what starts
        goes_on = sort[0] == RUNS
        fit = [i for i in free if (state[i] == sort if goes_on else state[i][1] == sort[1])]
        if not 0 < number <= len(fit):
            raise CheckError(f"state {state}: a policy runs what is not there")
        for i in fit[:number]:
            free.remove(i)
            chosen[i] = sort[2] + 1 if goes_on else 1
    return chosen
