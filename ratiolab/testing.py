"""Assertions and hypothesis strategies for policies, also for user policies.

The laws that every policy must obey, each as an assertion that names what broke it. A policy
may be given by its key:

>>> from ratiolab.model import Instance
>>> from ratiolab.online import make
>>> assert_lawful(make("mc-sf"), Instance("two", 5, [0, 1], [1, 1], [2, 3]))

The strategies need the ``test`` extra (hypothesis).
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ratiolab.model import Instance, Schedule, violations
from ratiolab.online import Information, Policy, simulate
from ratiolab.online.registry import as_policy

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["assert_lawful", "assert_non_anticipating", "assert_ratio_at_most", "instances"]


def assert_lawful(policy: Policy | str, instance: Instance, seed: int = 0) -> None:
    """Assert that a policy ends, keeps the model's rules, repeats itself, and does not foresee.

    Raises
    ------
    AssertionError
        naming the law: completion, feasibility, reproducibility or non-anticipation.
    """
    policy = as_policy(policy)
    run = simulate(instance, policy, seed=seed)
    assert run.outcome == "complete", f"completion: {policy} stalls on {instance}"
    broken = violations(run.schedule)
    assert not broken, f"feasibility: {policy} on {instance}: {broken[0]}"
    again = simulate(instance, policy, seed=seed)
    assert _runs(run.schedule) == _runs(again.schedule), f"reproducibility: {policy}, {instance}"
    assert_non_anticipating(policy, instance, seed)


def assert_non_anticipating(policy: Policy | str, instance: Instance, seed: int = 0) -> None:
    """Assert that changing an output length changes no decision before the length is known.

    A policy knows a length from arrival on at level ``true length``, else from the first completion
    of the request in either run. Every request is tried with its shortest and longest length that
    memory and its prediction interval allow. Exempt by definition are tie-breaks ``worst`` and
    ``best``, and refined predictions: a classifier looks at the length.
    """
    policy = as_policy(policy)
    if policy.ties in ("worst", "best") or policy.information is Information.REFINED:
        return
    first = simulate(instance, policy, seed=seed).schedule
    for i in range(len(instance)):
        for output in _other_lengths(instance, i):
            outputs = instance.output.copy()
            outputs[i] = output
            second = simulate(instance.replace(output=outputs), policy, seed=seed).schedule
            if policy.information is Information.TRUE_LENGTH:
                known = int(instance.arrival[i])
            else:
                known = int(min(first.completion[i], second.completion[i]))
            assert _decisions(first, known) == _decisions(second, known), (
                f"non-anticipation: {policy} decides differently before round {known} when "
                f"request {i} of {instance} has output {output}"
            )


def assert_ratio_at_most(
    policy: Policy | str, instances: Iterable[Instance], bound: Fraction | float, *, runs: int = 10
) -> None:
    """Assert a mean total latency of at most `bound` times the optimum on every instance.

    The optimum's proven lower bound is used, so a pass is a proof for these instances and seeds.
    """
    from ratiolab.ratio import compare

    for instance in instances:
        ratio = compare(instance, [policy], runs=runs).uninterrupted().rows[0].ratio
        assert ratio is not None, f"{policy} stalls on {instance}"
        assert ratio.high <= bound, f"{policy} on {instance}: ratio {ratio} exceeds {bound}"


def instances(
    max_requests: int = 6,
    max_memory: int = 14,
    *,
    arrivals: bool = True,
    equal_prompts: bool = False,
    predictions: bool = True,
) -> "SearchStrategy[Instance]":
    """Return a hypothesis strategy for small instances whose requests compete for memory.

    Parameters
    ----------
    max_requests, max_memory : sizes; small enough for brute force by default.
    arrivals : whether requests may arrive after round 0.
    equal_prompts : whether all prompts are the same.
    predictions : whether lower, upper and predicted columns are drawn too.
    """
    from hypothesis import strategies as st

    @st.composite
    def draw_instance(draw: "st.DrawFn") -> Instance:
        memory = draw(st.integers(2, max_memory))
        count = draw(st.integers(1, max_requests))
        prompt_of = st.integers(0, memory - 1)
        prompts = [draw(prompt_of)] * count if equal_prompts else draw(_lists(prompt_of, count))
        outputs = [draw(st.integers(1, memory - s)) for s in prompts]
        late = draw(_lists(st.integers(0, 2 * memory if arrivals else 0), count))
        columns: dict[str, Any] = {}
        if predictions:
            columns["lower"] = [draw(st.integers(1, o)) for o in outputs]
            columns["upper"] = [draw(st.integers(o, memory)) for o in outputs]
            columns["predicted"] = draw(_lists(st.integers(1, memory), count))
        return Instance("drawn", memory, late, prompts, outputs, **columns)

    def _lists(values: "SearchStrategy[int]", count: int) -> "SearchStrategy[list[int]]":
        return st.lists(values, min_size=count, max_size=count)

    return draw_instance()


def _other_lengths(instance: Instance, i: int) -> list[int]:
    room = instance.memory - int(instance.prompt[i])
    low = 1 if instance.lower is None else int(instance.lower[i])
    high = room if instance.upper is None else min(room, int(instance.upper[i]))
    return [length for length in {low, high} if length != instance.output[i]]


def _runs(schedule: Schedule) -> list[tuple[int, ...]]:
    return [tuple(run) for run in schedule.runs]


def _decisions(schedule: Schedule, before: int) -> set[tuple[str, int, int]]:
    """Return the starts and evictions of a schedule in the rounds before one."""
    starts = schedule.start < before
    stops = ~schedule.completes & (schedule.stop < before)
    pairs = [
        (word, schedule.request[chosen], time[chosen])
        for word, time, chosen in (
            ("start", schedule.start, starts),
            ("evict", schedule.stop, stops),
        )
    ]
    return {
        (word, int(i), int(t))
        for word, requests, rounds in pairs
        for i, t in zip(requests, rounds, strict=True)
    }
