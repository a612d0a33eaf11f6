"""What a classifier tells a policy, and when."""

import pytest
from scripted import SECRET, Scripted

from ratiolab.model import Instance
from ratiolab.online import (
    Decision,
    Information,
    InformationError,
    simulate,
)


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
