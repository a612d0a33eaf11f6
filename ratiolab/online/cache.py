"""What is in memory during a run, and what has been: the simulator's account of the KV cache."""

from collections.abc import Sequence
from heapq import heappop, heappush

from ratiolab.model import Instance, Preemption, Schedule
from ratiolab.model.footprint import held
from ratiolab.online.view import NEVER


class Cache:
    """Requests in memory, running and paused, and the runs that have ended.

    Parameters
    ----------
    instance : whose requests are served; output lengths are known here.
    kept : tokens of every request from its earlier runs, which an eviction updates.
    preemption : what an eviction costs.

    Attributes
    ----------
    running : start round of every running request.
    paused : requests that were evicted under ``pause`` and whose tokens nobody has needed since, in
        the order of their evictions; each with the position of its run among all that have ended.
    moved, prefilling, prefill : tokens swapped since the last batch, requests that start in the
        next one with nothing in memory, and the tokens of which these build the cache.
    """

    def __init__(self, instance: Instance, kept: dict[int, int], preemption: Preemption) -> None:
        self._memory, self._preemption, self._kept = instance.memory, preemption, kept
        self._prompt: list[int] = instance.prompt.tolist()
        self._output: list[int] = instance.output.tolist()
        self.running: dict[int, int] = {}
        self.paused: dict[int, int] = {}
        self.moved = self.prefilling = self.prefill = 0
        self._constant = 0  # tokens of the running requests at t: constant + running * t
        self._held_paused = 0
        self._ended: list[tuple[int, int, int]] = []  # request, start, stop
        self._released: dict[int, int] = {}  # of the runs whose cache stayed for a while
        self._completions: list[tuple[int, int, int]] = []  # (round, request, start), may be stale

    def complete(self, now: int) -> list[int]:
        """End the runs that complete in this round."""
        completed: list[int] = []
        while self._completions and self._completions[0][0] <= now:
            stop, i, start = heappop(self._completions)
            if self.running.get(i) == start:
                self._leave(i, start, stop)
                completed.append(i)
        return completed

    def evict(self, i: int, now: int) -> None:
        """End the run of a request before it completes."""
        start = self.running[i]
        self._leave(i, start, now)
        if self._preemption == "restart":
            return
        self._kept[i] += now - start
        tokens = held(self._prompt[i], self._kept[i])
        if self._preemption == "swap":
            self.moved += tokens
        elif self._preemption == "pause":
            self.paused[i] = len(self._ended) - 1
            self._held_paused += tokens

    def admit(self, i: int, now: int) -> None:
        """Start a request."""
        kept = self._kept[i]
        tokens = held(self._prompt[i], kept)
        self.running[i] = now
        self._constant += held(tokens, -now)
        heappush(self._completions, (now + self._output[i] - kept, i, now))
        if i in self.paused:
            self._release(i, now)
        elif kept and self._preemption == "swap":
            self.moved += tokens
        else:
            self.prefilling += 1
            self.prefill += tokens

    def make_room(self, order: Sequence[int], now: int) -> None:
        """Take the memory of paused requests until the rest fits in the next round.

        Parameters
        ----------
        order : who gives it up first; whoever is not paused is passed over, and paused requests
            that are not named come after the others, the one paused last first.
        """
        if not self.paused or self.tokens(now + 1) <= self._memory:
            return
        for i in dict.fromkeys((*order, *reversed(self.paused))):
            if i in self.paused:
                self._release(i, now)
                if self.tokens(now + 1) <= self._memory:
                    return

    def tokens(self, time: int) -> int:
        """Return the tokens held at a time if the same requests run until then."""
        return self._constant + len(self.running) * time + self._held_paused

    def read(self, now: int) -> int:
        """Return the tokens of all running requests, the ones to be prefilled included."""
        return self._constant + len(self.running) * now

    def next_completion(self) -> int:
        """Return the round in which the next request completes; `NEVER` when none runs."""
        while self._completions:
            stop, i, start = self._completions[0]
            if self.running.get(i) == start:
                return stop
            heappop(self._completions)
        return NEVER

    def last_fitting(self) -> int:
        """Return the last round in which what is in memory now still fits; one must run."""
        return (self._memory - self._constant - self._held_paused) // len(self.running)

    def begin_batch(self) -> None:
        """Forget what has been moved and prefilled: the batch that pays for it begins."""
        self.moved = self.prefilling = self.prefill = 0

    def schedule(self, instance: Instance) -> Schedule:
        """Return the runs that have ended, as a schedule of an instance."""
        released = [self._released.get(k, run[2]) for k, run in enumerate(self._ended)]
        request, start, stop = zip(*self._ended, strict=True) if self._ended else ((), (), ())
        return Schedule(instance, request, start, stop, self._preemption, released)

    def _leave(self, i: int, start: int, stop: int) -> None:
        del self.running[i]
        self._constant -= held(self._prompt[i] + self._kept[i], -start)
        self._ended.append((i, start, stop))

    def _release(self, i: int, now: int) -> None:
        self._released[self.paused.pop(i)] = now
        self._held_paused -= held(self._prompt[i], self._kept[i])
