"""The stage of a solve that runs the dynamic program over cells, for memories beyond labels."""

from dataclasses import dataclass, replace

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.cells.engine import CellProgram, Proof, compile_cells, declined
from ratiolab.hindsight.certificates.certificate import cell_certificate
from ratiolab.hindsight.labelling.weights import MOST_MEMORY
from ratiolab.hindsight.search import delay_search
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model.schedule import Schedule
from ratiolab.model.streams import stream

LABEL_BYTES, RUNNING_BYTES = 170, 8
"""Bytes that a label takes with its two edges and its places in a hash table; and what each request
that may run with others adds."""


def reason_against(state: SolveState) -> str:
    """Return why the dynamic program over cells does not run; nothing where it does."""
    if state.instance.memory <= MOST_MEMORY:
        return f"labels take a memory of {state.instance.memory}"
    return declined(state.instance, state.schedule.makespan)


@dataclass(frozen=True)
class Cells:
    """The dynamic program over cells, in a part of the time that is left."""

    part: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        instance, params = state.instance, state.params.cells
        reason = reason_against(state)
        if reason:
            return Found(note=f"no dynamic program over cells: {reason}")
        size = LABEL_BYTES + RUNNING_BYTES * len(instance)
        budget = memory.half() if state.memory_budget is None else state.memory_budget
        most = params.room if state.time_left is not None else params.room_unlimited
        room = int(min(most * size, budget)) // size
        if room < params.width:
            return Found(note="no dynamic program over cells: no room for its labels")
        params = replace(params, room=room)
        with state.uncounted("compiling, once after installation"):
            compile_cells()

        def found(schedule: Schedule | None, proof: Proof | None) -> None:
            if proof is None:
                call.found(Found(schedule))
                return
            rows = zip(*(column.tolist() for column in proof.rows), strict=True)
            certificate = cell_certificate(instance, proof.bound, rows, proof.width)
            call.found(Found(schedule, LowerBound(proof.bound, "cells"), certificate))

        rng = stream(state.options.seed, "search", 4)
        alone = not state.helped and state.options.steps  # else another thread does it

        def improve() -> None:
            ended = lambda: state.closed or stop()  # noqa: E731
            delay_search(state, rng, ended, params.annealings if alone else 0)

        stop, priced = state.deadline(self.part), state.deadline(self.part * params.share)
        program = CellProgram(instance, lambda: state.upper, stop, found, params)
        program.run(state.schedule.starts, priced, improve)
        limit = "time limit" if stop() else "room for labels"
        return Found(note="" if state.closed else f"cells stopped by the {limit}")
