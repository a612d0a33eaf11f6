"""Nothing hidden can be reached, nothing illegal is carried out, nothing runs for ever."""

import gc
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numpy as np
import pytest
from scripted import SECRET, Scripted

from ratiolab.model import Instance
from ratiolab.online import NEVER, Decision, Information, InformationError, PolicyError, simulate
from ratiolab.online.observations import Known

PREDICTIONS = ("lower", "upper", "predicted", "location", "scale", "freedom")


def reachable(*roots):
    """Every object that a policy can walk to without importing, calling or reading source."""
    seen, stack = {}, list(roots)
    while stack:
        one = stack.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | CodeType):
            continue
        seen[id(one)] = one
        if isinstance(one, FunctionType):  # not its globals: they are the module
            stack += [one.__closure__, one.__defaults__, one.__kwdefaults__, one.__dict__]
        elif isinstance(one, BuiltinFunctionType):
            stack.append(one.__self__)
        else:
            stack += gc.get_referents(one)
    return list(seen.values())


def numbers(objects):
    """All whole numbers among the objects or inside their arrays."""
    found = set()
    for one in objects:
        if isinstance(one, np.ndarray) and one.dtype.kind in "iu":
            found |= set(one.reshape(-1).tolist())
        elif isinstance(one, int | float | np.number) and one == one // 1:
            found.add(int(one))
    return found


def leaks(instance, information, ties="index"):
    """(round, fact) of everything hidden that can be reached in some round of a run."""
    found = []

    def spy(view, setting, rng):
        visible = numbers(reachable(view, setting, rng))
        for i, (arrival, prompt, output) in enumerate(instance.requests):
            secrets = {}
            if arrival > view.now:
                secrets = {"arrival": arrival, "prompt": prompt, "output": output}
                for column in PREDICTIONS:
                    secrets[column] = int(getattr(instance, column)[i])
            elif i in view.waiting or i in view.running:
                secrets = {"output": output}
                if i in view.running:
                    secrets["completion"] = view.running[i] + output
            found.extend((view.now, i, fact) for fact, secret in secrets.items()
                         if secret in visible)  # fmt: skip

    simulation = simulate(instance, Scripted(information=information, spy=spy, ties=ties))
    assert simulation.decisions == 5, "at both later arrivals and both earlier completions, too"
    return found


@pytest.mark.parametrize("ties", ["random", "index"])
@pytest.mark.parametrize(
    "information", [level for level in Information if level is not Information.TRUE_LENGTH]
)
def test_no_output_of_an_unfinished_request_and_nothing_of_the_future_is_reachable(
    information, ties
):
    assert leaks(SECRET, information, ties) == []


@pytest.mark.parametrize("information", list(Information))
def test_no_output_is_reachable_from_what_a_compiled_rule_is_made_of(information):
    known = Known(SECRET, Scripted(information=information), np.argsort(SECRET.arrival))
    read = [getattr(known, name) for name in known.columns]
    outputs = set(SECRET.output.tolist())
    found = outputs & numbers(reachable(known, read))
    assert found == (outputs if information is Information.TRUE_LENGTH else set())


def test_at_the_level_of_true_lengths_only_the_future_is_hidden():
    found = leaks(SECRET, Information.TRUE_LENGTH)
    assert {fact for _, _, fact in found} == {"output"}
    assert all(SECRET.arrival[i] <= now for now, i, _ in found)


def test_the_walk_finds_the_lengths_that_worst_ties_keep_by_name():
    assert {fact for _, _, fact in leaks(SECRET, Information.NOTHING, "worst")} == {"output"}


ALLOWED = {
    Information.NOTHING: set(),
    Information.LOWER_BOUND: {"lower"},
    Information.INTERVAL: {"lower", "upper"},
    Information.PREDICTION: {"predicted"},
    Information.DISTRIBUTION: {"location", "scale", "freedom"},
    Information.REFINED: {"predicted"},
    Information.TRUE_LENGTH: {"lower", "upper", "predicted"},
}


@pytest.mark.parametrize("information", list(Information))
def test_what_was_not_declared_may_not_be_read(information):
    def spy(view, setting, rng):
        for column in PREDICTIONS:
            if column in ALLOWED[information]:
                assert getattr(view, column)[0] == getattr(SECRET, column)[0]
            else:
                message = f"scripted declares information '{information.value}'.*{column}"
                with pytest.raises(InformationError, match=message):
                    getattr(view, column)

        if information is not Information.REFINED:
            with pytest.raises(InformationError, match="it may not read 'signals'"):
                view.signals  # noqa: B018

    simulate(SECRET, Scripted(information=information, spy=spy))


@pytest.mark.parametrize("information", list(Information))
def test_an_output_is_known_on_completion_or_to_those_who_declare_it_on_arrival(information):
    def spy(view, setting, rng):
        for i, (arrival, _, output) in enumerate(SECRET.requests):
            arrived = arrival <= view.now
            finished = arrived and i not in view.waiting and i not in view.running
            if finished or (arrived and information is Information.TRUE_LENGTH):
                assert view.output[i] == output
            else:
                with pytest.raises(InformationError, match=f"scripted: the output of request {i}"):
                    view.output[i]

    simulate(SECRET, Scripted(information=information, spy=spy))


def test_requests_that_have_not_arrived_are_unknown():
    def spy(view, setting, rng):
        known = [i for i in range(3) if SECRET.arrival[i] <= view.now]
        assert list(view.prompt) == list(view.arrival) == known
        for i in set(range(3)) - set(known):
            with pytest.raises(InformationError, match=f"the prompt of request {i} is not known"):
                view.prompt[i]
            assert i not in view.waiting

    simulate(SECRET, Scripted(spy=spy))


def vandalise(view):
    """Try whatever might change what a view shows, or the run; return the errors."""
    attempts = [
        *(lambda name=name: setattr(view, name, 0) for name in dir(type(view))),
        *(lambda name=name: delattr(view, name) for name in dir(type(view))),
        lambda: setattr(view, "outputs", [1]),
        lambda: view.running.__setitem__(0, 1),
        lambda: view.running.clear(),
        lambda: view.prompt.__setitem__(0, 1),
        lambda: view.output.update({0: 1}),
        lambda: view.generated.pop(0),
        lambda: view.waiting.clear(),
        lambda: view.waiting.discard(0),
        lambda: view.waiting.mapping.clear(),
        lambda: view.arrived.append(0),
        lambda: view.completed.clear(),
        lambda: view.signals[0].append(0),
        lambda: view.signals[0].clear(),
    ]
    errors = []
    for attempt in attempts:
        with pytest.raises((AttributeError, TypeError, InformationError)) as caught:
            attempt()
        errors.append(str(caught.value))
    return errors


@pytest.mark.parametrize("information", list(Information))
def test_a_view_cannot_be_written_and_no_attempt_changes_a_run(information):
    errors = []
    vandal = Scripted(
        information=information, spy=lambda view, *rest: errors.extend(vandalise(view))
    )
    quiet = Scripted(information=information)
    runs = [list(simulate(SECRET, policy).schedule.runs) for policy in (vandal, quiet)]
    assert runs[0] == runs[1]
    assert "a view is read-only: 'now' cannot be set" in errors
    assert "a view is read-only: '_refusal' cannot be deleted" in errors


def test_what_is_no_policy_is_refused_in_one_line():
    class Duck:
        name, information = "duck", Information.NOTHING

        def start(self, setting, rng):
            return lambda view: Decision()

    with pytest.raises(
        ValueError, match=r"^policy <.*Duck.*> must be a key, .* or an instance of a subclass of"
    ):
        simulate(SECRET, Duck())


PAIR = Instance("pair", 9, [0, 0], [1, 1], [3, 3])
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
        ({0: Decision([0.0])}, r"round 0: admits \[0.0\], which is no sequence of integers"),
        ({0: Decision(None)}, "round 0: admits None, which is no sequence of integers"),
        ({0: Decision([[0]])}, r"round 0: admits \[\[0\]\], which is no sequence of integers"),
        ({0: Decision(evict=3)}, "round 0: evicts 3, which is no sequence of integers"),
        ({0: Decision(drop=["0"])}, r"round 0: drops \['0'\], which is no sequence of integers"),
    ],
)
def test_an_illegal_decision_names_policy_round_and_rule(script, message):
    with pytest.raises(PolicyError, match=f"^scripted, {message}"):
        simulate(TWO, Scripted(script), preemption="pause")


@pytest.mark.parametrize("preemption", ["restart", "recompute"])
def test_the_live_sets_of_a_view_are_decisions(preemption):
    def swap(view):
        return Decision(view.waiting, view.running)

    with pytest.raises(PolicyError, match="round 4: 8 tokens in the next round exceed memory 6"):
        simulate(Instance("late", 6, [0, 4, 4, 4], [1] * 4, [5] * 4), Scripted(swap))
    together = simulate(PAIR, Scripted(lambda view: Decision(view.waiting)), preemption=preemption)
    assert together.schedule.starts.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"information": "nothing"}, "information 'nothing' must be a member of Information"),
        ({"ties": "Worst"}, "ties 'Worst' must be one of random, worst, best, index, or None"),
        ({"budget": 2.5}, "budget 2.5 must be an integer"),
        ({"budget": True}, "budget True must be an integer"),
        ({"budget": -1}, "budget -1 must be at least 0"),
    ],
)
def test_a_wrong_attribute_is_refused_before_a_run(stated, message):
    policy = type("Stating", (Scripted,), stated)()
    vars(policy).update(stated)
    with pytest.raises(ValueError, match=f"^policy scripted: {message}"):
        simulate(TWO, policy)


def test_a_start_that_returns_no_function_is_named():
    policy = Scripted()
    policy.start = lambda setting, rng: None
    with pytest.raises(PolicyError, match=r"^scripted: start returns None, which is no function"):
        simulate(TWO, policy)


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
