"""Every known layout reads the same requests: a file for each stands in `known_logs`.

The requests, as (arrival, prompt, output, TTFT, latency), beside one that failed at 1.5 s where the
layout can say so. The files were made by hand in the form that each source documents.
"""

from pathlib import Path

import numpy as np
import pytest

from ratiolab.workloads.layouts import LAYOUTS, known_layout
from ratiolab.workloads.traces import Trace, read_trace

FOLDER = Path(__file__).parent / "known_logs"
FILES = sorted(FOLDER.iterdir())

REQUESTS = np.array(
    [
        (0.0, 100, 11, 0.25, 0.75),
        (0.5, 200, 21, 0.5, 1.5),
        (1.25, 50, 5, 0.125, 0.325),
        (2.0, 400, 2, 1.0, 1.1),
    ]
)
ARRIVAL, PROMPT, OUTPUT, TTFT, LATENCY = REQUESTS.T

NO_ARRIVAL = {"lengths", "llmperf"}
NO_LATENCY = {"azure", "lengths", "mooncake", "qwen_bailian", "vidur_requests"}
NO_TTFT = NO_LATENCY | {"burstgpt"}
WITH_FAILURE = {
    *("aiperf", "blis_trace", "guidellm", "inference_perf", "langfuse", "litellm", "llmperf"),
    *("sglang_bench", "sglang_exporter", "vllm_bench"),
}


def after_arrival(trace: Trace, instant: str) -> np.ndarray:
    times = getattr(trace, instant)
    assert times is not None
    return times if trace.seconds is None else times - trace.seconds


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_known_layout_reads_every_request_and_what_was_observed(file: Path) -> None:
    trace = read_trace(file)
    assert trace.prompt.tolist() == PROMPT.tolist()
    assert trace.output.tolist() == OUTPUT.tolist()
    if file.stem in NO_ARRIVAL:
        assert trace.seconds is None
    else:
        assert trace.seconds is not None
        assert trace.seconds == pytest.approx(ARRIVAL, abs=1e-6)
    for instant, durations, without in (
        ("finish", LATENCY, NO_LATENCY),
        ("first", TTFT, NO_TTFT),
    ):
        if file.stem in without:
            assert getattr(trace, instant) is None
        else:
            assert after_arrival(trace, instant) == pytest.approx(durations, abs=1e-6)
    assert sum(trace.dropped.values()) == (file.stem in WITH_FAILURE)
    assert all("not served" in why for why in trace.dropped)


def test_every_layout_has_a_file_and_a_source() -> None:
    read = {read_trace(file).layout for file in FILES}
    assert read == {layout.name for layout in LAYOUTS}
    assert len(FILES) == len(LAYOUTS)
    assert all(layout.source for layout in LAYOUTS)


def test_no_two_layouts_claim_the_same_columns() -> None:
    """The widest layout that fits is taken, so none may be as wide as another one on its file."""
    for layout in LAYOUTS:
        names = [*layout.columns.values(), *layout.marks]
        header = {each if isinstance(each, str) else each[0] for each in names}
        assert known_layout(header) == layout
        rivals = [each for each in LAYOUTS if each.fits(header) and each.width == layout.width]
        assert rivals == [layout]
