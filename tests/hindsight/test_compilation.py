"""Compiling ahead: all that a solve calls, once, and with the clock of the solve standing still."""

import os
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from ratiolab.hindsight import compilation, solve
from ratiolab.hindsight.result import Progress
from ratiolab.model import Instance
from ratiolab.workloads.generators import generate

FRESH = """
import sys

from ratiolab.cli.compilation import _check
from ratiolab.hindsight import compilation, solve
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.machine_code import Compiled
from ratiolab.online.clock import BatchTime
from ratiolab.seconds import order_search
from ratiolab.workloads.generators import generate


def signatures(part=""):
    return {
        (name, function.__name__, signature)
        for name, module in list(sys.modules.items())
        if name.startswith("ratiolab." + part)
        for function in vars(module).values()
        if isinstance(function, Compiled)
        for signature in function.signatures
    }


kind, part = sys.argv[1], ""
if kind == "search":
    few = int(sys.argv[2]) <= order_search.FEW
    order_search._beam()
    order_search._orders_and_duals() if few else order_search._duals()
elif kind == "certify":
    part = "hindsight.certificates"
    _check("cells")
    _check("labels")
else:
    compilation.compile_ahead(kind)
before = signatures(part)
assert len(before) > 3
for size in map(int, sys.argv[2:]):
    limit = None if kind == "exact" else 3
    paper = generate("jaillet-model-1", 5, n_least=size, n_most=size)
    trace = generate("trace-conversations", 1, n=size, memory=4_096, load=0)
    if kind == "search":
        order_search.search_order(trace, BatchTime(fixed=1, tick=1), 4)
    elif kind == "certify":
        for instance in paper, trace:
            certify(solve(instance, time_limit=limit).certificate, instance)
    else:
        solve(trace if kind == "cells" else paper, time_limit=limit)
print(sorted(signatures(part) - before, key=str))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "sizes",
    [
        *("exact 12 18", "cells 12 20", "few 18 44 130", "many 450"),
        *("search 300", "search 500", "certify 12 130"),
    ],
)
def test_nothing_is_called_that_has_not_been_compiled_ahead(sizes: str) -> None:
    command = [sys.executable, "-c", FRESH, *sizes.split()]
    assert subprocess.run(command, capture_output=True, check=True, text=True).stdout == "[]\n"


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Pretend that nothing has been compiled; return the folder of marks."""
    monkeypatch.setattr(compilation, "_folder", lambda: tmp_path)
    monkeypatch.setattr(compilation, "_done", set())
    monkeypatch.setattr(compilation, "_walks", lambda *_, **__: None)
    monkeypatch.setattr(compilation, "_beams", lambda: None)
    monkeypatch.setattr(compilation, "_orders_and_rows", lambda: None)
    monkeypatch.setattr(compilation, "_labels", lambda: None)
    monkeypatch.setattr(compilation, "_trees_orders_and_cuts", lambda: None)
    monkeypatch.setattr(compilation, "beside", lambda _: nullcontext())
    return tmp_path


def draw() -> Instance:
    return generate("jaillet-model-1", 3, n_least=11, n_most=11)


def test_the_time_limit_begins_when_all_is_compiled(
    uncompiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilation, "_walks", lambda *_, **__: time.sleep(0.5))
    shown: list[Progress] = []
    began = time.perf_counter()
    result = solve(draw(), time_limit=0.9, progress=shown.append)
    wall = time.perf_counter() - began
    assert shown[0].stage == "compiling, once after installation"
    assert [stage.name for stage in result.stages[:2]] == ["bounds", "orders"]
    # whatever else is compiled here, and on a busy machine, too
    assert wall - result.seconds >= 0.5


@pytest.mark.parametrize(("limit", "kind"), [(None, "exact"), (0.2, "few")])
def test_only_a_solve_with_a_time_limit_compiles_all_ahead(
    uncompiled: Path, limit: float | None, kind: str
) -> None:
    shown: list[Progress] = []
    solve(draw(), time_limit=limit, progress=shown.append)
    assert "compiling, once after installation" in {each.stage for each in shown}
    assert [file.name.partition(".")[0] for file in uncompiled.iterdir()] == [kind]


def test_ctrl_c_while_compiling_leaves_an_interval(
    uncompiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compilation, "_walks", interrupted)
    result = solve(draw(), time_limit=5)
    assert result.interrupted
    assert 0 < result.lower <= result.upper
    assert not compilation.is_done("few")


BESIDE = """
import os

import numpy as np
from ratiolab.hindsight import compilation
from ratiolab.hindsight.relaxation.row_kernels import row_use


def uses():
    none = np.zeros(0, np.int64)
    row_use(none, none, none, 1, 1.0, none, none, np.zeros((1, 1)))


uses.__module__, uses.__name__ = "beside_this", "uses"
os.cpu_count = lambda: 2
with compilation.beside(uses):
    pass
uses()
print(sum(row_use.stats.cache_hits.values()), sum(row_use.stats.cache_misses.values()))
"""


def test_what_another_process_compiles_is_read_from_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = BESIDE
    function = lines[lines.index("import numpy") : lines.index("uses.__module__")]
    (tmp_path / "beside_this.py").write_text(function)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    done = subprocess.run([sys.executable, "-c", BESIDE], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("1 0", "")
