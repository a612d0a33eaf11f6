"""The workloads of two papers: arrival models, and predictions on lengths like LMSYS-Chat-1M."""

from collections.abc import Callable
from typing import Annotated, TypeAlias

import numpy as np
from numpy.random import Generator

from ratiolab.model import Instance, IntArray, stream
from ratiolab.theory.laws.distributions import LengthDistribution
from ratiolab.workloads import lengths, predictions
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.blocks import blocks_of, in_blocks
from ratiolab.workloads.kinds import (
    Domain,
    Kind,
    Length,
    Memory,
    Rate,
    Requests,
    Round,
    parameters_of,
    summary_of,
)

PAPER_MEMORY = 16492
"""Tokens; Llama2-70B on two A100, Jaillet et al. (2025), Appendix C. Chen et al. state none."""

Block: TypeAlias = Annotated[int, Domain(1, 10**6, "tokens in a KV block; 1: no blocks")]


def jaillet_model_1(
    rng: Generator,
    *,
    n_least: Requests = 40,
    n_most: Requests = 60,
    memory_least: Memory = 30,
    memory_most: Memory = 50,
    prompt_most: Length = 5,
) -> Instance:
    """Draw all at round 0; n, M, prompts and outputs uniform, s + o at most M."""
    memory = _between(rng, "memory", memory_least, memory_most)
    n = _between(rng, "n", n_least, n_most)
    prompt, output = _jaillet_lengths(rng, n, memory, prompt_most)
    return Instance("jaillet-model-1", memory, np.zeros(n, dtype=np.int64), prompt, output)


def jaillet_model_2(
    rng: Generator,
    *,
    horizon_least: Round = 40,
    horizon_most: Round = 60,
    rate_least: Rate = 0.5,
    rate_most: Rate = 1.5,
    memory_least: Memory = 30,
    memory_most: Memory = 50,
    prompt_most: Length = 5,
) -> Instance:
    """Draw Poisson arrivals in rounds 1 to T; T, rate, M and lengths uniform."""
    if not 0 < rate_least <= rate_most:
        raise ValueError(f"rate_least {rate_least} must be above 0 and at most rate_most")
    horizon = _between(rng, "horizon", horizon_least, horizon_most)
    rate = rng.uniform(rate_least, rate_most)
    memory = _between(rng, "memory", memory_least, memory_most)
    counts = rng.poisson(rate, horizon)
    if counts.sum() == 0:
        raise ValueError(f"no request arrives in {horizon} rounds: choose another seed or rate")
    arrival = np.repeat(np.arange(1, horizon + 1), counts)
    prompt, output = _jaillet_lengths(rng, len(arrival), memory, prompt_most)
    return Instance("jaillet-model-2", memory, arrival, prompt, output)


def _jaillet_lengths(
    rng: Generator, n: int, memory: int, prompt_most: int
) -> tuple[IntArray, IntArray]:
    if prompt_most >= memory:
        raise ValueError(f"prompt_most {prompt_most} must be below the memory {memory}")
    prompt = rng.integers(1, prompt_most + 1, n)
    return prompt, rng.integers(1, memory - prompt + 1)


def _between(rng: Generator, name: str, least: int, most: int) -> int:
    if least > most:
        raise ValueError(f"{name}_least {least} exceeds {name}_most {most}")
    return int(rng.integers(least, most + 1))


Laws: TypeAlias = tuple[Callable[[], LengthDistribution], Callable[[], LengthDistribution]]
"""Prompts and outputs."""

LOG_NORMAL: Laws = lengths.lmsys_prompt, lengths.lmsys_output
MIXED: Laws = lengths.lmsys_prompt_mixed, lengths.lmsys_output_mixed


def lmsys_kind(
    name: str, source: str, predict: Callable[..., Instance], laws: Laws = LOG_NORMAL
) -> Kind:
    """Make a kind of lengths like those of LMSYS-Chat-1M, and a function that predicts them."""

    def build(
        rng: Generator,
        *,
        n: Requests = 200,
        memory: Memory = PAPER_MEMORY,
        block: Block = 1,
        rate: Rate = 0.0,
        **own: float,
    ) -> Instance:
        predicted = predict(_lmsys_lengths(rng, n, memory, block, laws), **own)
        return _arriving(rng, in_blocks(predicted, block), rate)

    parameters = (*parameters_of(build), *parameters_of(predict))
    return Kind(name, summary_of(predict), source, parameters, build)


def mixed_kind(name: str, source: str, predict: Callable[..., Instance]) -> Kind:
    """Make a kind as `lmsys_kind` does, whose lengths have the published variances, too."""
    return lmsys_kind(name, source, predict, MIXED)


def lmsys(instance: Instance) -> Instance:
    """Draw log-normal lengths with the published means and medians of LMSYS-Chat-1M."""
    return instance


def lmsys_mixed(instance: Instance) -> Instance:
    """Draw lengths of two parts, with the published means, medians and variances of LMSYS.

    Prompt and output are independent: neither paper says how they are correlated. Kinds that stand
    for traces keep the rank correlation of theirs (`ratiolab.workloads.trace_shapes`).
    """
    return instance


def lmsys_repeated(
    rng: Generator,
    *,
    n: Requests = 200,
    memory: Memory = PAPER_MEMORY,
    block: Block = 1,
    rate: Rate = 0.0,
    lengths_seed: Annotated[int, Domain(0, 2**31 - 1, "seed of the lengths")] = 0,
) -> Instance:
    """Draw lengths as in lmsys, the same for every seed: only arrivals differ."""
    same = _lmsys_lengths(stream(lengths_seed, "instance"), n, memory, block)
    arrivals = rng.spawn(1)[0]  # of its own: both seeds may be equal
    return _arriving(arrivals, in_blocks(same, block), rate)


def chen_rough(instance: Instance, *, lower: Length = 1, upper: Length = 1000) -> Instance:
    """Draw lengths as in lmsys; one prediction interval for all requests."""
    return predictions.rough(instance, lower, upper)


def chen_buckets(instance: Instance, *, width: Length = 100) -> Instance:
    """Draw lengths as in lmsys; each output is predicted to lie in its bucket."""
    return predictions.buckets(instance, width)


def chen_overlap(
    instance: Instance,
    *,
    x: Annotated[float, Domain(0, 1 - 2**-20, "half width of the interval / output")] = 0.95,
) -> Instance:
    """Draw lengths as in lmsys; each output o is predicted to lie in [(1 - x) o, (1 + x) o]."""
    return predictions.overlapping(instance, x)


def _lmsys_lengths(
    rng: Generator, n: int, memory: int, block: int, laws: Laws = LOG_NORMAL
) -> Instance:
    """Draw requests in tokens, at round 0, conditioned on prompt and output fitting together.

    Prompt and output are independent (only their own moments are published) but for that.
    """
    prompts, outputs = (law() for law in laws)
    room = (memory // block - blocks_of(prompts.lengths, block)) * block
    below = np.concatenate([[0.0], np.cumsum(outputs.array)])
    share = below[np.clip(room, 0, outputs.upper)]  # P(the output fits beside each prompt)
    fits = np.cumsum(prompts.array * share)
    if fits[-1] <= 0:
        raise ValueError(f"memory {memory} is below one block of {block} for prompt and for output")
    chosen = np.searchsorted(fits, rng.random(n) * fits[-1], side="right")
    output = np.searchsorted(below, rng.random(n) * share[chosen], side="right")
    prompt = prompts.lengths[chosen]
    return Instance("lmsys", memory, np.zeros(n, dtype=np.int64), prompt, output)


def _arriving(rng: Generator, instance: Instance, rate: float) -> Instance:
    return instance.replace(arrival=poisson_arrivals(rng, len(instance), rate))
