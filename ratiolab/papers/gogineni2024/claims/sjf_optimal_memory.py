"""RR-SJF, Section 1 with the memory of Section 6: shortest job first in batches."""

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers.claim import EXACT, ClaimResult, decided
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
    "Section 6",
    claimed=INSTANCE,
    control=EQUAL,
    recheck=recheck,
    assumes=(
        "unit rounds, KV memory of prompt and generated tokens, no preemption",
        "shortest output first, as many as stay feasible, none past the first misfit",
        "the control has equal prompts",
    ),
)
def sjf_optimal_e2e_memory(instance: Instance) -> ClaimResult:
    """When memory limits the batches, shortest job first need not minimise the mean end-to-end
    latency: large prompts may hold up others.
    """
    cost = simulate(instance, make("mc-sf")).schedule.total_latency
    optimum = solve(instance).uninterrupted()
    return decided(
        cost > optimum.upper,
        EXACT,
        f"{cost}; optimum in [{optimum.lower}, {optimum.upper}]",
        evidence=f"batches as large as memory allows, shortest output first; optimum by "
        f"{optimum.lower_source}; both schedules are stored in {NAME}",
        witness="shortest job first is optimal there",
    )
