"""RR-SJF, Section 1 with the memory of Section 6: shortest job first in batches."""

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict
from ratiolab.papers.gogineni2024.claims._service import SOURCE
from ratiolab.papers.witness import Witness, read_witness

ID = "gogineni2024/sjf-optimal-e2e-memory"
NAME = "gogineni2024-sjf-optimal-e2e-memory"
INSTANCE = Instance("one long prompt", 10, [0] * 4, [9, 1, 1, 1], [1, 2, 2, 2])
EQUAL = Instance("equal prompts", 10, [0] * 4, [1, 1, 1, 1], [1, 2, 2, 2])


def check(instance: Instance, budget: Budget) -> ClaimResult:
    """Simulate shortest job first by output length and solve for the optimum."""
    cost = simulate(instance, make("mc-sf")).schedule.total_latency
    optimum = solve(instance)
    holds = cost == optimum.lower
    return ClaimResult(
        Verdict.HOLDS if holds else Verdict.FALSE,
        "1 instance",
        "shortest job first has the least total latency",
        f"{cost}; optimum in [{optimum.lower}, {optimum.upper}]",
        f"batches as large as memory allows, shortest output first; optimum by "
        f"{optimum.lower_source}. The paper says so itself: large prompts may hold up others",
        None if holds else NAME,
    )


def recheck() -> str:
    """Judge both schedules of the witness, and simulate shortest job first."""
    witness = read_witness(NAME)
    assert witness.claim == ID
    sjf, better = (witness.schedule(name).total_latency for name in ("shortest first", "better"))
    assert simulate(witness.instance, make("mc-sf")).schedule.total_latency == sjf
    assert (sjf, better) == (witness.figures["shortest first"], witness.figures["better"])
    assert better < sjf
    return f"shortest job first has total latency {sjf}, another feasible schedule {better}"


def witness() -> Witness:
    """The shipped witness."""
    return Witness(
        ID,
        INSTANCE,
        {"shortest first": (0, 1, 1, 1), "better": (2, 0, 0, 0)},
        {"shortest first": 10, "better": 9},
    )


CLAIM = Claim(
    id=ID,
    source=SOURCE.format("Section 1; Section 6 on memory"),
    statement=(
        "Shortest job first minimises the mean end-to-end latency of requests that are served in "
        "batches under a memory limit."
    ),
    direction=Direction.EQUAL,
    assumptions=(
        "unit rounds, KV memory of prompt and generated tokens, no preemption",
        "shortest output first, as many as stay feasible, none past the first misfit",
        "the paper leaves memory to future work and expects this",
    ),
    expected=Verdict.FALSE,
    check=check,
    claimed=INSTANCE,
    control=EQUAL,
    control_verdict=Verdict.HOLDS,
    recheck=recheck,
)
