"""The dynamic program over cells: laws on tiny instances, whose optimum another search knows."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from tiny_instances import tiny

from ratiolab.hindsight import solve
from ratiolab.hindsight.cells.delays import Delays
from ratiolab.hindsight.cells.engine import CellProgram, Proof
from ratiolab.hindsight.cells.master import problem_of
from ratiolab.hindsight.certificates.certificate import cell_certificate
from ratiolab.hindsight.certificates.certify import certify
from ratiolab.hindsight.certificates.effort import CertificateError
from ratiolab.hindsight.params import CellsParams
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, list_schedule
from ratiolab.hindsight.tiny import tiny_optimum
from ratiolab.model import Instance, Schedule, require_feasible
from ratiolab.model.streams import stream


class Run:
    """A run of the program from a poor schedule, with all that it finds."""

    def __init__(self, instance: Instance, seed: int, asked: int = 10**9, **numbers: int) -> None:
        rng = stream(seed, "search")
        self.instance = instance
        self.best = list_schedule(instance, rng.permutation(len(instance)))
        self.proofs: list[Proof] = []
        params = CellsParams(**numbers)  # type: ignore[arg-type]
        questions = count()
        stop = lambda: next(questions) > asked  # noqa: E731
        program = CellProgram(instance, lambda: self.upper, stop, self._found, params)
        program.run(self.best.starts, lambda: seed % 3 == 0)

    @property
    def upper(self) -> int:
        """Return the latency of the best schedule."""
        return self.best.total_latency

    @property
    def lower(self) -> int:
        """Return the best bound; the sum of the outputs is one."""
        bounds = [proof.bound for proof in self.proofs]
        return max([int(self.instance.output.sum()), *bounds])

    def _found(self, schedule: Schedule | None, proof: Proof | None) -> None:
        if schedule is not None and schedule.total_latency < self.upper:
            self.best = require_feasible(schedule)
        if proof is not None:
            self.proofs.append(proof)


@pytest.mark.parametrize("block", range(4))
def test_bounds_and_schedules_meet_in_the_optimum_and_the_checker_agrees(block: int) -> None:
    for seed in range(20_000 + 60 * block, 20_060 + 60 * block):
        instance = tiny(seed, most=7, longest=9)
        optimum = tiny_optimum(instance).latency
        assert optimum is not None
        cells, width = (1, 4, 16, 64)[seed % 4], (1, 3, 20, 10_000)[seed // 4 % 4]
        run = Run(instance, seed, cells=cells, width=width)
        assert run.lower == optimum == run.upper
        for proof in run.proofs[-1:]:
            rows = list(zip(*(column.tolist() for column in proof.rows), strict=True))
            certificate = cell_certificate(instance, proof.bound, rows, proof.width)
            assert certify(certificate, instance) == proof.bound
            with pytest.raises(CertificateError):
                certify(replace(certificate, bound=optimum + 1), instance)


def test_a_narrow_pass_proves_a_smaller_bound_and_never_a_false_one() -> None:
    """With one label a layer the limit falls, and what is proven stays below the optimum."""
    fell = 0
    for seed in range(30):
        instance = tiny(seed, most=7, longest=9)
        optimum = tiny_optimum(instance).latency
        run = Run(instance, seed, asked=30, width=1, growth=2)
        assert optimum is not None
        assert run.lower <= optimum <= run.upper
        fell += run.lower < optimum
    assert fell


def _conversations(scale: int) -> Instance:
    rng = stream(7, "instance")
    prompt, output = rng.integers(200, 900, 8), rng.integers(20, 200, 8)
    return Instance("eight", 2_048 * scale, np.zeros(8, int), prompt * scale, output * scale)


def test_memory_of_thousands_of_tokens_is_solved_to_proof() -> None:
    result = solve(_conversations(1))
    assert result.status == "optimal"
    assert result.lower_source == "cells"
    assert certify(result.certificate, result.instance) == result.upper


def test_more_requests_than_a_word_holds_are_declined_with_a_note() -> None:
    columns = np.zeros(70, int), np.full(70, 60), np.arange(1, 71)
    result = solve(Instance("many", 200, *columns), time_limit=0.5, threads=1)
    notes = {stage.name: stage.note for stage in result.stages}
    assert "70 requests, more than 62" in notes["cells"]


def test_lists_with_delays_are_schedules_and_find_what_lists_do_not() -> None:
    """Smallest volume first waits for nobody; the optimum lets a small request wait."""
    better = 0
    for seed in range(30):
        instance = tiny(seed, most=7, longest=9)
        first = best_list_schedule(instance)
        search = Delays(problem_of(instance), first.starts, np.random.default_rng(seed))
        search.step()
        found = require_feasible(Schedule.from_starts(instance, search.starts))
        assert tiny_optimum(instance).latency <= found.total_latency <= first.total_latency
        better += found.total_latency < first.total_latency
    assert better
