"""The same study on a Dask cluster of two worker processes, one of which is killed."""

import os
import signal
from pathlib import Path

import pytest
from command_line import run

from ratiolab.executors import opened
from ratiolab.studies import read_study
from ratiolab.studies.run import run_study
from ratiolab.studies.store import Store

distributed = pytest.importorskip("distributed", reason="needs the extra ratiolab[dask]")

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
def test_a_cluster_gives_the_same_bytes_and_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
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


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the cluster about ports
def test_an_experiment_has_the_same_page_from_a_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "jaillet2025-section-5-2-rounds", "--quick", "--out"]
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with distributed.LocalCluster(**settings, dashboard_address=None) as cluster:
        there = ["--executor", f"dask={cluster.scheduler_address}"]
        for folder, where in (("here", ["--workers", "1"]), ("there", there)):
            code, _, err = run(capsys, *words, str(tmp_path / folder), *where)
            assert code == 0, err
    files = sorted(path.name for path in (tmp_path / "here").iterdir() if path.is_file())
    assert {Path(name).suffix for name in files} >= {".md", ".csv", ".png"}
    for name in files:
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
