"""Shapes of traces: the quantiles and the load that they state are those that are drawn."""

import numpy as np
import pytest

from ratiolab.workloads.generators import generate
from ratiolab.workloads.trace_shapes import CODE, CONVERSATIONS, LEVELS, SUMMARIES

SHAPES = {"conversations": CONVERSATIONS, "code": CODE, "summaries": SUMMARIES}


@pytest.mark.parametrize("name", SHAPES)
def test_quantiles_and_load_are_those_of_the_shape(name: str) -> None:
    drawn, shape = generate(f"trace-{name}", 1, n=20_000, load=0.8), SHAPES[name]
    for column, quantiles in ((drawn.prompt, shape.prompt), (drawn.output, shape.output)):
        for level, quantile in zip(LEVELS, quantiles, strict=True):
            # a share of 20,000 has standard error 0.0035 at most; lengths are rounded
            assert np.mean(column < quantile - 1) <= level + 0.015
            assert np.mean(column <= quantile + 1) >= level - 0.015
    taken = drawn.volume.sum() / (drawn.memory * float(drawn.arrival.max()))
    assert taken == pytest.approx(0.8, rel=0.03)  # the span has standard error 0.7 %


def test_a_scale_divides_lengths_and_memory() -> None:
    whole, small = (generate("trace-code", 2, n=500, scale=scale) for scale in (1, 40))
    assert (small.memory, whole.memory) == (412, 16_492)
    assert (np.abs(small.prompt - np.maximum(whole.prompt / 40, 1)) <= 0.5).all()


def test_prompts_of_more_than_half_of_memory_are_left_out_not_cut() -> None:
    crowded = generate("trace-code", 2, n=2000, memory=3000)
    assert crowded.prompt.max() <= 1500
    assert np.mean(crowded.prompt == 1500) < 0.01
    # the median of those below 1500 tokens, half of all: the first quarter of all
    assert np.median(crowded.prompt) == pytest.approx(580, rel=0.1)


def test_memory_that_is_nothing_over_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="memory 30 over scale 10 must be at least 4 tokens"):
        generate("trace-summaries", 0, memory=30, scale=10)


def test_without_a_load_all_arrive_at_once() -> None:
    assert not generate("trace-summaries", 0, load=0).arrival.any()
