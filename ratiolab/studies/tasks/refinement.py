"""How far off TRAIL's predictions of remaining lengths are: initial, classified, and filtered."""

from fractions import Fraction

import numpy as np

from ratiolab.model import Instance
from ratiolab.model.streams import stream
from ratiolab.online.classifier import Classifier
from ratiolab.studies.cell import Cell, Row
from ratiolab.theory.laws.bin_filter import middles, transition, transition_as_printed
from ratiolab.theory.laws.confusion import FloatArray

BINS, LONGEST = 10, 512
"""Those of the paper."""


def prediction_errors(cell: Cell) -> list[Row]:
    """Return one row: mean absolute errors over all tokens of the first requests."""
    classifier = Classifier.spreading(BINS, cell.option("spread"), LONGEST)
    first = cell.instance()
    first = first.take(np.arange(min(cell.option("requests"), len(first))))
    errors = mean_errors(first, classifier, stream(cell.seed, "answers"))
    return [{name: float(f"{value:.9g}") for name, value in errors.items()}]


def mean_errors(
    instance: Instance, classifier: Classifier, rng: np.random.Generator
) -> dict[str, float]:
    """Return the mean absolute error of the remaining length before each token, in tokens.

    ``initial_error`` is that of the instance's prediction less the tokens so far, at least 0;
    ``classified_error`` that of each answer alone; ``filtered_error`` and ``printed_error`` those
    of the two filters of `ratiolab.online.policies.trail`, here over all requests at once.

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
    return dict(zip(names, (sums / output.sum()).tolist(), strict=True))


def _posterior(prior: FloatArray, says: FloatArray) -> FloatArray:
    """Bayes' rule row by row; where the prior excludes an answer, the answer alone."""
    joint = prior * says
    mass = joint.sum(axis=1, keepdims=True)
    posterior: FloatArray = np.where(mass > 0, joint / np.where(mass > 0, mass, 1), says)
    return posterior
