"""The hindsight solver in one table: proofs, gaps and times, beside the plain integer program.

How far the best schedule found is above the certified bound, as a part of the bound, is called the
gap. Small instances are drawn as in Jaillet et al. (2025), Section 5.1, with n fixed, half of the
seeds from each arrival model. Large ones have log-normal lengths and memory 16,492, see
`bench_scale_bounds.py`; those of traces are samples of the public traces of the folder that
``RATIOLAB_TRACES`` names. Each section has the commands that made it, the latest first: a later one
replaced the rows that it made again. Times are wall clock, limits too; compare ratios: machines
differ. With ``--cpu`` seconds and limits of ``proofs``, ``gaps``, ``checks``, ``traces``,
``waiting`` and ``clock`` are of processor time, and each of the two threads, for schedules and for
bounds, counts its own: as on two idle cores, so that a busy machine shows the same. A row of 60 s
takes two times 60 s of processor.

Run ``python tests/benchmarks/bench_targets.py [--limit SECONDS] [--seeds N] [--first SEED] [--long
SECONDS] [--cpu] [--rows NUMBERS] [--write FILE] [PART ...]``. Parts: ``cold``, ``proofs``,
``gaps``, ``plain``, ``scale`` (the default), ``checks``, and ``traces``, ``split``, ``waiting``,
``clock``, see `bench_traces.py`, ``times`` and ``walks``, see `bench_times.py`, and ``fit``, see
`bench_fit.py`. With ``--write`` the sections of these parts are written anew; other sections of the
page stay; rows of ``proofs``, ``gaps``, ``checks`` and ``traces`` one by one, as they are found,
and gaps after ``--long`` seconds where that is given; ``--rows 0,3`` runs these rows (or sizes)
alone, and the section keeps the others. All small instances are ``--limit 60 --long 600 --seeds 10
--write results/targets.md cold proofs gaps``, up to seven hours on two idle cores.
"""

import inspect
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from statistics import median
from threading import current_thread, main_thread
from time import perf_counter, thread_time
from typing import NamedTuple

import bench_fit
import bench_times
import bench_traces
import target_options
import target_page
from bench_scale_bounds import log_normal
from target_options import Rows

from ratiolab.hindsight import OptResult, solve
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.effort import CertificateError, allowing
from ratiolab.hindsight.result import Progress
from ratiolab.model import Instance
from ratiolab.workloads.generators import generate

PROOFS = (10, 15, 20, 25, 30)
GAPS = (40, 50, 60)
CLOSE = 0.045
CHECKED = 100
now: Callable[[], float] = perf_counter
"""The clock: of the wall, or of this thread."""

COLD = "from ratiolab.hindsight import solve; from ratiolab.model import Instance; "


class Trace(NamedTuple):
    """A solve and the seconds after which its proven gap first was below `CLOSE`, if it was."""

    result: OptResult
    seconds: float
    close_after: float | None

    @property
    def gap(self) -> float:
        return 100 * float(self.result.gap)


def drawn(n: int, seed: int) -> Instance:
    """Even seeds: all at round 0; odd seeds: the first n requests of a draw with arrivals."""
    if seed % 2 == 0:
        return generate("jaillet-model-1", seed, n_least=n, n_most=n)
    for attempt in range(seed, 1_000_000, 1_000):
        instance = generate("jaillet-model-2", attempt)
        if len(instance) >= n:
            return instance.take(range(n), f"{instance.name} first {n}")
    raise AssertionError("no draw of the model is that large")


def traced(instance: Instance, limit: float, method: str = "auto") -> Trace:
    began, close = now(), None

    def watch(known: Progress) -> None:
        nonlocal close
        beside = current_thread() is not main_thread()  # whose processor time is another
        if close is None and not beside and known.upper - known.lower <= CLOSE * known.lower:
            close = now() - began

    result = solve(instance, method=method, time_limit=limit, progress=watch)
    if result.interrupted:  # a solve keeps what it has; a table of other limits is none
        raise KeyboardInterrupt
    seconds = now() - began
    if close is None and result.upper - result.lower <= CLOSE * result.lower:
        close = seconds
    return Trace(result, seconds, close)


def cold(limit: float, seeds: range, long: float) -> Iterator[str]:
    """Ten requests in a fresh process, nothing compiled before.

    Seconds of processor time of the whole process, imports included, of a plain `solve`.
    """
    yield "| seed | result | processor s |"
    yield "|---|---|---|"
    taken = []
    for seed in seeds:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ten = drawn(10, seed)
        columns = [ten.memory, ten.arrival.tolist(), ten.prompt.tolist(), ten.output.tolist()]
        with tempfile.TemporaryDirectory() as empty:
            done = subprocess.run(
                [sys.executable, "-c", f"{COLD}print(solve(Instance('ten', *{columns})).status)"],
                env=os.environ | {"NUMBA_CACHE_DIR": empty},
                capture_output=True,
                text=True,
                check=True,
            )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        yield f"| {seed} | {done.stdout.strip()} | {taken[-1]:.1f} |"
    yield f"| median | | {sorted(taken)[len(taken) // 2]:.1f} |"


def _sizes(sizes: tuple[int, ...], rows: Rows) -> list[int]:
    return [n for n in sizes if not rows or n in rows]


def proofs(limit: float, seeds: range, long: float, rows: Rows = ()) -> Iterator[str]:
    """How many are proven optimal, by number of requests."""
    yield "| n | proven optimal | seconds of the proofs, median | largest gap of the rest, % |"
    yield "|---|---|---|---|"
    for n in _sizes(PROOFS, rows):
        runs = []
        for seed in seeds:
            runs.append(run := traced(drawn(n, seed), limit))
            ends = f"{run.result.lower}..{run.result.upper}"
            print(f"n {n}, seed {seed}: {ends}, {run.seconds:.1f} s", file=sys.stderr, flush=True)
        proven = sorted(run.seconds for run in runs if run.result.is_exact)
        rest = max((run.gap for run in runs if not run.result.is_exact), default=None)
        cells = (
            f"{len(proven)} of {len(seeds)}",
            f"{proven[len(proven) // 2]:.1f}" if proven else "-",
            "-" if rest is None else f"{rest:.2f}",
        )
        yield f"| {n} | " + " | ".join(cells) + " |"


def gaps(limit: float, seeds: range, long: float, rows: Rows = ()) -> Iterator[str]:
    """Certified gaps at the sizes of the paper, and how soon they are small."""
    yield (
        f"| n | seed | seconds until the gap is {100 * CLOSE:.1f} % | gap after {limit:.0f} s, % | "
        "gap after `--long` seconds, % |"
    )
    yield "|---|---|---|---|---|"
    for n in _sizes(GAPS, rows):
        for seed in seeds:
            run = traced(drawn(n, seed), limit)
            after = "-" if run.close_after is None else f"{run.close_after:.1f}"
            more = _shown(traced(drawn(n, seed), long).gap) if long > limit else ""
            yield f"| {n} | {seed} | {after} | {_shown(run.gap)} | {more} |"


def _shown(gap: float) -> str:
    """Return a gap in percent; 0 without digits is one that is closed."""
    return f"{gap:.2f}" if gap else "0"


def checks(limit: float, seeds: range, long: float, rows: Rows = ()) -> Iterator[str]:
    """How long the independent checker takes beside the solve that found the proof.

    The certificates of the solves of ``proofs`` and ``gaps``, checked for as long as it takes
    (`ratiolab certify --seconds`). A solve has two threads, and so have parts of a check.
    """
    for n in (20, 40):  # compile first
        certify(traced(small := drawn(n, 0), 20).result.certificate, small)
    yield "| n | accepted | found in, s, median | checked in, s, median | ratio, median | largest |"
    yield "|---|---|---|---|---|---|"
    for n in _sizes(PROOFS + GAPS, rows):
        found, checked = [], []
        for seed in seeds:
            run = traced(instance := drawn(n, seed), limit)
            began = now()
            with suppress(CertificateError), allowing(CHECKED * limit):
                if certify(run.result.certificate, instance) == run.result.lower:
                    checked.append(now() - began)
                    found.append(run.seconds)
                    print(
                        f"n {n}, seed {seed}: {found[-1]:.1f}, {checked[-1]:.1f} s", file=sys.stderr
                    )
        ratios = [check / find for check, find in zip(checked, found, strict=True)]
        cells = (*map(median, (found, checked, ratios)), max(ratios)) if ratios else ()
        shown = " | ".join(f"{cell:.2f}" for cell in cells) or "- | - | - | -"
        yield f"| {n} | {len(found)} of {len(seeds)} | {shown} |"


def plain(limit: float, seeds: range, long: float) -> Iterator[str]:
    """Time to proof at n = 12, the integer program as printed against all methods together."""
    yield "| seed | program as printed, s | ratiolab, s | ratio |"
    yield "|---|---|---|---|"
    for seed in seeds:
        instance = drawn(12, seed)
        ours, theirs = traced(instance, limit), traced(instance, limit, "ip")
        sign = "" if theirs.result.is_exact else "> "
        ratio = f"{sign}{theirs.seconds / ours.seconds:.0f}" if ours.result.is_exact else "-"
        shown = [f"{run.seconds:.1f}" if run.result.is_exact else "open" for run in (theirs, ours)]
        yield f"| {seed} | {shown[0]} | {shown[1]} | {ratio} |"


def scale(limit: float, seeds: range, long: float) -> Iterator[str]:
    """Best schedule against certified bound at memory 16,492."""
    yield "| requests | arrivals | gap, % | seconds |"
    yield "|---|---|---|---|"
    for requests in (1_000, 10_000):
        for rate, arrivals in ((0.0, "all at round 0"), (2.0, "Poisson, overload")):
            run = traced(log_normal(requests, rate), limit)
            yield f"| {requests:,} | {arrivals} | {run.gap:.2f} | {run.seconds:.1f} |"


PARTS = {
    part.__name__: part for part in (cold, proofs, gaps, checks, plain, scale)
} | bench_traces.PARTS
PARTS |= {"times": bench_times.times, "walks": bench_times.walks}
PARTS["fit"] = bench_fit.fit
ROWS = {
    "proofs": (PROOFS, target_page.size, target_page.by_size),
    "gaps": (GAPS, target_page.seed_of, target_page.with_means),
    "checks": (PROOFS + GAPS, target_page.size, target_page.by_size),
    "traces": (tuple(range(len(bench_traces.TRACED))), target_page.sample, target_page.by_sample),
}
"""Parts whose rows take long and stand for themselves: their numbers, what a row is about, and
their order."""

DEFAULT = ("cold", "proofs", "gaps", "plain", "scale")


def main() -> None:
    rows_of = {part: known[0] for part, known in ROWS.items()}
    parser, wish = target_options.read(__doc__.splitlines()[0], tuple(PARTS), DEFAULT, rows_of)
    for small in (drawn(14, 0), drawn(13, 1)):  # compile first
        traced(small, 20)
    traced(log_normal(600, 2.0), 20)
    if wish.cpu:
        global now
        bench_traces.count_cpu()
        now = thread_time
    seeds = range(wish.first, wish.first + wish.seeds)
    options = f"--limit {wish.limit:g} --seeds {wish.seeds}"
    options += f" --first {wish.first}" * (wish.first > 0) + " --cpu" * wish.cpu
    options += f" --long {wish.long:g}" if wish.long else ""
    head = __doc__.split("\n\n", 1)[1].strip()
    order = [title_of(part) for part in PARTS]
    for name in wish.parts:
        rows = {"rows": wish.rows} if name in ROWS else {}
        chosen = ",".join(map(str, wish.rows))
        given = options + f" --rows {chosen}" * bool(rows and wish.rows)
        command = f"python tests/benchmarks/bench_targets.py {given} {name}"
        title = title_of(name)
        more = inspect.cleandoc(PARTS[name].__doc__ or "").partition("\n")[2].strip()
        write = partial(target_page.write_section, wish.write, head, order, title, more, command)
        lines: list[str] = []
        print(f"\n{title}", flush=True)
        try:
            for line in PARTS[name](wish.limit, seeds, wish.long, **rows):
                print(line, flush=True)
                lines.append(line)
                if wish.write and rows and len(lines) > 2:
                    write(lines, *ROWS[name][1:])
        except KeyboardInterrupt:
            lost = "further rows" if rows and wish.write else "rows"
            parser.exit(130, f"interrupted: {lost} of {title!r} are not written\n")
        if wish.write and not rows:
            write(lines)


def title_of(part: str) -> str:
    """Return the first line of what a part says of itself."""
    return inspect.cleandoc(PARTS[part].__doc__ or "").partition("\n")[0].rstrip(".")


if __name__ == "__main__":
    main()
