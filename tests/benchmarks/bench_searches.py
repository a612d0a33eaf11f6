"""Other ways to better schedules, each for the same time: a part of `bench_targets.py`.

All begin with the schedule that a portfolio of beams and its annealing find. Ejection chains change
starts, all others their order (`ratiolab.hindsight.scale.annealing`).
"""

from collections.abc import Callable, Iterator
from time import thread_time

import numpy as np
from bench_traces import TRACED, sampled

from ratiolab.hindsight.scale import portfolio
from ratiolab.hindsight.scale.annealing import Cooling, annealed, decoded, schedule_of
from ratiolab.hindsight.scale.order_kernels import Decoded, decode
from ratiolab.hindsight.schedules.ejection import eject
from ratiolab.model import Instance
from ratiolab.model.footprint import IntArray
from ratiolab.model.streams import stream
from ratiolab.online import make, simulate

CODE = TRACED[3]

FAR = np.int64(2**61)

COLD, WARM, HOT = (0.03, 0.004), (0.2, 0.004), (0.5, 0.01)
"""First and last temperatures of annealings, in mean latencies."""

PARENTS, SPLICES, SPELL = 6, 450, 0.5
"""Orders that are crossed, trials of a crossing, and seconds of an annealing between changes."""

PLACES, KEPT = 10, 4
"""Places of a window that a beam fills again, and orders that it keeps at each."""

LARGE, TAKEN, TRIED = 100, 20, 40
"""Largest requests, how many of them are taken out at once, and places tried for each."""

STEPS = 20_000
"""Steps of a search by ejection chains; moves are in proportion."""


def searches(limit: float, seeds: range, long: float) -> Iterator[str]:
    """What other searches gain on the schedule of a portfolio, in the time that it took.

    Each column is in percent of the total latency of the portfolio after ``--limit`` seconds, one
    thread: annealing for as long again; orders crossed, the first part of one with the rest as the
    other starts it, or a stretch of the other within one (path relinking), annealed after each
    crossing; windows of ten places filled again by a beam that completes each of its orders; 20 of
    the 100 largest taken out and put back where the total is least, one by one; pairs of the 100
    largest that exchange places; ejection chains. Means over the seeds.
    """
    names = " | ".join(name for name in SEARCHES)
    yield f"| instance | seeds | seconds | {names} |"
    yield "|---|---|---|" + "---|" * len(SEARCHES)
    title, file, requests, rate = CODE
    gained = []
    for seed in seeds:
        instance = sampled(file, requests, rate, seed)
        known = simulate(instance, make("svf")).schedule
        portfolio.compile_beams()
        search = portfolio.Portfolio(known, found := Best(), seconds=limit, seed=seed)
        search.run()
        order = np.lexsort((instance.volume, found.starts))
        begin = schedule_of(instance, order).total_latency
        each = Search(instance, limit, seed)
        gained.append([100 * (begin - one(each, order)) / begin for one in SEARCHES.values()])
        print(f"{title}, seed {seed}: {begin}, {gained[-1]}", flush=True)
    means = " | ".join(f"{sum(x) / len(gained):.2f}" for x in zip(*gained, strict=True))
    yield f"| {title} | {seeds[0]} to {seeds[-1]} | {limit:g} | {means} |"


class Best:
    """The starts of the schedule told last, which is the best."""

    starts: IntArray

    def __call__(self, schedule: object) -> None:
        self.starts = schedule.starts  # type: ignore[attr-defined]


class Search:
    """An instance, the time that a search has, and the annealing that all share."""

    def __init__(self, instance: Instance, seconds: float, seed: int) -> None:
        self.instance, self.seconds, self.seed = instance, seconds, seed
        order = np.arange(len(instance))
        self.columns, self.scratch = decoded(instance, order)
        self.offset = schedule_of(instance, order).total_latency - int(self.scratch.total[-1])
        self.heat = float(instance.output.mean())
        self.rng = stream(seed, "search", 1)
        self.large = np.argsort(-instance.volume, kind="stable")[:LARGE]
        self.ends = 0.0

    def begin(self, order: IntArray) -> None:
        """Start the clock, and set the unit of heat by the latency of this order."""
        self.heat = self.total(order) / len(order)
        self.ends = thread_time() + self.seconds

    @property
    def left(self) -> float:
        return self.ends - thread_time()

    def total(self, order: IntArray) -> int:
        """Return the total latency of an order."""
        self.scratch.order[:] = order
        none = self.scratch
        total, _ = decode(self.columns, none, none, 0, len(order), FAR, FAR)
        return int(total) + self.offset

    def anneal(self, order: IntArray, seconds: float, heats: tuple[float, float]) -> IntArray:
        """Return the best order of an annealing from this one."""
        began = thread_time()
        part = lambda: min(1.0, (thread_time() - began) / max(seconds, 1e-3))  # noqa: E731
        cooling = Cooling(heats[0] * self.heat, heats[1] * self.heat)
        seed = int(self.rng.integers(2**31))
        return annealed(self.instance, order, cooling, part, lambda _: None, seed, True)


def longer(search: Search, order: IntArray) -> int:
    """Anneal for as long again."""
    search.begin(order)
    return search.total(search.anneal(order, search.seconds, COLD))


def crossed(search: Search, order: IntArray) -> int:
    """Cross orders that annealings from a hot beginning found, and anneal what comes out."""
    search.begin(order)
    parents = [(search.total(order), order)]
    for _ in range(PARENTS - 1):
        one = search.anneal(order, search.seconds / 3 / PARENTS, HOT)
        parents.append((search.total(one), one))
    while search.left > 0:
        i, j = search.rng.choice(len(parents), 2, replace=False)
        splices = (splice(parents[i][1], parents[j][1], search.rng) for _ in range(SPLICES))
        child = search.anneal(min(splices, key=search.total), SPELL, WARM)
        total = search.total(child)
        worst = max(range(len(parents)), key=lambda k: parents[k][0])
        if total < parents[worst][0] and all(total != known for known, _ in parents):
            parents[worst] = total, child
    return min(total for total, _ in parents)


def splice(one: IntArray, other: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the beginning of one, what the other starts first of the rest, and what is left.

    One time in three the other gives all that is left, otherwise a stretch of any length.
    """
    n, place = len(one), int(rng.integers(len(one)))
    stretch = n if rng.integers(3) == 0 else int(4 * 2 ** (9 * rng.random()))
    taken = np.zeros(n, bool)
    taken[one[:place]] = True
    middle = other[~taken[other]][:stretch]
    taken[middle] = True
    return np.concatenate([one[:place], middle, one[~taken[one]]])


def windows(search: Search, order: IntArray) -> int:
    """Fill windows of places again by a beam whose orders are judged when they are completed."""
    search.begin(order)
    known = decoded(search.instance, order)[1]
    while search.left > 0:
        for _ in range(len(order) // PLACES):
            better = refilled(search, known, int(search.rng.integers(len(order) - PLACES)))
            if better is not None:
                known = decoded(search.instance, better)[1]
            if search.left < 0:
                break
        order = search.anneal(known.order, min(SPELL, max(0.0, search.left)), COLD)
        known = decoded(search.instance, order)[1]
    return search.total(known.order)


def refilled(search: Search, known: Decoded, first: int) -> IntArray | None:
    """Return a better order than the known one with other requests in these places, if found."""
    new, last = Decoded(*(column.copy() for column in known)), first + PLACES
    give = np.int64(4 * COLD[0] * search.heat)
    kept = [known.order[first:last].copy()]
    best, least = None, int(known.total[-1])
    for place in range(PLACES - 1):
        trials: list[tuple[int, list[int]]] = []
        for filled in kept:
            for k in range(place, PLACES):
                child = np.concatenate(
                    [filled[:place], filled[[k]], np.delete(filled[place:], k - place)]
                )
                new.order[first:last] = child
                total, _ = decode(search.columns, known, new, first, last, FAR, give)
                if total >= 0:
                    trials.append((int(total), child.tolist()))
        trials = sorted({tuple(child): (total, child) for total, child in trials}.values())[:KEPT]
        kept = [np.array(child) for _, child in trials]
        if trials and trials[0][0] < least:
            least, best = trials[0][0], known.order.copy()
            best[first:last] = kept[0]
    return best


def reinserted(search: Search, order: IntArray) -> int:
    """Take some of the largest out and put each back where the total is least."""
    search.begin(order)
    best = search.total(order)
    while search.left > 0:
        out = search.rng.choice(search.large, TAKEN, replace=False)
        trial = order[~np.isin(order, out)]
        for k, one in enumerate(out):
            rest = out[k + 1 :]
            places = np.unique(search.rng.integers(0, len(trial) + 1, TRIED))
            tried = (np.concatenate([trial[:p], [one], trial[p:], rest]) for p in places)
            at = int(np.argmin([search.total(whole) for whole in tried]))
            trial = np.insert(trial, places[at], one)
        trial = search.anneal(trial, SPELL, COLD)
        if search.total(trial) < best:
            best, order = search.total(trial), trial
    return best


def exchanged(search: Search, order: IntArray) -> int:
    """Let pairs of the largest exchange their places, and anneal what is better or hardly worse."""
    search.begin(order)
    best = search.total(order)
    while search.left > 0:
        trials: list[tuple[int, int, IntArray]] = []
        for _ in range(SPLICES):
            trial = order.copy()
            one, other = np.flatnonzero(
                np.isin(order, search.rng.choice(search.large, 2, replace=False))
            )
            trial[[one, other]] = trial[[other, one]]
            trials.append((search.total(trial), len(trials), trial))
        trial = search.anneal(min(trials)[2], SPELL, COLD)
        if search.total(trial) < best:
            best, order = search.total(trial), trial
    return best


def ejected(search: Search, order: IntArray) -> int:
    """Change starts instead of the order, by ejection chains."""
    search.begin(order)
    first = schedule_of(search.instance, order)
    found = eject(first, search.rng, STEPS, lambda: search.left < 0)
    return found.total_latency


SEARCHES: dict[str, Callable[[Search, IntArray], int]] = {
    "annealed on": longer,
    "crossed": crossed,
    "windows": windows,
    "largest put back": reinserted,
    "largest exchanged": exchanged,
    "ejection chains": ejected,
}
