"""The pages on round robin: every statement has a verdict, and figures obey what is proved."""

from itertools import combinations_with_replacement, permutations, product

import pandas as pd
import pytest
from quick_cells import quick_store

from ratiolab.hindsight import solve
from ratiolab.papers import experiments, read_witness
from ratiolab.papers.experiment import Experiment, page_text
from ratiolab.papers.gogineni2024.claims import sjf_optimal as claim
from ratiolab.papers.gogineni2024.experiments.noise_and_rates import POLICY, SETTING
from ratiolab.papers.gogineni2024.experiments.slices import QUANTUM
from ratiolab.papers.gogineni2024.round_robin import Service, cost_bound, serve
from ratiolab.studies.run import run_study

GOGINENI2024 = experiments()["gogineni2024"]
GOGINENI2024_SLICES = experiments()["gogineni2024-slices"]


def table_of(experiment: Experiment, factory: pytest.TempPathFactory) -> pd.DataFrame:
    store = quick_store(factory.mktemp("quick"), factory, experiment.name)
    return run_study(experiment.study(quick=True), store, workers=1)


@pytest.fixture(scope="module")
def frame(tmp_path_factory):
    return table_of(GOGINENI2024, tmp_path_factory)


@pytest.fixture(scope="module")
def slices(tmp_path_factory):
    return table_of(GOGINENI2024_SLICES, tmp_path_factory)


def verdicts(text: str) -> list[str]:
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| Fig", "| Sec"))]
    return [row[3] for row in rows]


@pytest.mark.studies
def test_the_page_on_policies_has_a_verdict_on_every_statement(frame, tmp_path):
    text = page_text(GOGINENI2024, frame, tmp_path, quick=False)
    found = verdicts(text)
    assert len(found) == 17
    assert set(found) <= {"holds", "not reproduced", "undecided"}
    assert "nan" not in text
    assert {p.name for p in tmp_path.iterdir()} == {
        f"gogineni2024-{what}.png" for what in ("burst", "noise", "rate")
    }
    slow = frame.copy()  # FCFS so fast that nothing can be far below it
    slow.loc[slow[POLICY] == "fcfs", ["median_ttft", "p100_ttft"]] /= 100
    assert verdicts(page_text(GOGINENI2024, slow, tmp_path, quick=False)) != found


@pytest.mark.studies
def test_the_page_on_slices_has_a_verdict_on_every_statement(slices, tmp_path):
    text = page_text(GOGINENI2024_SLICES, slices, tmp_path, quick=False)
    found = verdicts(text)
    assert len(found) == 7
    assert found[0] == "holds"
    assert "nan" not in text
    turned = slices.copy()  # the longest slice for the shortest
    turned[QUANTUM] = 205 - turned[QUANTUM]
    other = page_text(GOGINENI2024_SLICES, turned, tmp_path, quick=False)
    assert verdicts(other)[0] == "not reproduced"


@pytest.mark.studies
def test_without_preemption_or_a_limit_nothing_is_prefilled_twice(frame):
    prompts = frame["requests"] * frame["workload.prompt"]
    kept = frame[POLICY].isin(["fcfs", "sjf", "rr-sjf, swap"])
    assert (frame.loc[kept, "prefill_tokens"] == prompts[kept]).all()
    again = frame.loc[frame[POLICY] == "rr-sjf", "prefill_tokens"] - prompts
    assert (again.dropna() > 0).any()


@pytest.mark.studies
def test_no_run_in_unit_rounds_is_below_the_optima_of_servers(slices):
    rounds = slices[(slices["clock"] == "unit") & (slices[SETTING] == "burst")]
    best = rounds[rounds[POLICY] == "sjf"].groupby("instance")["total_latency"].first()
    assert (rounds["total_latency"] >= rounds["instance"].map(best)).all()
    n, batch = 240, 64
    assert (rounds["mean_ttft"] >= sum(k // batch + 1 for k in range(n)) / n).all()
    # preempting costs nothing there
    pairs = rounds.pivot_table(
        index=["seed", POLICY, QUANTUM], columns="preempted_as", values="total_latency"
    )
    pairs = pairs.dropna()
    assert len(pairs) > 10
    assert (pairs["recompute"] == pairs["swap"]).all()


SMALL = [lengths for n in (1, 2, 3, 4) for lengths in product(range(1, 6), repeat=n)]


def test_four_rules_order_the_figure_as_described():
    # Requests 1 to 4 with lengths 9, 2, 6, 4 and slices of 3: SJF ends 2, 4, 3, 1; under
    # RR-SJF 2 fits its slice, then 4, 3, 1 take turns.
    lengths = [9, 2, 6, 4]
    assert serve(lengths, shortest_first=False).completion == (9, 11, 17, 21)
    assert serve(lengths, shortest_first=True).completion == (21, 2, 12, 6)
    mixed = serve(lengths, shortest_first=True, quantum=3)
    assert mixed == Service(ttft=(9, 1, 6, 3), completion=(21, 2, 15, 12))
    turns = serve(lengths, shortest_first=False, quantum=3)
    assert all(mixed.completion[i] < turns.completion[i] for i in (1, 2, 3))
    assert mixed.ttft[0] < serve(lengths, shortest_first=True).ttft[0]


def test_sjf_has_the_least_total_completion_and_the_bound_is_twice_that_less_the_work():
    for lengths in combinations_with_replacement(range(1, 6), 4):
        best = min(
            sum(serve(order, shortest_first=False).completion) for order in permutations(lengths)
        )
        assert sum(serve(lengths, shortest_first=True).completion) == best
        assert cost_bound(lengths) == 2 * best - sum(lengths)


@pytest.mark.parametrize("quantum", [1, 2, 3])
def test_rr_sjf_stays_within_the_bound_and_starts_no_request_later_than_sjf(quantum):
    for lengths in SMALL:
        mixed = serve(lengths, shortest_first=True, quantum=quantum)
        plain = serve(lengths, shortest_first=True)
        assert sum(mixed.completion) <= cost_bound(lengths)
        assert all(a <= b for a, b in zip(mixed.ttft, plain.ttft, strict=True))


def test_impossible_lengths_and_slices_are_refused():
    with pytest.raises(ValueError, match="lengths"):
        serve([1, 0], shortest_first=True)
    with pytest.raises(ValueError, match="quantum 0"):
        serve([1], shortest_first=True, quantum=0)


def test_shipped_witness_is_the_claims_own_and_optimal():
    shipped = read_witness(claim.NAME)
    assert shipped.schedules == {"shortest first": (0, 1, 1, 1), "better": (2, 0, 0, 0)}
    assert shipped.figures == {"shortest first": 10, "better": 9}
    assert shipped.instance == claim.INSTANCE
    assert solve(shipped.instance).lower == shipped.schedule("better").total_latency
