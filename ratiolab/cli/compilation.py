"""The command that compiles ahead what other commands would compile when they first need it."""

from collections.abc import Iterator
from time import perf_counter

from ratiolab.cli.app import Json, answer, app, end_interrupted, progress
from ratiolab.cli.listing import listed


@app.command()
def compile(json: Json = False) -> None:
    """Compile what solve, certify, evaluate and long simulations would compile at their first use.

    It takes about two minutes on two cores. Machine code is kept beside the installed package, or
    where NUMBA_CACHE_DIR says. Without this command each part is compiled once, when it is first
    needed; a first solve then takes some ten seconds longer. Run it when you build an image or
    before you measure times. Ctrl-C keeps what has been compiled.

    Example: ratiolab compile
    """
    began, done = perf_counter(), []
    try:
        with progress() as display:
            task = display.add_task("compiling")
            for part in _parts():
                done.append(part)
                display.update(task, description=f"compiled: {', '.join(done)}")
    except KeyboardInterrupt:
        end_interrupted(f"interrupted; kept: {', '.join(done) or 'nothing yet'}")
    seconds = round(perf_counter() - began, 1)
    data = {"parts": done, "seconds": seconds}
    answer(json, "compile", data, f"compiled in {seconds:g} s: {', '.join(done)}")


def _parts() -> Iterator[str]:
    """Compile part by part, on all cores, and yield what is done."""
    from ratiolab.executors import opened
    from ratiolab.hindsight.compilation import compile_ahead, kinds
    from ratiolab.online.ahead import compile_rule, policies_to_compile
    from ratiolab.seconds.order_search import FEW, compile_search

    listed()  # kept beside the machine code
    for kind in kinds():
        compile_ahead(kind)
        yield f"solve ({kind})"
    for requests in FEW, FEW + 1:
        compile_search(requests)
    yield "evaluate --search"
    with opened("local") as executor:
        for kind, _ in executor.unordered(_check, ("cells", "labels")):
            yield f"certify ({kind})"
        for key, _ in executor.unordered(compile_rule, policies_to_compile()):
            yield f"simulate ({key})"


def _check(kind: str) -> None:
    """Check a small proof of a kind."""
    from ratiolab.hindsight import solve
    from ratiolab.hindsight.certificates.certify import certify
    from ratiolab.workloads.generators import generate

    if kind == "cells":
        instances = [generate("trace-code", 0, n=12, memory=4_096, load=0)]
    else:
        draws = ("jaillet-model-1", 0), ("jaillet-model-2", 1)
        instances = [generate(model, seed).take(range(14)) for model, seed in draws]
    for instance in instances:
        certify(solve(instance, time_limit=20).certificate, instance)
