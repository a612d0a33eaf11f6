"""Protection by alpha and clearing by beta, as the paper prints them."""

from fractions import Fraction
from typing import Any

from round_by_round import Job, running, tokens_next, waiting


def protected(now, memory, jobs, alpha, chosen, *, once=False):
    """Clear those who are chosen until the others fit; else admit below (1 - alpha) M."""
    cleared: list[Job] = []
    active = sorted(running(jobs), key=lambda job: job.index)
    overflows = tokens_next(now, active) > memory
    while tokens_next(now, active) > memory:
        cleared += (going := chosen(active))
        active = [job for job in active if job not in going]
        if once:
            break
    admitted: list[Job] = []
    if cleared or (overflows and active):
        return cleared, []
    for job in sorted(waiting(now, jobs), key=lambda job: (job.arrival, job.index)):
        usage = tokens_next(now, active) + sum(other.prompt + other.kept + 1 for other in admitted)
        nobody = not active and not admitted
        if usage + job.prompt + job.kept + 1 > (1 - Fraction(alpha)) * memory and not nobody:
            break
        admitted.append(job)
    return [], admitted


def alpha_protection(now: int, memory: int, jobs: list[Job], alpha: str = "1/4") -> Any:
    return protected(now, memory, jobs, alpha, lambda active: active)


def alpha_beta_clearing(now, memory, jobs, alpha, beta, rng, overflow="never"):
    def chosen(active: list[Job]) -> list[Job]:
        draws = [rng.random() for _ in active]
        return [job for job, draw in zip(active, draws, strict=True) if draw < float(beta)]

    return protected(now, memory, jobs, alpha, chosen, once=overflow == "allowed")
