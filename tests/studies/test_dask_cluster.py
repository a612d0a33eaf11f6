"""The same study on a Dask cluster of two worker processes, one of which is killed."""

import os
import signal

import pytest

from ratiolab.executors import opened
from ratiolab.studies import read_study
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store

TEXT = """
[study]
name = "spread"
seeds = 12
[[workload]]
kind = "chen-rough"
n = [20, 200]
memory = 2000
[[policy]]
key = "a-min"
"""


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the cluster about the worker that is gone
def test_a_cluster_gives_the_same_bytes_and_a_killed_worker_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed", reason="needs the extra ratiolab[dask]")
    path = tmp_path / "spread.toml"
    path.write_text(TEXT)
    study = read_study(path)
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    run_study(study, here, workers=1)
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:

        def advance(done: int, cells: int) -> None:
            if done == 3 and not killed:
                assert cells == 24
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        with opened(f"dask={cluster.scheduler_address}") as executor:
            run_study(study, there, executor=executor, advance=advance)
    assert killed
    for name in ("spread.csv", "spread.json"):
        assert (here.folder / name).read_bytes() == (there.folder / name).read_bytes()
