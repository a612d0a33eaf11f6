"""What the exact engines reach with a counted effort: no change may lose more than .1 % of it.

The effort is rounds of cuts, widths of layers and numbers of labels, and not time. HiGHS finds one
of many optimal duals, and on another processor another one: a number is the least that was reached.
A better bound or schedule passes; then its number is written here anew.
"""

from itertools import count

import pytest

from ratiolab.hindsight.cells.engine import CellProgram, Proof
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.labelling.loop import Loop, Surroundings
from ratiolab.hindsight.params import CellsParams, LabellingParams, SolveParams
from ratiolab.hindsight.schedules.heuristics import best_list_schedule, improved_schedule
from ratiolab.model import Instance, Schedule, require_feasible, stream
from ratiolab.workloads.generators import generate

LABELS = SolveParams(labelling=LabellingParams(first_width=250, most_width=1_000))
CELLS = CellsParams(width=500, room=20_000)
QUESTIONS = 20_000
"""Times that the labelling loop asks whether to stop: once a layer and start."""


def paper(n: int, seed: int) -> Instance:
    return generate("jaillet-model-1", seed, n_least=n, n_most=n)


def shape(name: str, n: int, memory: int) -> Instance:
    """Requests in the shape of a trace, lengths scaled so that 8,000 tokens become the memory."""
    scale = 8_000 // memory
    return generate(f"trace-{name}", 1, n=n, memory=8_000, load=1.2, scale=scale)


def good(instance: Instance) -> Schedule:
    """Return a schedule that a short annealing finds."""
    return improved_schedule(best_list_schedule(instance), stream(0, "search"), 5_000)


def by_labels(instance: Instance) -> tuple[int, int]:
    """Return the interval that cuts and the labelling loop leave."""
    known, asked = good(instance), count(1)
    proven = cut_bound(instance, horizon=known.makespan, rounds=4).certificate
    lower, upper = [proven.bound], [known.total_latency]

    def found(schedule: Schedule | None, certificate: object) -> None:
        if schedule is not None:
            upper.append(require_feasible(schedule).total_latency)
        if certificate is not None:
            lower.append(certificate.bound)  # type: ignore[attr-defined]

    around = Surroundings(lambda: min(upper), lambda: next(asked) > QUESTIONS, found)
    Loop(instance, proven, around, LABELS).run()
    return max(lower), min(upper)


def by_cells(instance: Instance) -> tuple[int, int]:
    """Return the interval that prices and one pass or two of the program over cells leave."""
    known = good(instance)
    lower, upper = [int(instance.output.sum())], [known.total_latency]

    def found(schedule: Schedule | None, proof: Proof | None) -> None:
        if schedule is not None:
            upper.append(require_feasible(schedule).total_latency)
        if proof is not None:
            lower.append(proof.bound)

    program = CellProgram(instance, lambda: min(upper), lambda: False, found, CELLS)
    program.run(known.starts, lambda: False)
    return max(lower), min(upper)


LABELLED: dict[tuple[int, int], tuple[int, int]] = {
    (8, 1): (262, 262),
    (8, 2): (495, 495),
    (12, 1): (685, 685),
    (12, 2): (393, 403),
    (15, 1): (792, 799),
    (15, 2): (798, 816),
    (20, 1): (1114, 1174),
    (20, 2): (1661, 1717),
    (25, 1): (1445, 1496),
    (25, 2): (3622, 3791),
    (30, 1): (2456, 2619),  # 2463 on another processor
    (40, 1): (4630, 5051),
}
CELLED: dict[tuple[str, int, int], tuple[int, int]] = {
    ("conversations", 12, 200): (54, 54),
    ("conversations", 20, 1000): (547, 547),
    ("conversations", 30, 1000): (851, 888),
    ("conversations", 40, 200): (192, 201),
    ("code", 12, 200): (13, 13),
    ("code", 20, 1000): (89, 89),
    ("code", 30, 1000): (109, 109),
    ("code", 40, 200): (59, 59),
    ("summaries", 12, 200): (59, 59),
    ("summaries", 20, 1000): (1258, 1258),
    ("summaries", 30, 1000): (1799, 2324),
    ("summaries", 40, 200): (345, 406),
}


@pytest.mark.long
@pytest.mark.parametrize("case", LABELLED)
def test_labels_reach_as_much_as_before(case: tuple[int, int]) -> None:
    lower, upper = by_labels(paper(*case))
    least, most = LABELLED[case]
    assert 0.999 * least <= lower <= upper <= 1.001 * most


@pytest.mark.long
@pytest.mark.parametrize("case", CELLED)
def test_cells_reach_as_much_as_before(case: tuple[str, int, int]) -> None:
    lower, upper = by_cells(shape(*case))
    least, most = CELLED[case]
    assert 0.999 * least <= lower <= upper <= 1.001 * most
