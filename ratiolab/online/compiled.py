"""Long runs of policies with a rule, compiled: account and rule on arrays, in one loop.

The compiled source is the source that shorter runs execute. Compiling takes some seconds, once:
the result is kept beside the source.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from ratiolab.machine_code import careful, compiles
from ratiolab.model import Instance, IntArray, Preemption
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.streams import stream
from ratiolab.online import account
from ratiolab.online.account import LEFT, MEMORY, NOW, RUNNING, STOP, TIME, WAITING, Account
from ratiolab.online.accounts import Ended, opened
from ratiolab.online.clock import BatchTime
from ratiolab.online.observations import Known, setting_of
from ratiolab.online.policy import Policy
from ratiolab.online.rules import Seen
from ratiolab.online.view import NEVER

LATEST = 2**62 - 1
"""Picoseconds, 53 days: times beyond them are left to Python, whose integers have no limit."""

COMPLETE, STALLED, BROKEN, LATE = range(4)
"""How a compiled run ends; after the last two, Python serves anew."""


def serve_compiled(
    instance: Instance,
    policy: Policy,
    seed: int,
    preemption: Preemption,
    clock: BatchTime | None,
    patience: int,
    *,
    anew: bool = True,
) -> Ended | None:
    """Return a run of a policy, compiled.

    None for a policy without a rule or from outside the package, which may have changed what a rule
    is about; under ``pause``, and where the same states may come back for ever; where times might
    not fit 64 bits, or nothing is compiled; or when the rule does what a simulation refuses: then
    Python says what.

    Parameters
    ----------
    anew : whether the loop is compiled if it is not kept on disk; else the answer is None then.
    """
    own = type(policy).__module__.startswith("ratiolab.")
    loops = policy.may_loop and not EVICTIONS[preemption].keeps_tokens
    if not own or loops or policy.may_overflow or EVICTIONS[preemption].stays:
        return None
    if not compiles() or (clock is not None and not _fits(instance, clock, policy.budget)):
        return None
    n = len(instance)
    make = OnArrays(n)
    s = opened(instance, preemption, policy.budget, clock, make)
    setting = setting_of(instance, policy, seed, preemption, clock)
    known = Known(instance, policy, s.order)
    rule = policy.rule(setting, known, stream(seed, "policy"))
    if rule is None:
        return None
    key = make.copied([-1] * n if rule.key is None else rule.key)
    length = None if rule.length is None else make.copied(rule.length)
    arrival = np.full(n, -1)
    decide, own = rule.decide, rule.remember(make)
    del rule, known  # their long lists are not kept during the run
    state = s, own, make.column(), arrival, key, length, patience
    found = _compiled(decide, state, anew)
    if found is None or found[0] >= BROKEN:
        return None
    outcome, decisions, runs, stretches = found
    kept = {"v": s.v, "due": s.due, "runs": runs, "released": runs[:, 2]}
    empty: dict[str, Any] = dict.fromkeys(Account._fields, ())  # the rest may go from memory
    ended = Account(**empty | kept | {"stretches": stretches})
    delivered = np.where(arrival < 0, s.v[NOW], arrival)
    return Ended(ended, "complete" if outcome == COMPLETE else "stalled", decisions, delivered)


class OnArrays:
    """Containers for compiled code, for a number of requests."""

    def __init__(self, number: int) -> None:
        self._number = number

    def column(self) -> IntArray:
        """Return a value for each request."""
        return np.zeros(self._number, np.int64)

    def reals(self) -> Any:
        """Return a real number for each request."""
        return np.zeros(self._number)

    def copied(self, values: Any) -> IntArray:
        """Return the values of all requests."""
        return np.array(values, dtype=np.int64)

    def scalars(self, number: int) -> IntArray:
        """Return some numbers, all 0."""
        return np.zeros(number, np.int64)

    def heap(self, width: int, *, real: bool = False) -> Any:
        """Return an empty list, or heap, of tuples of ``width`` numbers; or of single ones."""
        return Rows(width, real)


class Rows(list[Any]):
    """An empty list that tells compiled code what its own list, begun there, is to hold.

    Python sees no entry of that list: access to lists that both can see takes several times longer.

    Parameters
    ----------
    width : width of the tuples of numbers; 1 for single numbers.
    real : whether these are real numbers, else whole ones.
    """

    def __init__(self, width: int, real: bool) -> None:
        super().__init__()
        self.width, self.real = width, real


def _fits(instance: Instance, clock: BatchTime, budget: int) -> bool:
    """Return whether no time of a run leaves 64 bits: the arrivals, and a step from any of them."""
    step = longest_step(instance, clock, budget)
    return max(clock.arrivals(instance)) <= LATEST and step <= LATEST


def longest_step(instance: Instance, clock: BatchTime, budget: int) -> int:
    """Return an upper bound on the picoseconds between two decisions while requests run.

    A step ends with the run of a request, or with the chunks of a prompt that nothing else delays.
    Its first batch alone prefills prompts without chunks, and moves tokens, out of memory and into
    it. Each batch reads the tokens in memory at most twice: its own, and those before chunks.
    """
    fixed, prefill, decode, kv, swap = clock.whole
    tokens = min(instance.memory, int((instance.prompt + instance.output).sum()))
    requests = min(instance.memory, len(instance))
    chunks = int(instance.prompt.max()) + int(instance.output.max())  # tokens may be made again
    batches = int(instance.output.max()) + (chunks // budget if budget else 0)
    first = (prefill + 2 * swap) * tokens
    return first + batches * (fixed + prefill * budget + decode * requests + 2 * kv * tokens)


def _serving(decide: Callable[[Any, Any], int]) -> Callable[..., tuple[Any, ...]]:
    """Return the loop that serves all requests by a rule.

    The loop returns the outcome, the number of decisions, and the runs and the stretches of rounds
    as tables.
    """

    def serve(
        s: Account,
        own: Any,
        prompt: IntArray,
        arrival: IntArray,
        key: IntArray,
        length: IntArray | None,
        patience: int,
    ) -> tuple[int, int, IntArray, IntArray]:
        # the rule sees `prompt`, and key and length in `own`, of requests that have arrived
        last, decisions = s.v[NOW], 0
        while True:
            account.begin(s)
            now = s.v[NOW]
            if len(s.completed):
                last = now
            if s.v[LEFT] == 0 or s.v[STOP] or now - last > patience:
                outcome = STALLED if s.v[LEFT] else COMPLETE
                break
            for i in s.arrived:
                prompt[i], arrival[i] = s.prompt[i], now
                own.key[i] = now if key[i] < 0 else key[i]
                if length is not None:
                    own.length[i] = length[i]
            unfilled = 0
            for i in s.filling:
                unfilled += s.left[i]
            tokens = account.running_tokens(s, now + 1)
            facts = prompt, s.kept, s.start
            seen = Seen(
                now, s.v[MEMORY], tokens, s.arrived, s.completed, *facts, s.filling, unfilled
            )
            wake = decide(seen, own)
            decisions += 1
            for i in own.evict:
                account.evict(s, i)
            for i in own.admit:
                account.admit(s, i)
            outcome = BROKEN
            if account.tokens_next(s) > s.v[MEMORY]:
                break
            account.begin_batch(s)
            following = account.next_event(s, wake)
            if following >= NEVER:
                break
            if s.v[RUNNING] == 0 and s.v[WAITING] == 0:
                last = following  # there was no request to serve
            account.advance(s, following)
            if s.v[TIME] > LATEST:
                outcome = LATE
                break
        return outcome, decisions, _table(s.runs), _table(s.stretches)

    return serve


def _table(rows: Any) -> IntArray:
    """Return a list of rows of five numbers as an array; the list shrinks while the array fills."""
    table = np.empty((len(rows), 5), np.int64)
    while len(rows):
        row, k = rows.pop(), len(rows)
        for c in range(5):
            table[k, c] = row[c]
    return table


def _compiled(
    decide: Callable[[Any, Any], int], state: tuple[Any, ...], anew: bool
) -> tuple[Any, ...] | None:
    """Return what the compiled loop of a rule returns; None where it would have to be compiled.

    It runs in a thread, so that Ctrl-C is heard meanwhile.

    Parameters
    ----------
    anew : whether it may be compiled.
    """
    from numba import typeof

    loop = _loop(decide)
    kinds = tuple(map(typeof, state))
    if not (anew or loop.is_kept(kinds)):
        return None
    compiled = loop.compile(kinds)
    with ThreadPoolExecutor(1) as thread:
        run = thread.submit(compiled, *state)
        try:
            return run.result()  # type: ignore[no-any-return]
        except KeyboardInterrupt:
            state[0].v[STOP] = 1
            raise


@cache
def _loop(decide: Callable[[Any, Any], int]) -> Any:
    """Return the loop of a rule for the compiler."""
    from numba import types
    from numba.extending import typeof_impl

    kinds: Any = types

    @typeof_impl.register(Rows)
    def type_of(rows: Rows, _: Any) -> Any:
        one = kinds.float64 if rows.real else kinds.int64
        return kinds.List(kinds.UniTuple(one, rows.width) if rows.width > 1 else one)

    return careful(_serving(decide))
