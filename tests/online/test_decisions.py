"""Nothing illegal is carried out, and nothing runs for ever."""

import pytest
from scripted import Scripted

from ratiolab.model import Instance
from ratiolab.online import (
    NEVER,
    Decision,
    Information,
    PolicyError,
    simulate,
)

TWO = Instance("two", 6, [0, 4], [1, 1], [3, 3])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ({0: Decision(evict=[0])}, "round 0: evicts 0, which does not run"),
        ({0: Decision([0]), 1: Decision(evict=[0, 0])}, "round 1: evicts 0, which does not run"),
        ({0: Decision([1])}, "round 0: admits 1, which does not wait"),
        ({0: Decision([0, 0])}, "round 0: admits 0, which does not wait"),
        ({0: Decision([0]), 2: Decision([0])}, "round 2: admits 0, which does not wait"),
        ({0: Decision([7])}, "round 0: admits 7, which does not wait"),
        (
            {4: Decision([0, 1])},
            "round 6: 8 tokens in the next round exceed memory 6",
        ),
        ({0: Decision(wake=NEVER), 4: Decision(wake=NEVER)}, "round 4: 2 requests wait, nothing"),
        ({0: Decision(wake=1.5)}, "round 0: asks to be woken at 1.5, which is no round"),
        ({0: None}, "round 0: answers None, which is no Decision"),
    ],
)
def test_an_illegal_decision_names_policy_round_and_rule(script, message):
    with pytest.raises(PolicyError, match=f"^scripted, {message}"):
        simulate(TWO, Scripted(script))


def test_an_admission_that_overflows_at_once_is_refused():
    crowd = Instance("crowd", 6, [0] * 4, [1] * 4, [3] * 4)
    with pytest.raises(PolicyError, match="round 0: 8 tokens in the next round exceed memory 6"):
        simulate(crowd, Scripted({0: Decision([0, 1, 2, 3])}))


@pytest.mark.parametrize(
    ("information", "column"),
    [
        (Information.PREDICTION, "predicted"),
        (Information.REFINED, "predicted"),
        (Information.DISTRIBUTION, "location"),
    ],
)
def test_policies_that_read_predictions_need_their_columns(information, column):
    message = f"two: policy scripted reads predicted lengths, but the instance has no .*'{column}'"
    with pytest.raises(ValueError, match=message):
        simulate(TWO, Scripted(information=information))


def evict_and_readmit(view):
    if view.running:
        return Decision(evict=list(view.running))
    return Decision(sorted(view.waiting))


@pytest.mark.parametrize("arrival", [4, 10**9])
def test_evicting_and_readmitting_for_ever_is_reported_as_stalled(arrival):
    simulation = simulate(TWO.replace(arrival=[0, arrival]), Scripted(evict_and_readmit))
    assert simulation.outcome == "stalled"
    assert simulation.total_latency is None
    assert simulation.decisions < 20_000
    runs = list(simulation.schedule.runs)
    assert runs[:2] == [(0, 0, 1, False), (0, 2, 3, False)]
    assert not any(run.completed for run in runs)


def test_refusing_to_serve_while_asking_to_be_woken_is_stalled_too():
    simulation = simulate(TWO, Scripted(lambda view: Decision()), patience=50)
    assert (simulation.outcome, simulation.decisions) == ("stalled", 51)


def one_at_a_time(view):
    """Wants to be asked in every round."""
    return Decision([] if view.running else list(view.waiting)[:1])


def test_waiting_for_arrivals_is_not_stalling():
    late = Instance("late", 6, [5, 1000, 10**9], [1, 1, 1], [3, 3, 3])
    simulation = simulate(late, Scripted(one_at_a_time), patience=10)
    assert simulation.outcome == "complete"
    assert simulation.total_latency == 9
    # at each start and the three rounds after it, but for the last, when nobody is left
    assert simulation.decisions == 4 + 4 + 3
