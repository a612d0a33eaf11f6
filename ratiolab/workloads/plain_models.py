"""Workloads of one output law, all prompts equal: the settings that theory speaks of."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from ratiolab.model import Instance
from ratiolab.workloads import lengths, predictions
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.kinds import Decay, Domain, Length, Memory, Prompt, Rate, Requests, Share


def equal(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 100,
    prompt: Prompt = 1,
    output: Length = 10,
    rate: Rate = 0.0,
) -> Instance:
    """Make identical requests, lengths known."""
    return _same_prompts(rng, lengths.uniform(output, output), n, memory, prompt, rate)


def uniform(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 100,
    prompt: Prompt = 1,
    lower: Length = 1,
    upper: Length = 10,
    rate: Rate = 0.0,
) -> Instance:
    """Draw outputs uniform on lower..upper."""
    return _same_prompts(rng, lengths.uniform(lower, upper), n, memory, prompt, rate)


def two_point(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 100,
    prompt: Prompt = 1,
    lower: Length = 1,
    upper: Length = 10,
    share: Share = 0.5,
    rate: Rate = 0.0,
) -> Instance:
    """Draw outputs lower or upper, the second with probability share."""
    return _same_prompts(rng, lengths.two_point(lower, upper, share), n, memory, prompt, rate)


def geometric(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 100,
    prompt: Prompt = 1,
    q: Decay = 0.8,
    upper: Length = 50,
    rate: Rate = 0.0,
) -> Instance:
    """Draw outputs with P(o = k) proportional to q^(k-1), conditioned on o at most upper."""
    return _same_prompts(rng, lengths.geometric(q, upper), n, memory, prompt, rate)


def linear_geometric(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 100,
    prompt: Prompt = 1,
    q: Decay = 0.8,
    upper: Length = 50,
    rate: Rate = 0.0,
) -> Instance:
    """Draw outputs with P(o = k) proportional to k q^(k-1), conditioned on o at most upper."""
    law = lengths.linearly_weighted_geometric(q, upper)
    return _same_prompts(rng, law, n, memory, prompt, rate)


def heavy_tail(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 1000,
    prompt: Prompt = 10,
    mu: Annotated[float, Domain(-20, 20, "mean of the logarithm")] = 3.0,
    sigma: Annotated[float, Domain(0.001, 20, "scale of the logarithm")] = 1.0,
    nu: Annotated[float, Domain(0.1, 1000, "degrees of freedom")] = 3.5,
    upper: Length = 500,
    rate: Rate = 0.0,
) -> Instance:
    """Draw log-t outputs, longer ones stopped at upper."""
    return _same_prompts(rng, lengths.log_t(mu, sigma, nu, upper), n, memory, prompt, rate)


def log_t_laws(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 1000,
    prompt: Prompt = 10,
    mu: Annotated[float, Domain(0, 20, "mean of the locations")] = 3.0,
    between: Annotated[float, Domain(0, 20, "standard deviation of the locations")] = 0.8,
    sigma: Annotated[float, Domain(0.001, 20, "median scale of a law")] = 0.585,
    spread: Annotated[float, Domain(0, 5, "scales vary by factors up to 2^spread")] = 1.0,
    nu: Annotated[float, Domain(0.1, 1000, "degrees of freedom")] = 3.5,
    upper: Length = 500,
    rate: Rate = 0.0,
) -> Instance:
    """Draw each output from a log-t law of its own, which is told; stop longer ones at upper.

    Locations are normal, at least 0; scales sigma * 2**U, U uniform on [-spread, spread]. Laws are
    rounded to thousandths before outputs are drawn, so that they are exactly what is told.
    """
    if prompt + upper > memory:
        raise ValueError(f"prompt {prompt} + longest output {upper} exceeds memory {memory}")
    location = np.rint(1000 * np.maximum(rng.normal(mu, between, n), 0)).astype(np.int64)
    scale = np.rint(1000 * sigma * 2 ** rng.uniform(-spread, spread, n)).astype(np.int64)
    scale, freedom = np.maximum(scale, 1), round(1000 * nu)
    logs = (location + scale * rng.standard_t(freedom / 1000, n)) / 1000
    output = np.rint(np.exp(np.clip(logs, 0, np.log(upper)))).astype(np.int64)
    return Instance(
        "log-t laws",
        memory,
        poisson_arrivals(rng, n, rate),
        np.full(n, prompt),
        output,
        lower=np.ones(n, np.int64),
        upper=np.full(n, upper),
        predicted=np.rint(np.exp(location / 1000)).astype(np.int64),
        location=location,
        scale=scale,
        freedom=np.full(n, freedom),
    )


def _same_prompts(
    rng: Generator,
    law: lengths.LengthDistribution,
    n: int,
    memory: int,
    prompt: int,
    rate: float,
) -> Instance:
    """Draw outputs of one law, whose range is the prediction interval of every request."""
    if prompt + law.upper > memory:
        longest = f"prompt {prompt} + longest output {law.upper}"
        raise ValueError(f"{longest} exceeds memory {memory}")
    output = law.sample(rng, n)
    arrival = poisson_arrivals(rng, n, rate)
    instance = Instance(law.name, memory, arrival, np.full(n, prompt), output)
    return predictions.rough(instance, law.lower, law.upper)
