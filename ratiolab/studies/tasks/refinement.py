"""How far off TRAIL's predictions of remaining lengths are: initial, classified, and filtered."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ratiolab.model import Instance, IntArray, stream
from ratiolab.online.refinement.classifier import Classifier
from ratiolab.studies.cell import Cell, Row
from ratiolab.theory.laws.bin_filter import middles, transition, transition_as_printed
from ratiolab.theory.laws.confusion import FloatArray, bin_of

BINS, LONGEST = 10, 512
"""Values of the paper."""


def prediction_errors(cell: Cell) -> list[Row]:
    """Return one row: what `mean_errors` says of the first requests."""
    spread, *lasting = (cell.option(name) for name in ("spread", "correlation", "changes"))
    classifier = Classifier.spreading(BINS, spread, LONGEST, *lasting)
    first = cell.instance()
    first = first.take(np.arange(min(cell.option("requests"), len(first))))
    figures = mean_errors(first, classifier, stream(cell.seed, "answers"))
    return [{name: float(f"{value:.9g}") for name, value in figures.items()}]


def mean_errors(
    instance: Instance, classifier: Classifier, rng: np.random.Generator
) -> dict[str, float]:
    """Return mean absolute errors (tokens) of the remaining length before each token, and more.

    ``initial_error`` is that of the instance's prediction less the tokens so far, at least 0;
    ``classified_error`` that of each answer alone; ``filtered_error`` and ``printed_error`` those
    of the two filters of `ratiolab.online.policies.trail`, here over all requests at once.
    ``changed_mind`` is the share of answers that differ from the last one in the same true bin.

    Cost O(tokens bins^2).
    """
    if instance.predicted is None:
        raise ValueError(f"{instance.name}: predicted is missing, the errors are about it")
    order = np.argsort(-instance.output, kind="stable")
    output, predicted = instance.output[order], instance.predicted[order]
    answers = [classifier.answers(length, rng) for length in output.tolist()]
    width = Fraction(classifier.longest, classifier.bins)
    down, up = (
        np.array(matrix(classifier.bins, width), dtype=np.float64)
        for matrix in (transition, transition_as_printed)
    )
    middle = np.array(middles(classifier.bins, width), dtype=np.float64)
    named = classifier.confusion.T / np.maximum(classifier.confusion.T.sum(1, keepdims=True), 1e-12)
    filtered = printed = np.empty((0, classifier.bins))
    sums = np.zeros(4)
    for t in range(int(output[0])):
        count = int((output > t).sum())  # longest first: who still runs stands in front
        says = named[[a[t] for a in answers[:count]]]
        if t == 0:
            filtered = printed = prior = says
        else:
            filtered = _posterior(filtered[:count] @ down.T, says)
            prior = printed[:count] @ up.T
            prior /= prior.sum(axis=1, keepdims=True)  # it loses the mass of those that end
            printed = prior
        left = output[:count] - t
        told = (
            np.maximum(predicted[:count] - t, 0),
            says @ middle,
            filtered @ middle,
            _posterior(prior, says) @ middle if t else says @ middle,
        )
        sums += [np.abs(value - left).sum() for value in told]
    names = ("initial_error", "classified_error", "filtered_error", "printed_error")
    found = dict(zip(names, (sums / output.sum()).tolist(), strict=True))
    return found | {"changed_mind": _changed(classifier, output.tolist(), answers)}


def _changed(classifier: Classifier, outputs: Sequence[int], answers: Sequence[IntArray]) -> float:
    same = changed = 0
    for output, named in zip(outputs, answers, strict=True):
        true = bin_of(output - np.arange(output), classifier.bins, classifier.width)
        stays = true[1:] == true[:-1]
        same += int(stays.sum())
        changed += int((stays & (named[1:] != named[:-1])).sum())
    return changed / same if same else float("nan")


def _posterior(prior: FloatArray, says: FloatArray) -> FloatArray:
    """Bayes' rule row by row; where the prior excludes an answer, the answer alone."""
    joint = prior * says
    mass = joint.sum(axis=1, keepdims=True)
    posterior: FloatArray = np.where(mass > 0, joint / np.where(mass > 0, mass, 1), says)
    return posterior
