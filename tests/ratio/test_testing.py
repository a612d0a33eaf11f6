"""The assertions that users get must reject what breaks a law."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import pytest
from numpy.random import Generator

from ratiolab.model import Instance
from ratiolab.online import NEVER, Decision, Information, Policy, Setting, View, make
from ratiolab.testing import assert_lawful, assert_non_anticipating, assert_ratio_at_most

PAIR = Instance("pair", 6, [0, 0], [1, 1], [2, 4])


@dataclass(frozen=True)
class OneByOne(Policy):
    """First come first served, one request at a time."""

    name: ClassVar[str] = "one-by-one"
    source: ClassVar[str] = "this test"
    information: ClassVar[Information] = Information.NOTHING

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        return lambda view: Decision(
            admit=() if view.running else sorted(view.waiting)[:1], wake=NEVER
        )


@dataclass(frozen=True)
class Prophet(OneByOne):
    """Knows what it must not: the order of the true outputs, smuggled in from outside."""

    name: ClassVar[str] = "prophet"

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        outputs = SMUGGLED

        def decide(view: View) -> Decision:
            order = sorted(view.waiting, key=lambda i: outputs[i])
            return Decision(admit=() if view.running else order[:1], wake=NEVER)

        return decide


SMUGGLED: list[int] = []


@dataclass(frozen=True)
class Dice(OneByOne):
    """Draws from a generator that no seed controls."""

    name: ClassVar[str] = "dice"

    def start(self, setting: Setting, rng: Generator) -> Callable[[View], Decision]:
        COUNTER.append(0)
        first = len(COUNTER) % 2
        return lambda view: Decision(
            admit=() if view.running else sorted(view.waiting, reverse=bool(first))[:1], wake=NEVER
        )


COUNTER: list[int] = []


def test_an_honest_policy_passes():
    assert_lawful(OneByOne(), PAIR)
    assert_lawful(make("a-min"), PAIR)


def test_foresight_is_caught(monkeypatch):
    import ratiolab.testing

    genuine = ratiolab.testing.simulate

    def smuggle(instance: Instance, *rest: object, **named: object) -> object:
        SMUGGLED[:] = instance.output.tolist()
        return genuine(instance, *rest, **named)

    monkeypatch.setattr(ratiolab.testing, "simulate", smuggle)
    with pytest.raises(AssertionError, match="non-anticipation"):
        assert_non_anticipating(Prophet(), PAIR)


def test_randomness_without_a_seed_is_caught():
    with pytest.raises(AssertionError, match="reproducibility"):
        assert_lawful(Dice(), PAIR)


def test_a_ratio_that_is_too_large_is_caught():
    assert_ratio_at_most(OneByOne(), [PAIR], 2)
    with pytest.raises(AssertionError, match=r"ratio .* exceeds 1"):
        assert_ratio_at_most(OneByOne(), [PAIR], 1)
