"""What is in memory during a run, and what has been: the simulator's account of the KV cache."""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from ratiolab.model import Instance, Preemption, Schedule, held
from ratiolab.online.view import NEVER


class Work(NamedTuple):
    """The work of a batch: requests that decode, tokens of cache read, prefilled and moved."""

    decoding: int
    read: int
    prefill: int
    moved: int


class Chunks(NamedTuple):
    """Batches from `since` until `until` give so many tokens each to a request that prefills."""

    request: int | None = None
    tokens: int = 0
    since: int = 0
    until: int = NEVER


class Cache:
    """Requests in memory, running and paused, and the runs that have ended.

    Parameters
    ----------
    instance : whose requests are served; output lengths are known here.
    kept : tokens of every request from its earlier runs, which an eviction updates.
    preemption : what an eviction costs.
    budget : most tokens of a batch, at least as many as requests run; 0 sets no limit. Requests
        that decode take a token each, and the rest goes to those that prefill, in the order in
        which they were admitted.

    Attributes
    ----------
    running : start round of every running request; once a request has prefilled in chunks, the
        round of its first token.
    filling : requests whose first token is not made in the next batch, in the order in which they
        were admitted; each with the tokens that are still to be prefilled.
    paused : requests that were evicted under ``pause`` and whose tokens nobody has needed since, in
        the order of their evictions; each with the position of its run among all that have ended.
    """

    def __init__(
        self, instance: Instance, kept: dict[int, int], preemption: Preemption, budget: int = 0
    ) -> None:
        self._memory, self._preemption, self._kept = instance.memory, preemption, kept
        self._budget = budget
        self._prompt: list[int] = instance.prompt.tolist()
        self._output: list[int] = instance.output.tolist()
        self.running: dict[int, int] = {}
        self.paused: dict[int, int] = {}
        self.filling: dict[int, int] = {}
        self._began: dict[int, int] = {}  # start of the requests that prefilled in chunks
        self._new: list[int] = []  # admitted since the last batch, with nothing in memory
        self._chunks = Chunks()
        self._moved = 0  # tokens swapped since the last batch
        self._constant = 0  # tokens of requests past their prefill at t: constant + decoding * t
        self._held_paused = self._held_filling = 0
        self._ended: list[tuple[int, int, int]] = []  # request, start, stop
        self._lead: dict[int, tuple[int, int]] = {}  # of runs with one: rounds, tokens left undone
        self._released: dict[int, int] = {}  # of the runs whose cache stayed for a while
        self._completions: list[tuple[int, int, int]] = []  # (round, request, start), may be stale

    def complete(self, now: int) -> list[int]:
        """End the runs that complete in this round."""
        if self._chunks.request is not None:
            self.filling[self._chunks.request] -= self._chunks.tokens * (now - self._chunks.since)
            self._chunks = Chunks()
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
        if i in self.filling:
            self._held_filling -= held(self._prompt[i] + self._kept[i], 1)
            del self.running[i]
            self._lead[len(self._ended)] = now - start, self.filling.pop(i)
            self._ended.append((i, start, now))
            return
        self._leave(i, start, now)
        if self._preemption == "restart":
            return
        self._kept[i] += now - start
        tokens = held(self._prompt[i], self._kept[i])
        if self._preemption == "swap":
            self._moved += tokens
        elif self._preemption == "pause":
            self.paused[i] = len(self._ended) - 1
            self._held_paused += tokens

    def admit(self, i: int, now: int) -> None:
        """Start a request."""
        kept = self._kept[i]
        tokens = held(self._prompt[i], kept)
        self.running[i] = now
        if self._budget:
            self.filling[i] = tokens
            self._held_filling += held(tokens, 1)
            return
        self._make_tokens(i, now)
        if i in self.paused:
            self._release(i, now)
        elif kept and self._preemption == "swap":
            self._moved += tokens
        else:
            self._new.append(i)

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
        return self.running_tokens(time) + self._held_paused

    def running_tokens(self, time: int) -> int:
        """Return the tokens that the running requests hold at a time if they run until then."""
        decoding = len(self.running) - len(self.filling)
        return self._constant + decoding * time + self._held_filling

    def next_completion(self) -> int:
        """Return the round in which the next request completes; `NEVER` when none runs."""
        while self._completions:
            stop, i, start = self._completions[0]
            if self.running.get(i) == start:
                return stop
            heappop(self._completions)
        return NEVER

    def last_fitting(self) -> int:
        """Return the last round in which what is in memory now still fits."""
        decoding = len(self.running) - len(self.filling)
        if not decoding:
            return NEVER
        held_still = self._constant + self._held_paused + self._held_filling
        return (self._memory - held_still) // decoding

    def begin_batch(self, now: int) -> tuple[Work, Work]:
        """Return what this batch does, and what the next one does if nobody joins or leaves.

        A request that prefills the last of its tokens makes its first one in the same batch. A
        chunk reads the cache of the chunks before it, as a decoding request reads its own.
        """
        decoding = len(self.running) - len(self.filling) - len(self._new)
        room, prefill, reread = self._budget - decoding, 0, 0
        for i in list(self.filling):
            if (left := self.filling[i]) > room:
                break
            room -= left
            prefill += left
            reread += self._prompt[i] + self._kept[i] - left
            self._held_filling -= held(self._prompt[i] + self._kept[i], 1)
            del self.filling[i]
            if self.running[i] != now:
                self._began[i] = self.running[i]
                self.running[i] = now
            self._make_tokens(i, now)
            self._new.append(i)
        starting = sum(self._prompt[i] + self._kept[i] for i in self._new)
        cached = self._constant + (len(self.running) - len(self.filling)) * now
        if not self._budget:
            prefill = starting
        begun, self._new = bool(self._new), []
        chunk = before = 0
        if self.filling and room:
            i, left = next(iter(self.filling.items()))
            chunk, before = room, self._prompt[i] + self._kept[i] - left
            last = 1 if begun else (left - 1) // room
            self._chunks = Chunks(i, room, now, now + last)
        read = cached - starting + reread + before
        first = Work(decoding, read, prefill + chunk, self._moved)
        decoding = len(self.running) - len(self.filling)
        # where somebody begins beside a chunk, the next batch is asked for anew
        second = Work(decoding, cached + decoding + before + chunk, chunk, 0)
        self._moved = 0
        return first, second

    @property
    def next_chunk(self) -> int:
        """The round in which chunks are to be handed out anew; `NEVER` when no request waits."""
        return self._chunks.until

    def schedule(self, instance: Instance) -> Schedule:
        """Return the runs that have ended, as a schedule of an instance."""
        ended = range(len(self._ended))
        released = [self._released.get(k, run[2]) for k, run in enumerate(self._ended)]
        request, start, stop = zip(*self._ended, strict=True) if self._ended else ((), (), ())
        lead, left = (
            zip(*(self._lead.get(k, (0, 0)) for k in ended), strict=True) if ended else ((), ())
        )
        return Schedule(instance, request, start, stop, self._preemption, released, lead, left)

    def _make_tokens(self, i: int, now: int) -> None:
        """Let a request make its next token in this round."""
        self._constant += held(self._prompt[i] + self._kept[i], -now)
        heappush(self._completions, (now + self._output[i] - self._kept[i], i, now))

    def _leave(self, i: int, start: int, stop: int) -> None:
        del self.running[i]
        self._constant -= held(self._prompt[i] + self._kept[i], -start)
        began = self._began.pop(i, start)
        if began < start:
            self._lead[len(self._ended)] = start - began, 0
        self._ended.append((i, began, stop))

    def _release(self, i: int, now: int) -> None:
        self._released[self.paused.pop(i)] = now
        self._held_paused -= held(self._prompt[i], self._kept[i])
