"""Looking for instances with equal prompts, all at round 0, on which MC-SF is far from optimal."""

from fractions import Fraction

from ratiolab.model.streams import stream
from ratiolab.papers.jaillet2025.claims._cases import Case, least


def ratio(case: Case) -> Fraction:
    """Return MC-SF over the optimum by brute force; at most 8 requests."""
    return Fraction(case.mc_sf().total_latency, least(case.prompt, case.outputs, case.memory))


def climb(seed: int, requests: int, steps: int, longest: int = 7) -> tuple[Fraction, Case]:
    """Climb from a random case to a larger ratio: change an output, the prompt or the memory.

    Each step costs one brute force, whose reach is 8 requests. A climb ends in a local maximum:
    with 8 requests, 200 steps and outputs to 5, twelve seeds come to between 21/19 and 15/13. The
    witness of Theorem 4.3, 22/19, came from such a climb with another generator; none passed it.
    """
    rng = stream(seed, "cases")

    def fitting(prompt: int, outputs: list[int], slack: int) -> Case:
        return Case(prompt, tuple(sorted(outputs)), 2 * (prompt + max(outputs)) + slack)

    prompt, slack = 0, 0
    outputs = rng.integers(1, longest + 1, requests).tolist()
    best = fitting(prompt, outputs, slack)
    highest = ratio(best)
    for _ in range(steps):
        changed, new_prompt, new_slack = list(outputs), prompt, slack
        move = rng.integers(6)
        if move == 0:
            new_prompt = int(rng.integers(3))
        elif move == 1:
            new_slack = int(rng.integers(longest))
        else:
            for i in rng.integers(requests, size=int(move) - 1).tolist():
                changed[i] = int(rng.integers(1, longest + 1))
        case = fitting(new_prompt, changed, new_slack)
        found = ratio(case)
        if found >= highest:
            best, highest = case, found
            prompt, outputs, slack = new_prompt, changed, new_slack
    return highest, best
