"""RR-SJF, Section 1 with the memory of Section 6: shortest job first in batches."""

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.claim import FALSE, ClaimResult, decided
from ratiolab.papers.gogineni2024 import PAPER
from ratiolab.papers.witness import read_witness

ID = "gogineni2024/sjf-optimal-e2e-memory"
NAME = "gogineni2024-sjf-optimal-e2e-memory"
INSTANCE = Instance("one long prompt", 10, [0] * 4, [9, 1, 1, 1], [1, 2, 2, 2])
EQUAL = Instance("equal prompts", 10, [0] * 4, [1, 1, 1, 1], [1, 2, 2, 2])


def recheck() -> str:
    """Judge both schedules of the witness, and simulate shortest job first."""
    witness = read_witness(NAME)
    assert witness.claim == ID
    sjf, better = (witness.schedule(name).total_latency for name in ("shortest first", "better"))
    assert simulate(witness.instance, make("mc-sf")).schedule.total_latency == sjf
    assert (sjf, better) == (witness.figures["shortest first"], witness.figures["better"])
    assert better < sjf
    return f"shortest job first has total latency {sjf}, another feasible schedule {better}"


@PAPER.claim(
    "Section 1; Section 6 on memory",
    expected=FALSE,
    claimed=INSTANCE,
    control=EQUAL,
    recheck=recheck,
    assumes=(
        "unit rounds, KV memory of prompt and generated tokens, no preemption",
        "shortest output first, as many as stay feasible, none past the first misfit",
        "the paper leaves memory to future work and expects this",
    ),
)
def sjf_optimal_e2e_memory(instance: Instance) -> ClaimResult:
    """Shortest job first minimises the mean end-to-end latency of requests that are served in
    batches under a memory limit.
    """
    cost = simulate(instance, make("mc-sf")).schedule.total_latency
    optimum = solve(instance).uninterrupted()
    return decided(
        cost == optimum.lower,
        "1 instance",
        "shortest job first has the least total latency",
        f"{cost}; optimum in [{optimum.lower}, {optimum.upper}]",
        f"batches as large as memory allows, shortest output first; optimum by "
        f"{optimum.lower_source}. The paper says so itself: large prompts may hold up others",
        NAME,
    )
