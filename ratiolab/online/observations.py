"""Facts that the simulator reveals to a policy, and when."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from ratiolab.model import Instance, IntArray, Preemption, stream
from ratiolab.model.eviction import EVICTIONS
from ratiolab.model.instance import DATES, LAW_COLUMNS, PROMISES
from ratiolab.model.promises import NO_DATE
from ratiolab.online.clock import BatchTime
from ratiolab.online.policy import Policy, Setting, Ties
from ratiolab.online.view import LEVELS, Information, InformationError, View


class Informed(Protocol):
    """A policy or a router, with its knowledge of outputs."""

    @property
    def name(self) -> str: ...
    @property
    def information(self) -> Information: ...


def setting_of(
    instance: Instance, policy: Policy, seed: int, preemption: Preemption, clock: BatchTime | None
) -> Setting:
    """Return what a policy knows before the first request of a run, ties drawn afresh."""
    outputs = instance.output.tolist() if policy.ties in ("worst", "best") else None
    ties = Ties(policy.ties or "random", stream(seed, "ties"), outputs)
    return Setting(instance.memory, ties, EVICTIONS[preemption].keeps_tokens, clock)


def required_columns(information: Information) -> tuple[str, ...]:
    """Return the columns of predictions that an instance must have for a level of information."""
    if information is Information.TRUE_LENGTH:
        return ()
    return tuple(c for c in LEVELS[information] if c in ("predicted", *LAW_COLUMNS))


class Known:
    """The columns that a policy may see on arrival, by its declared information level.

    Columns are lists, and made when they are first read: those of long runs take memory. Neither
    they nor the copies that they are made from lead to what is hidden.

    Attributes
    ----------
    memory : KV cache size M, tokens.
    columns : the names of the columns, which are attributes, too.
    order : the requests in order of arrival, if they are given.

    Raises
    ------
    ValueError
        when the policy reads predictions that the instance does not have.
    """

    def __init__(self, instance: Instance, policy: Informed, order: IntArray | None = None) -> None:
        for name in required_columns(policy.information):
            if getattr(instance, name) is None:
                who = f"policy {policy.name}" if isinstance(policy, Policy) else policy.name
                raise ValueError(
                    f"{instance.name}: {who} reads predicted lengths, "
                    f"but the instance has no column {name!r}; "
                    "--predict adds one where instances are made"
                )
        self.memory = instance.memory
        self._arrays = _observable(instance, policy.information)
        self.columns = tuple(self._arrays)
        if order is not None:
            self._arrays["order"] = np.array(order)

    def __len__(self) -> int:
        return len(self._arrays["prompt"])

    def __getattr__(self, name: str) -> list[int]:
        if name.startswith("_") or name not in self._arrays:
            raise AttributeError(f"no column {name!r} is known")
        column: list[int] = self._arrays[name].tolist()
        setattr(self, name, column)
        return column


def _observable(instance: Instance, information: Information) -> dict[str, IntArray]:
    """Return copies of the columns that a level of information allows to see on arrival."""
    everything = information is Information.TRUE_LENGTH
    levels = (c for c in LEVELS[information] if c != "signals")
    found = {}
    for name in ("prompt", *PROMISES, *levels, *["output"] * everything):
        column: IntArray | None = getattr(instance, name)
        # what every request is known to satisfy serves as interval where none is given
        if name == "upper":
            most = instance.memory - instance.prompt
            column = most if column is None else np.minimum(column, most)
        if column is not None:
            found[name] = np.array(column)
        elif name != "predicted":
            one = NO_DATE if name in DATES else 1
            found[name] = np.broadcast_to(np.int64(one), len(instance))  # takes no memory
    return found


class Revealed(dict[int, Any]):
    """Values of one column that are revealed; asking for another names policy and rule."""

    def __init__(self, column: str, owner: str) -> None:
        self.column, self.owner = column, owner

    def __missing__(self, request: int) -> int:
        raise InformationError(
            f"{self.owner}: the {self.column} of request {request} is not known now"
        )


class Observations:
    """Columns revealed to one policy in one run, and the read-only view in which it reads them.

    Parameters
    ----------
    running, waiting, paused, filling : the simulator's own; the view shows their present content.
    kept : the simulator's own, tokens from earlier runs; a request has none when it is revealed.
    """

    def __init__(
        self,
        instance: Instance,
        policy: Informed,
        running: Mapping[int, int],
        waiting: Mapping[int, None],
        paused: Mapping[int, None],
        kept: dict[int, int],
        filling: Mapping[int, int],
    ) -> None:
        told = Known(instance, policy)
        names = ("prompt", "arrival", *PROMISES, "output", *LEVELS[policy.information])
        known = {name: Revealed(name, policy.name) for name in names}
        self.output, self._kept = known["output"], kept
        self.signals: dict[int, Any] = known.get("signals", {})
        self.arrival = known["arrival"]
        self._on_arrival = [(known[name], getattr(told, name)) for name in told.columns]
        self.view = View(
            f"{policy.name} declares information {policy.information.value!r}",
            {
                "memory": instance.memory,
                "running": MappingProxyType(running),
                "waiting": waiting.keys(),
                "paused": paused.keys(),
                "generated": MappingProxyType(kept),
                "filling": MappingProxyType(filling),
                **{name: MappingProxyType(column) for name, column in known.items()},
            },
        )

    def reveal(self, request: int, now: int) -> None:
        """Reveal an arriving request, as far as the policy's level of information allows."""
        self.arrival[request], self._kept[request] = now, 0
        for known, column in self._on_arrival:
            known[request] = column[request]


class Signals:
    """The bins that the classifier of a policy names after each token.

    Each request has a random stream of its own, made of the seed of the run and its position: what
    is named depends neither on the schedule nor on what a policy asks, nor on other requests.
    """

    def __init__(self, policy: Policy, output: Sequence[int], seed: int) -> None:
        if policy.classifier is None:
            raise ValueError(
                f"policy {policy.name} reads refined predictions but has no classifier"
            )
        self._classifier = policy.classifier
        self._output, self._seed = output, seed
        self._drawn: dict[int, tuple[int, ...]] = {}

    def up_to(self, request: int, tokens: int) -> tuple[int, ...]:
        """Return the bins that the classifier named after the prompt and after each token."""
        if request not in self._drawn:
            rng = stream(self._seed, "answers", request)
            answers = self._classifier.answers(self._output[request], rng)
            self._drawn[request] = tuple(answers.tolist())
        return self._drawn[request][: tokens + 1]
