"""Compiling ahead: no clock of a solve runs while its loops are compiled.

Loops are compiled when they are first called after installation, some twenty seconds in all, and
kept on disk; another process compiles half of them meanwhile, where there is a core for it. In the
midst of a solve with a time limit that would take what the limit gives to proofs, and mislead every
choice that depends on how long steps take: a first solve of 30 seconds could prove no more than a
formula. Hence whatever a solve may call is called before its clock starts, on samples of a few
requests, unless a mark beside the compiled code says that this has been done. A solve without a
limit waits for what exact proofs call, and compiles the rest when it comes to it.
"""

import gc
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import numpy as np

from ratiolab.hindsight.params import LabellingParams, SolveParams
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, improved_schedule
from ratiolab.machine_code import compiles, interrupts_deferred
from ratiolab.model.instance import Instance
from ratiolab.model.streams import stream

EXACT, RELAXED = 20, 40
"""Requests of samples: few enough for exact labelling, and so many that labels merge."""

_done: set[str] = set()


def compile_ahead(kind: str) -> None:
    """Compile loops of a kind, one half in another process, and leave a mark that this is done.

    Parameters
    ----------
    kind : one of `kinds`: ``exact`` for labelling without a time limit, ``cells`` for the program
        over cells, ``few`` and ``many`` for up to 400 requests and for more under a time limit.
    """
    compile_halves(kind, *kinds()[kind])


def kinds() -> dict[str, tuple[Callable[[], None], Callable[[], None]]]:
    """Return the two halves of each kind of loops."""
    return {
        "exact": (_trees_orders_and_cuts, _labels),
        "cells": (_ends_delays_orders_and_cuts, _levels),
        "few": (_all_walks, _orders_and_rows),
        "many": (_beams, _bounds_and_heat),
    }


def compile_halves(kind: str, here: Callable[[], None], there: Callable[[], None]) -> None:
    """Call two functions, one in another process meanwhile, and leave a mark that this is done."""
    if not compiles():
        return
    with beside(there), _no_collection():
        here()
    there()  # from disk
    note_done(kind)


def is_done(kind: str) -> bool:
    """Return whether a mark says that loops of some kind have been compiled, or none ever is."""
    if not compiles():
        return True
    if kind not in _done and _mark(kind).exists():
        _done.add(kind)
    return kind in _done


def note_done(kind: str) -> None:
    """Leave the mark of a kind, and none of older code."""
    _done.add(kind)
    mark = _mark(kind)
    with suppress(OSError):  # where nothing can be written, compiled code is not kept either
        for old in mark.parent.glob(f"{mark.name.rpartition('-')[0]}-*"):
            old.unlink(missing_ok=True)
        mark.touch()


def _sample(requests: int) -> Instance:
    """Return requests that run a few at once."""
    index = np.arange(requests)
    columns = index // 3, 1 + index % 3, 1 + 7 * index % 5
    return Instance("sample", 30, *columns)


def _trees_orders_and_cuts() -> None:
    """Do in little what comes before labelling, and first what the other process waits for."""
    from ratiolab.hindsight.labelling.label_trees import planted

    planted(np.zeros(1, np.uint64), np.zeros(1, np.int64), np.zeros((1, 1), np.uint64))
    _orders_and_cuts()


def _orders_and_cuts() -> None:
    """Do in little what finds a first schedule, and rows that it may violate."""
    from ratiolab.hindsight.relaxation.configurations import Separator, real_items

    instance, one = _sample(EXACT), np.ones(1, np.int64)
    improved_schedule(best_list_schedule(instance), steps=100)
    separate = Separator(instance.memory, real_items(instance))
    separate(instance.memory * one, 0 * one, np.full(1, 2.0))  # more than fits


def _labels() -> None:
    """Do in little what exact labelling does: a sweep, and a second sweep that it guides."""
    from ratiolab.hindsight.cuts.cut_bound import cut_bound
    from ratiolab.hindsight.labelling.dssr import Dssr, Prices
    from ratiolab.hindsight.labelling.weights import Weights

    instance = _sample(EXACT)
    known = best_list_schedule(instance)
    duals = cut_bound(instance, horizon=known.makespan, rounds=0).certificate
    potentials = Weights.of(instance, duals.duals)
    prices = Prices(potentials, potentials.least, duals)
    dssr = Dssr(prices, known.total_latency + 1, lambda: False, LabellingParams())
    for critical in 0, 1:
        dssr.exact(critical, 50, 0)


def _ends_delays_orders_and_cuts() -> None:
    """Do in little what cells call, but their levels, and first what ends a level."""
    from ratiolab.hindsight.cells.delays import Delays
    from ratiolab.hindsight.cells.engine import end_of_none

    problem = end_of_none()
    Delays(problem, problem.output, stream(0, "search")).step()
    _orders_and_cuts()


def _levels() -> None:
    """Do in little what cells do."""
    from ratiolab.hindsight.cells.engine import solve_two

    solve_two()


def _all_walks() -> None:
    _walks(_sample(EXACT), merging=False)
    _walks(_sample(RELAXED), merging=True)


def _walks(instance: Instance, *, merging: bool) -> None:
    """Do in little what cuts and labelling do, and the search beside them."""
    from ratiolab.hindsight.cuts.cut_bound import cut_bound
    from ratiolab.hindsight.labelling.loop import Loop, Surroundings
    from ratiolab.hindsight.schedules.population import PARAMS, Population
    from ratiolab.hindsight.search import crossing

    def never() -> bool:
        return False

    rng, asked = stream(0, "search"), count(1)
    known = best_list_schedule(instance)
    upper = known.total_latency
    cuts = cut_bound(instance, horizon=known.makespan, rounds=3, target=upper).certificate
    around = Surroundings(
        upper=lambda: upper + 1,  # what proves the optimum does not end the loop
        stop=lambda: next(asked) > 4_000,
        found=lambda *_: None,
    )
    few = LabellingParams(first_width=50, most_width=50) if merging else LabellingParams()
    Loop(instance, cuts, around, SolveParams(labelling=few)).run()
    cross = crossing(instance, cuts.duals, upper, never)
    population = Population(known, rng, never, lambda _: None, cross)
    for _ in range(2 * PARAMS.members):  # until all have been crossed
        population.step()


def _orders_and_rows() -> None:
    """Do in little what the stages before them do."""
    from ratiolab.hindsight.relaxation.growth import dual_bound, growth_bounds

    for requests in EXACT, RELAXED:
        instance, rng = _sample(requests), stream(0, "search")
        known = improved_schedule(best_list_schedule(instance), rng, 3_000)  # too many for Python
        dual_bound(instance, known.total_latency)
        list(growth_bounds(instance))


def _beams() -> None:
    """Do in little what `ratiolab.hindsight.many_requests` does for schedules."""
    from ratiolab.hindsight.scale.portfolio import compile_beams

    compile_beams()


def _bounds_and_heat() -> None:
    """Do in little what it does beside them."""
    from ratiolab.hindsight.relaxation.growth import growth_bounds
    from ratiolab.hindsight.scale.portfolio import hot_search

    instance, parts = _sample(500), iter((0.0, 0.5))
    hot_search(best_list_schedule(instance), lambda: next(parts, 1.0), lambda _: None, 0)
    list(growth_bounds(instance, 1.0))  # by now another process has compiled half of what it needs


@contextmanager
def beside(compiling: Callable[[], None]) -> Iterator[None]:
    """Let another process run a function of a module meanwhile, where there is a core for it.

    This process finds on disk what the other one compiles. Where nothing can be written, it
    compiles that itself when it calls it.
    """
    if (os.cpu_count() or 1) < 2:
        yield
        return
    loading = f"import gc; from {compiling.__module__} import {compiling.__name__} as f"
    words = f"{loading}; gc.disable(); f()"
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    none = subprocess.DEVNULL
    command = [sys.executable, "-c", words]
    environment, other = os.environ | path, None
    try:
        with interrupts_deferred():  # else it could start and not be known here
            other = subprocess.Popen(command, env=environment, stdin=none, stdout=none, stderr=none)
        yield
        other.wait()
    finally:
        if other is not None:
            other.kill()
            other.wait()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Let no garbage be looked for: while the compiler runs that takes a seventh of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _mark(kind: str) -> Path:
    """Return the file whose presence says that it is done, named for code, compiler, processor."""
    import llvmlite.binding
    import numba

    key = hashlib.sha256(f"{numba.__version__} {llvmlite.binding.get_host_cpu_name()}".encode())
    package = Path(__file__).parent.parent
    files = [package / "borrowing.py", package / "machine_code.py"]
    for folder in "hindsight", "model", "seconds":
        files += sorted((package / folder).rglob("*.py"))
    for file in files:
        stat = file.stat()
        key.update(f"{file.name} {stat.st_mtime_ns} {stat.st_size}".encode())
    name = f"{kind}.{sys.implementation.cache_tag}-{key.hexdigest()[:16]}.compiled"
    return _folder() / name


def _folder() -> Path:
    from ratiolab.hindsight.labelling.label_kernels import finish

    return Path(finish.stats.cache_path)  # where it is kept, wherever the user wants that to be
