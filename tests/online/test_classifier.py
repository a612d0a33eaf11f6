"""Answers as often as the matrix says, and the compiled filter against the one in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.online.policies.trail import Refined
from ratiolab.online.refinement.classifier import Classifier
from ratiolab.theory.laws.bin_filter import (
    bayes_filter,
    filter_as_printed,
    mean_length,
    normalised,
    transition,
    transition_as_printed,
)
from ratiolab.theory.laws.confusion import bin_of


def test_answers_follow_the_row_of_the_true_bin():
    confusion = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    classifier = Classifier(confusion, longest=30)
    # 35 tokens: 35..20 remain for the first 16 answers (bin 2, also beyond 30), then 19..10, 9..1
    spans = {2: slice(0, 16), 1: slice(16, 26), 0: slice(26, 35)}
    told = np.array([classifier.answers(35, np.random.default_rng(s)) for s in range(3000)])
    assert told.shape == (3000, 35)
    for true, span in spans.items():
        answers = told[:, span]
        shares = [np.mean(answers == bin_) for bin_ in range(3)]
        np.testing.assert_allclose(shares, confusion[true], atol=0.02)  # deviation 0.003
        assert (answers[:, 0] != answers[:, 1]).any(), "each token has a draw of its own"


LASTING = [(0.9, 1.0), (0.0, 0.2), (0.7, 0.5), (1.0, 1.0), (0.0, 0.0)]


@pytest.mark.parametrize(("correlation", "changes"), LASTING)
def test_errors_that_last_are_as_frequent_as_errors_that_do_not(correlation, changes):
    classifier = Classifier.spreading(3, 0.5, 60, correlation, changes)
    told = np.array([classifier.answers(60, np.random.default_rng(s)) for s in range(4000)])
    for true, tokens in ((2, (0, 7, 20)), (1, (21, 40)), (0, (41, 59))):
        for token in tokens:
            shares = [np.mean(told[:, token] == bin_) for bin_ in range(3)]
            # five standard deviations of a share
            np.testing.assert_allclose(shares, classifier.confusion[true], atol=0.04)


@pytest.mark.parametrize(("correlation", "changes"), LASTING)
def test_what_is_said_of_the_first_tokens_knows_nothing_of_how_many_follow(correlation, changes):
    classifier = Classifier.spreading(4, 0.5, 40, correlation, changes)
    short, long = (classifier.answers(n, np.random.default_rng(3)).tolist() for n in (70, 90))
    assert short[: 70 - 30] == long[: 70 - 30], "both are beyond the last bin"


def mind_changing_rate(classifier, outputs, rng):
    """The share of tokens whose answer differs from the last one in the same true bin."""
    same = changed = 0
    for output in outputs:
        true = bin_of(output - np.arange(output), classifier.bins, classifier.width)
        stays = true[1:] == true[:-1]
        answers = classifier.answers(output, rng)
        same += int(stays.sum())
        changed += int((stays & (answers[1:] != answers[:-1])).sum())
    return changed / same


def test_errors_of_neighbours_are_as_correlated_as_asked_for():
    """Two bins that are told apart by the sign of the process: P(change) = arccos(rho) / pi."""
    outputs = [400] * 100
    for rho in (0.0, 0.5, 0.9, 0.99):
        coin = Classifier.spreading(2, 1.0, 2, rho)
        rate = mind_changing_rate(coin, outputs, np.random.default_rng(1))
        assert rate == pytest.approx(np.arccos(rho) / np.pi, abs=0.01)
    for changes in (1.0, 0.4, 0.1):
        coin = Classifier.spreading(2, 1.0, 2, 0.0, changes)
        rate = mind_changing_rate(coin, outputs, np.random.default_rng(1))
        assert rate == pytest.approx(changes / 2, abs=0.01)
    never = coin.spreading(2, 1.0, 2, 1.0)
    assert mind_changing_rate(never, [9, 50], np.random.default_rng(1)) == 0


def test_a_classifier_that_is_never_wrong_counts_the_bins_down():
    classifier = Classifier.spreading(bins=4, spread=0.0, longest=8)
    assert classifier.answers(10, np.random.default_rng(0)).tolist() == [3] * 5 + [2, 2, 1, 1, 0]


def told(answers, corrected, bins, spread, longest, at_once):
    """Expected remaining length after each of so many tokens, by the compiled filter."""
    refined = Refined(Classifier.spreading(bins, spread, longest), corrected=corrected)

    class View:
        running = {7: 0}  # noqa: RUF012
        signals = {7: answers[:2]}  # noqa: RUF012

    found = []
    for tokens in range(1, len(answers)):
        View.signals[7] = answers[: tokens + 1]
        if not at_once or tokens == len(answers) - 1:
            refined.update(View)
            found.append(refined.remaining(7))
    return found


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize(("bins", "spread", "longest"), [(4, 0.4, 12), (10, 0.2, 512), (1, 1, 9)])
def test_the_compiled_filter_is_the_filter_in_fractions(corrected, bins, spread, longest):
    classifier = Classifier.spreading(bins, spread, longest)
    answers = classifier.answers(longest // 2, np.random.default_rng(5)).tolist()[:60]
    width = Fraction(longest, bins)
    columns = [[Fraction(float(p)) for p in row] for row in classifier.confusion.T]
    outputs = [normalised(columns[answer]) for answer in answers]
    if corrected:
        estimates = bayes_filter(outputs, transition(bins, width))
    else:
        estimates = filter_as_printed(outputs, transition_as_printed(bins, width))
    expected = [float(mean_length(estimate, width)) for estimate in estimates]
    one_by_one = told(answers, corrected, bins, spread, longest, at_once=False)
    np.testing.assert_allclose(one_by_one, expected[1:], rtol=1e-9)
    assert told(answers, corrected, bins, spread, longest, at_once=True) == one_by_one[-1:]


def test_an_answer_that_the_filter_excludes_stands_alone():
    # Never wrong, the printed filter moves upwards and soon excludes every answer.
    estimates = told([2, 2, 1, 1, 0, 0], False, 3, 0.0, 6, at_once=False)
    assert estimates == pytest.approx([5, 3, 3, 1, 1])  # middles of the bins that are named


def test_refined_predictions_are_better_than_the_classifier_alone_and_than_the_printed_filter():
    """Mean absolute errors of what TRAIL ranks by, over lengths up to 512 and all tokens."""
    classifier = Classifier.spreading(10, 0.4, 512)
    rng = np.random.default_rng(1)
    errors = {"alone": [], True: [], False: []}
    for _ in range(12):
        output = int(rng.integers(60, 512))
        answers = classifier.answers(output, rng).tolist()
        remaining = output - np.arange(1, output)
        weights = classifier.confusion.T / classifier.confusion.sum(axis=0)[:, None]
        alone = weights @ (51.2 * (np.arange(10) + 0.5))
        errors["alone"] += np.abs(alone[answers[1:]] - remaining).tolist()
        for corrected in (True, False):
            found = told(answers, corrected, 10, 0.4, 512, at_once=False)
            errors[corrected] += np.abs(np.array(found) - remaining).tolist()
    mean = {kind: np.mean(values) for kind, values in errors.items()}
    assert mean[True] < 0.6 * mean["alone"]
    assert mean[True] < 0.6 * mean[False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bins": 0}, "policy trail: bins 0 must be between 1 and 1000"),
        ({"spread": 1.5}, "policy trail: spread 1.5 must be between 0 and 1"),
        ({"longest": 9}, "policy trail: longest 9 must be at least a token for each bin"),
        ({"c": 2}, "policy trail: c 2.0 must be between 0 and 1"),
        ({"correlation": -0.1}, "policy trail: correlation -0.1 must be between 0 and 1"),
        ({"changes": 2}, "policy trail: changes 2.0 must be between 0 and 1"),
    ],
)
def test_bad_classifiers_and_limits_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make("trail", options)


@pytest.mark.parametrize("key", ["srpt", "sprpt", "trail"])
def test_remaining_lengths_need_tokens_that_are_kept(key):
    instance = Instance("one", 9, [0], [1], [2], predicted=[2])
    with pytest.raises(ValueError, match=f"policy {key}: preemption 'restart' must be one of"):
        simulate(instance, make(key), preemption="restart")


def test_a_request_past_its_limit_is_not_preempted_and_before_it_is():
    """Memory 12: request 0 (s = 1, o = 10, predicted 10) and at round 6 request 1 (s = 4, o = 1).

    At round 6 request 0 has 6 tokens and 4 to go; it would hold 1 + 7 beside 4 + 1 > 12. With C = 1
    it may be preempted until it has 10; with C = 0.6 until it has 6: too late.
    """
    instance = Instance("two", 12, [0, 6], [1, 4], [10, 1], predicted=[10, 1])

    def runs(c):
        schedule = simulate(instance, make("sprpt", {"c": c})).schedule
        return [(run.request, run.start, run.stop) for run in schedule.runs]

    assert runs(1) == [(0, 0, 6), (1, 6, 7), (0, 7, 11)]
    assert runs(0.6) == [(0, 0, 10), (1, 10, 11)]
    assert runs(0.7) == runs(1)


def test_the_refined_remaining_length_decides_and_not_the_first_prediction():
    """Request 0 of 40 tokens is predicted at 12; request 1, s = 32, of 9 tokens comes at round 5.

    Together they hold 9 + 35 = 44 tokens at round 8, all there is. By predictions request 0 has 4
    to go and request 1 has 6; a classifier that is never wrong has seen that it is 32 and 6.
    """
    instance = Instance("two", 44, [0, 5], [1, 32], [40, 9], predicted=[12, 9])

    def runs(policy):
        schedule = simulate(instance, policy).schedule
        return [(run.request, run.start, run.stop) for run in schedule.runs]

    assert runs(make("sprpt")) == [(0, 0, 40), (1, 5, 8), (1, 40, 46)]
    refined = make("trail", {"bins": 44, "longest": 44, "spread": 0, "c": 1})
    assert runs(refined) == [(0, 0, 8), (1, 5, 14), (0, 14, 46)]
