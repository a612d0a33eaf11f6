"""Compiling ahead: no clock of a solve runs while its loops are compiled.

Loops are compiled when they are first called after installation, some thirty seconds in all, and
kept on disk. In the midst of a solve with a time limit that would take what the limit gives to
proofs, and mislead every choice that depends on how long steps take: a first solve of 30 seconds
could prove no more than a formula. Hence whatever a solve may call is called before its clock
starts, on samples of a few requests, unless a mark beside the compiled code says that this has been
done.
"""

import hashlib
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np

from ratiolab.hindsight.params import LabellingParams, SolveParams
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, improved_schedule
from ratiolab.model.instance import Instance
from ratiolab.model.streams import stream

_done: set[bool] = set()


def is_compiled(*, many: bool) -> bool:
    """Return whether `compile_ahead` has compiled this code on this machine.

    Parameters
    ----------
    many : what solves of more requests call than a program takes.
    """
    if many not in _done and _mark(many=many).exists():
        _done.add(many)
    return many in _done


def compile_ahead(*, many: bool) -> None:
    """Compile what a solve may call, and leave a mark that this is done.

    Parameters
    ----------
    many : what solves of more requests call than a program takes.
    """
    if many:
        _beams(_sample(500))
    else:
        _walks(_sample(20), merging=False)
        _walks(_sample(40), merging=True)
    _done.add(many)
    mark = _mark(many=many)
    with suppress(OSError):  # where nothing can be written, compiled code is not kept either
        for old in mark.parent.glob(f"{_kind(many=many)}-*"):
            old.unlink(missing_ok=True)
        mark.touch()


def _sample(requests: int) -> Instance:
    """Return requests that run a few at once: twenty for exact sweeps, forty for relaxed ones."""
    index = np.arange(requests)
    columns = index // 3, 1 + index % 3, 1 + 7 * index % 5
    return Instance("sample", 30, *columns)


def _walks(instance: Instance, *, merging: bool) -> None:
    """Do in little what the stages up to the program do."""
    from ratiolab.hindsight.cuts.cut_bound import cut_bound
    from ratiolab.hindsight.labelling.loop import Loop, Surroundings
    from ratiolab.hindsight.relaxation.growth import dual_bound, growth_bounds
    from ratiolab.hindsight.schedules.population import PARAMS, Population
    from ratiolab.hindsight.search import crossing

    def never() -> bool:
        return False

    rng, asked = stream(0, "search"), count(1)
    known = improved_schedule(best_list_schedule(instance), rng, 3_000)  # too many for Python
    upper = known.total_latency
    dual_bound(instance, upper)
    list(growth_bounds(instance))
    cuts = cut_bound(instance, horizon=known.makespan, rounds=3, target=upper).certificate
    cross = crossing(instance, cuts.duals, upper, never)
    population = Population(known, rng, never, lambda _: None, cross)
    for _ in range(2 * PARAMS.members):  # until all have been crossed
        population.step()
    around = Surroundings(
        upper=lambda: upper + 1,  # what proves the optimum does not end the loop
        stop=lambda: next(asked) > 4_000,
        found=lambda *_: None,
    )
    few = LabellingParams(first_width=50, most_width=50) if merging else LabellingParams()
    Loop(instance, cuts, around, SolveParams(labelling=few)).run()


def _beams(instance: Instance) -> None:
    """Do in little what `ratiolab.hindsight.many_requests` does."""
    from ratiolab.hindsight.relaxation.growth import growth_bounds
    from ratiolab.hindsight.scale.portfolio import compile_beams, hot_search

    known = best_list_schedule(instance)
    compile_beams()
    list(growth_bounds(instance, 1.0))
    parts = iter((0.0, 0.5))
    hot_search(known, lambda: next(parts, 1.0), lambda _: None, 0)


def _kind(*, many: bool) -> str:
    return f"{'many' if many else 'few'}-requests.{sys.implementation.cache_tag}"


def _mark(*, many: bool) -> Path:
    """Return the file whose presence says that it is done, named for code, compiler, processor."""
    import llvmlite.binding
    import numba

    key = hashlib.sha256(f"{numba.__version__} {llvmlite.binding.get_host_cpu_name()}".encode())
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        stat = file.stat()
        key.update(f"{file.name} {stat.st_mtime_ns} {stat.st_size}".encode())
    name = f"{_kind(many=many)}-{key.hexdigest()[:16]}.compiled"
    return _folder() / name


def _folder() -> Path:
    from ratiolab.hindsight.labelling.label_kernels import finish

    return Path(finish.stats.cache_path)  # where it is kept, wherever the user wants that to be
