"""Shared prefixes: what a log names, and a bound that no engine that shares them passes."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from command_line import run, run_json

from ratiolab.hindsight import solve
from ratiolab.model import Instance
from ratiolab.ratio.prefix_bound import prefix_bounds
from ratiolab.workloads.prefixes import Prefixes
from ratiolab.workloads.traces import read_trace


def least_sharing(arrival, prompt, output, memory, prefixes):
    """The least total latency when a block is held once, while some request that names it runs."""
    n, block, end = len(arrival), prefixes.block, max(arrival) + sum(output)
    best = 10**9
    for starts in product(*(range(a, end) for a in arrival)):
        total = sum(p + o - a for p, o, a in zip(starts, output, arrival, strict=True))
        if total >= best:
            continue
        for t in range(1, end + max(output) + 1):
            now = [i for i in range(n) if starts[i] < t <= starts[i] + output[i]]
            own = sum(prompt[i] - block * len(prefixes.paths[i]) + t - starts[i] for i in now)
            used = {name for i in now for name in prefixes.paths[i]}
            if own + block * len(used) > memory:
                break
        else:
            best = total
    return best


def test_the_optimum_of_reduced_requests_is_never_above_that_of_sharing():
    rng = np.random.default_rng(3)
    shared_better = 0
    for _ in range(40):
        n, block = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        tree = [(1,), (1, 2), (1, 3), (4,), ()]
        paths = tuple(tree[k] for k in rng.integers(0, len(tree), n))
        own = rng.integers(0, 3, n)
        prompt = np.array([block * len(path) for path in paths]) + own
        output = rng.integers(1, 4, n)
        memory = int((prompt + output).max() + rng.integers(0, 3))
        arrival = rng.integers(0, 3, n)
        prefixes = Prefixes(block, paths)
        columns = arrival.tolist(), prompt.tolist(), output.tolist()
        best = least_sharing(*columns, memory, prefixes)
        reduced = Instance("reduced", memory, arrival, prefixes.reduced(prompt), output)
        assert solve(reduced, method="brute").upper <= best
        private = Instance("private", memory, arrival, prompt, output)
        shared_better += best < solve(private, method="brute").upper
    assert shared_better >= 3


def test_reuse_counts_what_was_named_before():
    prefixes = Prefixes(4, ((1, 2), (1, 3), (9,), (1, 2)))
    prompt = np.array([9, 8, 4, 8])
    told = prefixes.to_dict(prompt)
    assert prefixes.hits() == 4 + 8
    assert told["named_before"] == 12 / 29
    assert (told["blocks"], told["roots"], told["most_users"], told["deepest"]) == (4, 2, 3, 2)
    # 1 + 4/3 + 4/2, 4/3 + 4, 4, 4/3 + 4/2, rounded down
    assert prefixes.reduced(prompt).tolist() == [4, 5, 4, 3]


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ([[1], [2, 1]], "block 1 of request 1 follows two blocks"),
        ([[1], [1, 2, 3, 4]], "request 1 names 4 blocks of 4 tokens, but its prompt has 12"),
        ([[1], "1"], "request 1 has no list of whole numbers"),
        ([[1], [True]], "request 1 has no list of whole numbers"),
    ],
)
def test_names_that_make_no_forest_are_refused(named, words):
    with pytest.raises(ValueError, match=words):
        Prefixes.of(4, named, np.array([12, 12]))


def mooncake(folder: Path) -> Path:
    rows = [(0, 1200, 9, [0, 1, 2]), (10, 1100, 20, [0, 1, 3]), (20, 600, 5, [7, 8])]
    path = folder / "mooncake.jsonl"
    names = "timestamp", "input_length", "output_length", "hash_ids"
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    return path


def test_a_log_says_what_prompts_share_and_that_instances_do_not(tmp_path, capsys):
    path = mooncake(tmp_path)
    trace = read_trace(path)
    assert trace.prefixes == Prefixes(512, ((0, 1), (0, 1), (7,)))
    assert any("instances do not share" in note for note in trace.notes)
    found = run_json(capsys, "trace", path, "--describe", "--memory", "2000")
    assert found["prefixes"]["named_before"] == 1024 / 2900
    bounds = found["mean_latency_at_least"]
    assert bounds["shared_prefixes"] <= bounds["no_sharing"]
    assert prefix_bounds(trace, 2000, 20.0) == tuple(bounds.values())
    _, out, _ = run(capsys, "trace", path, "--describe", "--memory", "2000")
    assert "35.3% of the prompt tokens were named before" in " ".join(out.split())


def test_names_that_make_no_sense_are_left_aside_with_a_note(tmp_path):
    path = mooncake(tmp_path)
    path.write_text(path.read_text().replace("[7, 8]", "[7, 0]").replace("600", "1500"))
    trace = read_trace(path)
    assert trace.prefixes is None
    assert any("hash_ids are not used: block 0 of request 2" in note for note in trace.notes)
