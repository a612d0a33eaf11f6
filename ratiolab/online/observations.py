"""What the simulator keeps to itself, and when a policy is told of it."""

from collections.abc import Sequence

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.instance import LAW_COLUMNS
from ratiolab.online.classifier import Classifier
from ratiolab.online.view import Information, Policy, View


def required_columns(information: Information) -> tuple[str, ...]:
    """Columns of predictions without which an instance is of no use to a level of information."""
    return {
        Information.PREDICTION: ("predicted",),
        Information.REFINED: ("predicted",),
        Information.DISTRIBUTION: LAW_COLUMNS,
    }.get(information, ())


def observable_columns(instance: Instance, policy: Policy) -> dict[str, Sequence[int]]:
    """What may be revealed on arrival; lengths only to those who declare to know them.

    Raises
    ------
    ValueError
        when the policy reads predictions that the instance has not.
    """
    columns: dict[str, Sequence[int]] = {
        "prompt": instance.prompt.tolist(),
        "arrival": instance.arrival.tolist(),
        # what every request is known to satisfy serves as interval where none is given
        "lower": [1] * len(instance) if instance.lower is None else instance.lower.tolist(),
        "upper": (
            instance.memory - instance.prompt
            if instance.upper is None
            else np.minimum(instance.upper, instance.memory - instance.prompt)
        ).tolist(),
    }
    for name in ("predicted", *LAW_COLUMNS):
        column = getattr(instance, name)
        if column is not None:
            columns[name] = column.tolist()
        elif name in required_columns(policy.information):
            raise ValueError(
                f"{instance.name}: policy {policy.name} reads predicted lengths, "
                f"but the instance has no column {name!r}"
            )
    if policy.information is Information.TRUE_LENGTH:
        columns["output"] = instance.output.tolist()
    return columns


class Answers:
    """What the classifier of a policy names after each token, drawn when a request first runs.

    Each request has a random stream of its own, made of the seed of the run and its position: what
    is named depends neither on the schedule nor on what a policy asks, nor on other requests.
    """

    def __init__(self, policy: Policy, output: Sequence[int], seed: int) -> None:
        classifier = getattr(policy, "classifier", None)
        if classifier is None:
            raise ValueError(
                f"policy {policy.name} reads refined predictions but has no classifier"
            )
        self._classifier: Classifier = classifier
        self._output, self._seed = output, seed
        self._drawn: dict[int, list[int]] = {}

    def tell(self, view: View) -> None:
        """Show what was named for each running request up to its last token."""
        told = view._known["signals"]
        for i, start in view._running.items():
            if i not in self._drawn:
                rng = np.random.default_rng([self._seed, i])
                self._drawn[i] = self._classifier.answers(self._output[i], rng).tolist()
                told[i] = []
            tokens = view._generated[i] + view.now - start
            told[i] += self._drawn[i][len(told[i]) : tokens + 1]
