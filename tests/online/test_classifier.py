"""What a classifier tells and when, and the compiled filter against the one in fractions."""

from fractions import Fraction

import numpy as np
import pytest
from scripted import SECRET, Scripted

from ratiolab.model import Instance
from ratiolab.online import Decision, Information, InformationError, make, simulate
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


def signals_seen(instance, decide, seed=3):
    """What a run has told of each request, by request and number of answers, at every question."""
    told = {}

    def spy(view, setting, rng):
        for i, start in view.running.items():
            tokens = view.generated[i] + view.now - start
            if tokens:
                assert len(view.signals[i]) == tokens + 1, "one for the prompt and for each token"
                told[i] = tuple(view.signals[i])
            else:
                with pytest.raises(InformationError, match=f"signals of request {i} is not known"):
                    view.signals[i]

    policy = Scripted(decide, information=Information.REFINED, spy=spy)
    simulate(instance, policy, seed=seed, preemption="recompute")
    return told


def in_turns(view):
    """Somebody else in every third round, asked in every round."""
    if view.running and view.now % 3:
        return Decision()
    running = list(view.running)
    return Decision(sorted(set(view.waiting) - set(running))[:1], running if view.waiting else [])


def test_a_classifier_answers_alike_whatever_the_schedule_and_whenever_it_is_asked():
    instance = Instance("three", 400, [0, 2, 2], [5, 6, 7], [300, 200, 100], predicted=[9] * 3)
    often = signals_seen(instance, in_turns)
    rarely = signals_seen(instance, None)  # asked at arrivals and completions only
    assert set(often) == {0, 1, 2}
    assert rarely
    for i, answers in rarely.items():
        assert often[i][: len(answers)] == answers[: len(often[i])]
    other = signals_seen(instance, in_turns, seed=4)
    assert other[0] != often[0], "another seed, another classifier's luck"


def test_a_classifier_says_of_a_length_what_its_bin_allows_and_no_more():
    """Two outputs in one bin: whoever sees the answers cannot tell them apart."""
    base = Instance("one", 4000, [0], [5], [1900], predicted=[9])
    short, long = base, base.replace(output=[2000])
    told = [signals_seen(one, lambda view: Decision(list(view.waiting))) for one in (short, long)]
    # bins of 512: the last one as long as 1537 or more remain, in both for 1900 - 1536 tokens
    common = 1900 - 1536 + 1
    assert told[0][0][:common] == told[1][0][:common]
    assert told[0][0][:1000] != told[1][0][:1000]


def test_refined_predictions_need_a_classifier():
    policy = Scripted(information=Information.REFINED)
    policy.classifier = None
    with pytest.raises(ValueError, match="policy scripted reads refined predictions but has no"):
        simulate(SECRET, policy)
