"""Errors of predictions do not follow what they predict, nor prompts, nor arrivals.

Where errors come from is tested, not what rounding and the ends of a range make of them: of an
error that is a factor, the size depends on the output, and none is drawn below one token. So the
same words and seed predict for the same requests with equal outputs (or equal laws). What differs
between their predictions is noise alone, and it must not be correlated with what was drawn before.
"""

import numpy as np
import pytest
from scipy.stats import rankdata

from ratiolab.model import Instance
from ratiolab.model.streams import Purpose, stream
from ratiolab.online.refinement.classifier import Classifier
from ratiolab.workloads import predictions
from ratiolab.workloads.generators import KINDS, generate
from ratiolab.workloads.predictions import add_predictions
from ratiolab.workloads.traces import Trace, instance_from_trace

N, SEED, SIGMAS = 20_000, 11, 5
NOISES = [
    "noisy:0.5",
    "gaussian:25",
    "ranked:0.5",
    "classified:0.65",
    "log-t:3",
    "log-normal:3",
    "log-t:3+misjudged:1",
]
WITHOUT = ["exact", "rough", "buckets:10", "overlap:0.5", "one-bit:3"]


def drawn(kind: str) -> Instance:
    """Draw many requests of a kind, which arrive one after the other if they can."""
    if kind == "jaillet-model-1":
        return generate(kind, SEED, n_least=N, n_most=N)
    if kind == "jaillet-model-2":
        return generate(kind, SEED, horizon_least=N, horizon_most=N)
    if kind.startswith("trace-"):
        return generate(kind, SEED, n=N)
    return generate(kind, SEED, n=N, rate=1.0)


def of_a_trace() -> Instance:
    """Sample requests of a trace, with Poisson arrivals."""
    rng = stream(5, "cases")
    trace = Trace("drawn", None, rng.integers(1, 99, 2 * N), rng.integers(1, 500, 2 * N))
    return instance_from_trace(
        trace, memory=1000, sample=N, seed=SEED, arrivals="poisson", rate=1.0
    )


def errors(instance: Instance, words: str) -> np.ndarray:
    """Return what the noise makes of equal outputs, shape (n,)."""
    outputs = np.full(len(instance), 500)
    equal = dict.fromkeys(("lower", "upper", "predicted", "location", "scale", "freedom"))
    if instance.location is not None:
        laws = {name: getattr(instance, name) for name in ("location", "scale", "freedom")}
        equal |= {name: np.full(len(instance), int(np.median(c))) for name, c in laws.items()}
        equal["predicted"] = outputs
    flat = instance.replace(memory=10**6, output=outputs, **equal)
    found = add_predictions(flat, words, SEED).predicted
    assert found is not None
    return found


def largest_correlation(instance: Instance, noise: np.ndarray) -> float:
    """Return the largest linear or rank correlation with a column, in standard deviations."""
    columns = [instance.prompt, instance.output, instance.arrival]
    pairs = [
        (of(column), of(noise))
        for column in columns
        if column.min() < column.max()
        for of in (np.asarray, rankdata)
    ]
    return max(abs(np.corrcoef(*pair)[0, 1]) for pair in pairs) * len(noise) ** 0.5


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "equal"])
def test_errors_of_every_prediction_are_independent_of_the_requests(kind):
    instance = drawn(kind)
    for words in NOISES:
        noise = errors(instance, words)
        assert noise.min() < noise.max()
        assert largest_correlation(instance, noise) < SIGMAS, words


def test_free_degrees_of_freedom_and_samples_of_a_trace_are_independent_too():
    assert largest_correlation(drawn("lmsys"), errors(drawn("lmsys"), "log-t-nu:2")) < SIGMAS
    sampled = of_a_trace()
    for words in NOISES:
        assert largest_correlation(sampled, errors(sampled, words)) < SIGMAS, words


def test_errors_themselves_are_independent_where_nothing_is_rounded_or_cut():
    """Relative errors of noisy and absolute ones of gaussian, for outputs amid the range."""
    instance = drawn("lmsys")
    middle = instance.take(np.flatnonzero((instance.output > 150) & (instance.output < 850)))
    told = middle.output
    noisy = add_predictions(middle, "noisy:0.5", SEED).predicted / told - 1
    assert largest_correlation(middle, noisy) < SIGMAS
    gaussian = add_predictions(middle, "gaussian:25", SEED).predicted - told
    assert largest_correlation(middle, gaussian) < SIGMAS


@pytest.mark.parametrize("words", WITHOUT)
def test_intervals_draw_nothing(words):
    instance = generate("uniform", SEED, n=50)
    one, other = (add_predictions(instance, words, seed).replace(source="") for seed in (0, 1))
    assert one == other


@pytest.mark.parametrize("purpose", ["ties", "policy", "search"])
@pytest.mark.parametrize("kind", ["lmsys", "lmsys-repeated", "heavy-tail", "log-t-laws"])
def test_draws_of_the_run_are_independent_of_the_requests(kind, purpose: Purpose):
    assert largest_correlation(drawn(kind), stream(SEED, purpose).random(N)) < SIGMAS


def test_answers_of_a_classifier_are_independent_of_the_requests():
    classifier = Classifier.spreading(10, 0.3, 512)
    instance = drawn("lmsys").take(np.arange(4000))
    told = [classifier.answers(1, stream(SEED, "answers", i))[0] for i in range(4000)]
    assert largest_correlation(instance, np.array(told)) < SIGMAS


def test_arrivals_of_repeated_lengths_are_independent_of_them_at_every_seed():
    for seed in (0, 1):
        instance = generate("lmsys-repeated", seed, n=N, rate=0.01, lengths_seed=seed)
        gaps = np.diff(instance.arrival, prepend=0)
        assert largest_correlation(instance.replace(arrival=np.zeros(N, int)), gaps) < SIGMAS


@pytest.mark.parametrize("kind", ["lmsys", "heavy-tail", "two-point", "geometric"])
def test_a_stream_that_is_shared_with_the_workload_is_caught(kind, monkeypatch):
    """Predictions that begin where the workload began, as they did in earlier versions."""
    shared = lambda seed, purpose, *which: stream(seed, "instance")  # noqa: E731
    monkeypatch.setattr(predictions, "stream", shared)
    instance = drawn(kind)
    caught = [w for w in NOISES if largest_correlation(instance, errors(instance, w)) > SIGMAS]
    assert {"noisy:0.5", "classified:0.65"} <= set(caught)
