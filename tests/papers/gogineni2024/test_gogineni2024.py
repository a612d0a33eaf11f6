"""The pages on round robin: every statement has a verdict, and figures obey what is proved."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from quick_cells import quick_store

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers import experiments
from ratiolab.papers.experiment import Experiment, page_text
from ratiolab.papers.gogineni2024.experiments.noise_and_rates import NOISE, POLICY, SETTING
from ratiolab.papers.gogineni2024.experiments.slices import QUANTUM
from ratiolab.studies.run import run_study

GOGINENI2024 = experiments()["gogineni2024"]
GOGINENI2024_SLICES = experiments()["gogineni2024-slices"]

KEY = ["clock", SETTING, "workload.rate", NOISE, "seed"]


def table_of(experiment: Experiment, factory: pytest.TempPathFactory) -> pd.DataFrame:
    store = quick_store(factory.mktemp("quick"), factory, experiment.name)
    return run_study(experiment.study(quick=True), store, workers=1)


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return table_of(GOGINENI2024, tmp_path_factory)


@pytest.fixture(scope="module")
def slices(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return table_of(GOGINENI2024_SLICES, tmp_path_factory)


def verdicts(text: str) -> list[str]:
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| Fig", "| Sec"))]
    return [row[3] for row in rows]


@pytest.mark.studies
def test_the_page_on_policies_has_a_verdict_on_every_statement(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
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
def test_the_page_on_slices_has_a_verdict_on_every_statement(
    slices: pd.DataFrame, tmp_path: Path
) -> None:
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
def test_without_preemption_or_a_limit_nothing_is_prefilled_twice(frame: pd.DataFrame) -> None:
    prompts = frame["requests"] * frame["workload.prompt"]
    kept = frame[POLICY].isin(["fcfs", "sjf", "rr-sjf, swap"])
    assert (frame.loc[kept, "prefill_tokens"] == prompts[kept]).all()
    again = frame.loc[frame[POLICY] == "rr-sjf", "prefill_tokens"] - prompts
    assert (again.dropna() > 0).any()


@pytest.mark.studies
def test_noise_changes_nothing_for_those_who_know_no_predictions(frame: pd.DataFrame) -> None:
    once = frame[(frame[SETTING] != "rate") & (frame["clock"] == "llama3-1b-l4")]
    rows = once[once[POLICY].isin(["fcfs", "rr", "rr, first"])]
    assert (rows.groupby([POLICY, "seed"])["mean_latency"].nunique() == 1).all()
    sjf = once[once[POLICY] == "sjf"]
    assert (sjf.groupby("seed")["mean_latency"].nunique() > 1).all()


@pytest.mark.studies
def test_a_policy_that_preempts_starts_everybody_earlier_than_sjf(frame: pd.DataFrame) -> None:
    wide = frame[frame["workload.rate"] == 0].pivot_table(
        index=KEY, columns=POLICY, values="p100_ttft"
    )
    assert (wide["rr-sjf"] < wide["sjf"]).all()
    assert (wide["rr-sjf, all"] <= wide["rr-sjf"]).all()


@pytest.mark.studies
def test_no_run_in_unit_rounds_is_below_the_optima_of_servers(slices: pd.DataFrame) -> None:
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


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_shortest_first_on_a_batch_of_servers_has_the_closed_form(batch: int) -> None:
    # the k-th shortest follows on the server of the (k - batch)-th
    outputs = np.random.default_rng(batch).integers(1, 50, 40)
    instance = Instance("servers", 10**6, [0] * 40, [1] * 40, outputs, predicted=outputs)
    ends: list[int] = []
    for k, output in enumerate(sorted(outputs.tolist())):
        ends.append(output + (ends[k - batch] if k >= batch else 0))
    assert simulate(instance, make("sjf", {"batch": batch})).total_latency == sum(ends)
