"""Large n and M by simulation: where ratios of total latency go when the shares of lengths stay.

An instance has round(n x_k) requests of every length k, all present at round 0 with the common
interval [l, u]; only the order that a policy draws is random. Total latency is n**2 / (2 M) times a
constant, with relative error O(1/M) from memory that does not divide evenly and O(M/n) from the
first and last batches; so n should be many times M, and of order M**2 when 1/M is extrapolated.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

from ratiolab.model import Instance
from ratiolab.online import Policy, make, simulate
from ratiolab.theory.estimate import Estimate
from ratiolab.theory.laws.distributions import LengthDistribution, Number
from ratiolab.theory.limits.fluid import shortest_first_latency

Denominator: TypeAlias = Literal["h-sf", "fluid"]


def scaled_instance(
    distribution: LengthDistribution, prompt: int, memory: int, requests: int
) -> Instance:
    """Return about `requests` requests whose lengths have the distribution's shares, rounded."""
    table = zip(distribution.lengths.tolist(), distribution.probabilities, strict=True)
    outputs = [length for length, share in table for _ in range(round(requests * share))]
    n = len(outputs)
    return Instance(
        f"{distribution.name}, M = {memory}",
        memory,
        [0] * n,
        [prompt] * n,
        outputs,
        lower=[distribution.lower] * n,
        upper=[distribution.upper] * n,
    )


def fluid_ratio(
    policy: Policy,
    distribution: LengthDistribution,
    prompt: int,
    memory: int,
    requests: int,
    seeds: Sequence[int],
    denominator: Denominator = "h-sf",
    *,
    extrapolate: bool = False,
) -> Estimate:
    """Simulate TEL(policy) / TEL(H-SF) at one size; 99% Student interval over the seeds.

    The denominator ``h-sf`` simulates H-SF on the same instance, ``fluid`` takes its exact limit
    n**2 / (2 M) `shortest_first_latency`. To extrapolate is to go to 1/M = 0, linearly, from (M, n)
    and (2 M, 4 n), seed by seed: with n of order M**2 both errors are of order 1/M, so
    2 r(2 M) - r(M) leaves O(1/M**2). The interval is that of the sampling alone.

    Source: Chen, Ye, Zhou (2025), Definition 1, arXiv 2508.14544v2.
    """

    def ratios(memory: int, requests: int) -> list[float]:
        instance = scaled_instance(distribution, prompt, memory, requests)
        if denominator == "h-sf":
            base: Number = simulate(instance, make("h-sf")).schedule.total_latency
        else:
            unit = Fraction(len(instance) ** 2, 2 * memory)
            base = unit * shortest_first_latency(distribution, prompt)
        runs = (simulate(instance, policy, seed=seed) for seed in seeds)
        return [float(run.schedule.total_latency / base) for run in runs]

    found = ratios(memory, requests)
    if extrapolate:
        finer = ratios(2 * memory, 4 * requests)
        found = [2 * fine - coarse for coarse, fine in zip(found, finer, strict=True)]
    return Estimate.of(found)
