"""Ctrl-C on a Dask cluster of two workers keeps what they were solving, and frees them."""

import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from processes import PATIENCE

from ratiolab.model import write_instance
from ratiolab.records.store import RecordStore, faults
from ratiolab.workloads.generators import generate

distributed = pytest.importorskip("distributed", reason="needs the extra ratiolab[dask]")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the cluster about ports
@pytest.mark.skipif(sys.platform == "win32", reason="signals of a process")
def test_sigint_keeps_what_two_workers_of_a_cluster_were_solving(
    tmp_path: Path, start: Callable[..., "Popen[bytes]"]
) -> None:
    store = RecordStore(tmp_path / "instances", tmp_path / "results")
    for n in (60, 61, 62):
        least = {"n_least": n, "n_most": n, "memory_least": 30, "memory_most": 30}
        write_instance(
            generate("jaillet-model-1", 9, **least),
            store.instances / "families" / f"hard-{n}.json",
        )
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        distributed.LocalCluster(**settings, dashboard_address=None) as cluster,
        distributed.Client(cluster.scheduler_address) as watcher,
    ):
        folders = ["--instances", str(store.instances), "--results", str(store.results)]
        where = ["--executor", f"dask={cluster.scheduler_address}"]
        words = ["records", "improve", "--minutes", "30", "--json", *where, *folders]
        process = start([sys.executable, "-m", "ratiolab", *words], stdout=PIPE, stderr=PIPE)
        ends = time.monotonic() + PATIENCE

        def solving() -> int:  # workers in a stage: only then has a solve something to keep
            stacks = watcher.call_stack()
            return sum("state.keep(work(" in str(calls) for calls in stacks.values())

        while solving() < 2:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < ends
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, err
        assert f"what was better is kept in {store.results}\nratiolab: interrupted" in err.decode()
        assert json.loads(out)["tried"] == 2
        records = store.records()
        assert len(records) == 2
        assert [faults(store, record) for record in records.values()] == [[], []]
        while any(watcher.processing().values()):  # the cluster serves others again
            assert time.monotonic() < ends
            time.sleep(0.2)
