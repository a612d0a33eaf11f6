"""The page on fleets: no run is below its bound, and the page says what the table holds."""

from itertools import product

import pandas as pd

from ratiolab.papers import experiments
from ratiolab.papers.ours.tasks import ROUTERS, fleet_run
from ratiolab.studies.cell import Cell

WORKLOAD = {"workload": "trace-conversations", "workload.n": 60, "workload.memory": 4000}
MORE = {"workload.load": 0.0, "workload.scale": 1, "workload.label": "conversations"}


def rows() -> pd.DataFrame:
    found = []
    for seed, key, clock, load in product(
        range(2), ("svf", "vllm-fcfs", "fcfs"), ("unit", "llama3-8b-a100"), (0.9,)
    ):
        options = {"option.load": load, "option.replicas": 3, "option.each": 12}
        policy = {"policy": key, "policy.label": key}
        fields = {"task": "fleet-run", "seed": seed, **WORKLOAD, **MORE, **options, **policy}
        cell = Cell(fields | ({} if clock == "unit" else {"clock": clock}))
        found += [{**fields, "clock": clock, **row} for row in fleet_run(cell)]
    return pd.DataFrame(found)


def test_no_router_is_below_the_bound_and_the_page_names_every_setting():
    frame = rows()
    assert (frame["mean_latency"] >= frame["lower"] * (1 - 1e-12)).all()
    assert set(frame["router"]) == set(ROUTERS)
    assert (frame["requests"] == 36).all()
    page = experiments()["fleets"].page(frame)
    for name in ("svf", "vllm", "price"):
        assert "nan" not in page.slots[name]
        assert "conversations, R = 3, load 0.9, rounds" in page.slots[name]
        assert "conversations, R = 3, load 0.9, 8B" in page.slots[name]
    assert page.charts["routers"]().axes
