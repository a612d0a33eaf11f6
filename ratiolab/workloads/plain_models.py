"""Workloads of one output distribution, all prompts equal: the settings that theory speaks of.

A distribution is a function of its own parameters; `law_kind` adds the parameters that all these
workloads share.
"""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.random import Generator

from ratiolab.model import Instance
from ratiolab.theory.laws import distributions
from ratiolab.theory.laws.distributions import LengthDistribution
from ratiolab.workloads import lengths, predictions
from ratiolab.workloads.arrivals import poisson_arrivals
from ratiolab.workloads.kinds import (
    Decay,
    Domain,
    Kind,
    Length,
    Memory,
    Prompt,
    Rate,
    Requests,
    Share,
    parameters_of,
    summary_of,
)


def law_kind(
    name: str,
    source: str,
    law: Callable[..., LengthDistribution],
    *,
    memory: int = 100,
    prompt: int = 1,
) -> Kind:
    """Make a kind of an output distribution, whose range is the interval of all requests."""

    def build(
        rng: Generator,
        *,
        n: Requests = 40,
        memory: Memory = memory,
        prompt: Prompt = prompt,
        rate: Rate = 0.0,
        **own: float,
    ) -> Instance:
        drawn = law(**own)
        _require_room(prompt, drawn.upper, memory)
        output = drawn.sample(rng, n)
        arrival = poisson_arrivals(rng, n, rate)
        instance = Instance(drawn.name, memory, arrival, np.full(n, prompt), output)
        return predictions.rough(instance, drawn.lower, drawn.upper)

    *shared, arrivals = parameters_of(build)
    parameters = (*shared, *parameters_of(law), arrivals)
    return Kind(name, summary_of(law), source, parameters, build)


def equal(*, output: Length = 10) -> LengthDistribution:
    """Make identical requests, lengths known."""
    return distributions.uniform(output, output)


def uniform(*, lower: Length = 1, upper: Length = 10) -> LengthDistribution:
    """Draw outputs uniform on lower..upper."""
    return distributions.uniform(lower, upper)


def two_point(*, lower: Length = 1, upper: Length = 10, share: Share = 0.5) -> LengthDistribution:
    """Draw outputs lower or upper, the second with probability share."""
    return distributions.two_point(lower, upper, share)


def geometric(*, q: Decay = 0.8, upper: Length = 50) -> LengthDistribution:
    """Draw outputs with P(o = k) proportional to q^(k-1), conditioned on o at most upper."""
    return distributions.geometric(q, upper)


def linear_geometric(*, q: Decay = 0.8, upper: Length = 50) -> LengthDistribution:
    """Draw outputs with P(o = k) proportional to k q^(k-1), conditioned on o at most upper."""
    return distributions.linearly_weighted_geometric(q, upper)


def power_law(
    *,
    lower: Length = 1,
    upper: Length = 50,
    exponent: Annotated[float, Domain(0.01, 20, "decay of P(o >= k)")] = 1.0,
) -> LengthDistribution:
    """Draw outputs with P(o >= k) = (lower/k)^exponent, longer ones stopped at upper."""
    return distributions.power(lower, upper, exponent)


def heavy_tail(
    *,
    mu: Annotated[float, Domain(-20, 20, "mean of the logarithm")] = 3.0,
    sigma: Annotated[float, Domain(0.001, 20, "scale of the logarithm")] = 1.0,
    nu: Annotated[float, Domain(0.1, 1000, "degrees of freedom")] = 3.5,
    upper: Length = 500,
) -> LengthDistribution:
    """Draw log-t outputs, longer ones stopped at upper."""
    return lengths.log_t(mu, sigma, nu, upper)


def log_t_laws(
    rng: Generator,
    *,
    n: Requests = 40,
    memory: Memory = 1000,
    prompt: Prompt = 10,
    mu: Annotated[float, Domain(0, 20, "mean of the locations")] = 3.0,
    between: Annotated[float, Domain(0, 20, "standard deviation of the locations")] = 0.8,
    sigma: Annotated[float, Domain(0.001, 20, "median scale of a distribution")] = 0.585,
    spread: Annotated[float, Domain(0, 5, "scales vary by factors up to 2^spread")] = 1.0,
    nu: Annotated[float, Domain(0.1, 1000, "degrees of freedom")] = 3.5,
    upper: Length = 500,
    rate: Rate = 0.0,
) -> Instance:
    """Draw each output from a log-t distribution of its own, which is told, up to upper.

    Locations are normal, at least 0; scales sigma * 2**U, U uniform on [-spread, spread].
    Distributions are rounded to thousandths before outputs are drawn, so that they are exactly what
    is told.
    """
    _require_room(prompt, upper, memory)
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


def _require_room(prompt: int, longest: int, memory: int) -> None:
    if prompt + longest > memory:
        raise ValueError(f"prompt {prompt} + longest output {longest} exceeds memory {memory}")
