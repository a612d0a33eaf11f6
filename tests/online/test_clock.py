"""The clock: by hand, against literal batches, against sums over the schedule, and fits."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from drawn import drawn, ended

from ratiolab.model import Instance
from ratiolab.model.files import FormatError
from ratiolab.online import make, simulate
from ratiolab.online.clock import (
    LLAMA2_70B_2XA100,
    LLAMA3_1B_L4,
    LLAMA3_8B_A100,
    PROFILES,
    BatchTime,
    clock_of,
    from_profile,
)

CLOCKS = {
    "fixed": BatchTime(fixed=0.003, tick=0.001),
    "everything": BatchTime(0.0031, 0.0007, 0.0002, 0.0001, 0.0005, tick=0.002),
    "slow ticks": BatchTime(1.5, 0.25, 0.5, 0.125, 0.75, tick=3.0),
    "hardware": replace(LLAMA2_70B_2XA100, tick=0.001),
}
CASES = [
    ("fcfs", {}, ("restart", "recompute", "swap")),
    ("sjf", {}, ("restart", "recompute", "swap")),
    ("mc-sf", {"lengths": "true"}, ("restart",)),
    ("a-min", {"ties": "index"}, ("restart",)),
    ("gsa", {"base": "2"}, ("restart",)),
    ("rr", {"quantum": "2"}, ("recompute", "swap")),
    ("rr-sjf", {"quantum": "3"}, ("recompute", "swap")),
    ("srpt", {}, ("recompute", "swap")),
]


@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_jumps_of_the_clock_are_literal_batches(case, clock):
    key, parameters, semantics = case
    policy, rule = make(key, parameters), reference.rule_of(key, **parameters)
    for seed in range(30):
        for preemption in semantics:
            expected, complete, times = reference.serve_by_clock(
                drawn(seed), rule, 400, preemption, clock
            )
            assert complete
            simulation = simulate(drawn(seed), policy, preemption=preemption, clock=clock)
            assert ended(simulation) == expected, seed
            assert simulation.times == pytest.approx([float(t) for t in times], rel=1e-12)


def recomputed(simulation, clock):
    """Boundaries from the schedule alone: what each batch does, summed up."""
    schedule, arrivals = simulation.schedule, simulation.arrivals
    end, prompt = schedule.makespan, schedule.instance.prompt
    work = {name: np.zeros(end, np.int64) for name in ("prefill", "decode", "kv", "moved")}
    busy = np.zeros(end, bool)
    columns = (schedule.request, schedule.start, schedule.stop, schedule.kept, schedule.completes)
    for i, start, stop, kept, completes in zip(*columns, strict=True):
        busy[start:stop] = True
        swapped = schedule.preemption == "swap" and kept > 0
        if swapped:
            work["moved"][start] += prompt[i] + kept
        else:
            work["prefill"][start] += prompt[i] + kept
        if schedule.preemption == "swap" and not completes:
            work["moved"][stop] += prompt[i] + kept + stop - start
        for t in range(start + (not swapped), stop):
            work["decode"][t] += 1
            work["kv"][t] += prompt[i] + kept + t - start
    present = np.zeros(end, bool)
    for arrival, completion in zip(schedule.instance.arrival, schedule.completion, strict=True):
        present[arrival:completion] = True
    seconds = (
        clock.fixed
        + clock.prefill * work["prefill"]
        + clock.decode * work["decode"]
        + clock.kv * work["kv"]
        + clock.swap * work["moved"]
    )
    times = [arrivals.min()]
    for t in range(end):
        following = schedule.instance.arrival == t + 1
        times.append(times[-1] + seconds[t] if present[t] else arrivals[following].min())
    return times


@pytest.mark.parametrize("preemption", ["restart", "recompute", "swap"])
@pytest.mark.parametrize("clock", CLOCKS.values(), ids=CLOCKS)
def test_boundaries_are_the_sums_over_what_the_schedule_does(clock, preemption):
    for seed in range(60):
        simulation = simulate(drawn(seed), make("fcfs"), preemption=preemption, clock=clock)
        assert simulation.times == pytest.approx(recomputed(simulation, clock), rel=1e-9)
        # each request is delivered at the first boundary at or after its time
        delivered = simulation.schedule.instance.arrival
        times = simulation.times * (1 + 1e-12)
        assert (times[delivered] >= simulation.arrivals).all()
        assert (simulation.times[delivered - 1] < simulation.arrivals)[delivered > 0].all()


@pytest.mark.parametrize("key", ["fcfs", "mc-sf", "a-min", "alpha-protection", "sorted-f"])
def test_in_its_own_rounds_a_clocked_run_is_a_run_in_unit_rounds(key):
    for seed in range(60):
        clocked = simulate(drawn(seed), make(key), seed=seed, clock=CLOCKS["everything"])
        unit = simulate(clocked.schedule.instance, make(key), seed=seed)
        assert ended(unit) == ended(clocked)


@pytest.mark.parametrize("key", ["fcfs", "h-sf", "a-max"])
def test_batches_of_one_tick_are_unit_rounds(key):
    """Nobody-there rounds are skipped, so latencies agree while rounds need not."""
    clock = BatchTime(fixed=0.5, tick=0.5)
    for seed in range(60):
        clocked = simulate(drawn(seed), make(key), seed=seed, clock=clock)
        unit = simulate(drawn(seed), make(key), seed=seed)
        seconds = clocked.times[clocked.schedule.completion]
        assert (seconds / 0.5).tolist() == unit.schedule.completion.tolist()


def test_two_requests_by_hand():
    # Ticks of 1 s: arrivals at 1 s and 4 s; fixed 1, prefill 0.5, decode 0.25, kv 0.125.
    clock = BatchTime(1, 0.5, 0.25, 0.125, tick=1)
    two = Instance("two", 20, [1, 4], [2, 4], [3, 1])
    simulation = simulate(two, make("fcfs"), clock=clock)
    # Batch 0 prefills 2 tokens: 2 s, until 3. Batch 1 decodes and reads 3: 1.625 s, until 4.625.
    # Batch 2 decodes and reads 4, and prefills 4 tokens of request 1: 1 + 0.25 + 0.5 + 2.
    assert simulation.times.tolist() == [1, 3, 4.625, 8.375]
    assert simulation.schedule.instance.arrival.tolist() == [0, 2]
    assert ended(simulation) == [(0, 0, 3), (1, 2, 3)]
    assert simulation.arrivals.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("preemption", "last"),
    [
        # Request 1 (prompt 1) leaves at round 1 with one token and comes back at round 3.
        ("restart", [1 + 0.5 * 1]),  # its prompt again; then two more tokens
        ("recompute", [1 + 0.5 * 2]),
        ("swap", [1 + 0.25 * 1 + 0.125 * 2 + 0.75 * 2]),  # reads 2 and decodes; 2 moved back
    ],
)
def test_what_a_resumed_run_costs_by_hand(preemption, last):
    clock = BatchTime(1, 0.5, 0.25, 0.125, 0.75, tick=1)
    two = Instance("two", 5, [0, 0], [1, 1], [3, 3])
    simulation = simulate(two, make("fcfs"), preemption=preemption, clock=clock)
    durations = np.diff(simulation.times)
    assert durations[0] == 1 + 0.5 * 2
    # moved out, 1 + 1 tokens, before the batch in which request 0 decodes alone and reads 2
    assert durations[1] == 1 + 0.25 + 0.125 * 2 + (0.75 * 2 if preemption == "swap" else 0)
    assert durations[2] == 1 + 0.25 + 0.125 * 3
    assert durations[3] == last[0]


def test_the_clock_jumps_over_long_runs():
    long = [10_000, 20_000, 30_000]
    instance = Instance("long", 40_000, [0, 5, 9], [7, 7, 7], long)
    simulation = simulate(instance, make("mc-sf"), clock=CLOCKS["hardware"])
    assert simulation.decisions <= 20
    assert len(simulation.times) == simulation.schedule.makespan + 1
    assert simulation.times == pytest.approx(recomputed(simulation, LLAMA2_70B_2XA100), rel=1e-9)


@pytest.mark.parametrize(
    ("coefficients", "message"),
    [
        ({"fixed": 0.0}, "fixed 0.0 must be at least a picosecond"),
        ({"fixed": 1, "kv": -1.0}, "kv -1.0 must be at least 0"),
        ({"fixed": 1, "tick": float("nan")}, "tick nan must be"),
        ({"fixed": float("inf")}, "fixed inf must be"),
    ],
)
def test_coefficients_that_are_none_are_named(coefficients, message):
    with pytest.raises(ValueError, match=message):
        BatchTime(**coefficients)


def profile(path, clock, batches, noise=0.0, swapped=True, seed=0):
    rng = np.random.default_rng(seed)
    lines = ["seconds,prefill_tokens,decoding_requests,kv_tokens" + ",swapped_tokens" * swapped]
    for _ in range(batches):
        work = rng.integers(0, 3000, 4).tolist()
        exact = clock.batch(prefill=work[0], decode=work[1], kv=work[2], swap=work[3] * swapped)
        seconds = exact / 10**12 * (1 + noise * rng.standard_normal())
        lines.append(",".join(map(str, [seconds, *work[: 3 + swapped]])))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("swapped", [True, False])
def test_a_profile_without_noise_is_fitted_exactly(tmp_path, swapped):
    clock = BatchTime(0.02, 3e-4, 1e-4, 2e-7, 5e-6 * swapped)
    found = from_profile(profile(tmp_path / "p.csv", clock, 40, swapped=swapped))
    for name in ("fixed", "prefill", "decode", "kv", "swap"):
        assert getattr(found, name) == pytest.approx(getattr(clock, name), rel=1e-6, abs=1e-15)


def test_a_fit_has_no_negative_coefficient_and_is_no_worse_than_its_neighbours(tmp_path):
    """First-order conditions of the non-negative least squares, on noisy batches."""
    path = profile(
        tmp_path / "p.csv", BatchTime(0.02, 3e-4, 0.0, 1e-9), 30, noise=0.3, swapped=False
    )
    found = from_profile(path)
    rows = np.loadtxt(path, delimiter=",", skiprows=1)
    table = np.column_stack([np.ones(30), rows[:, 1:]])
    solution = np.array([found.fixed, found.prefill, found.decode, found.kv])
    gradient = table.T @ (table @ solution - rows[:, 0])
    scale = np.linalg.norm(table, axis=0) * np.linalg.norm(rows[:, 0])
    assert (solution >= 0).all()
    assert (gradient / scale > -1e-6).all()
    assert (np.abs(gradient / scale)[solution > 0] < 1e-6).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seconds,prefill_tokens\n1,2\n", "decoding_requests is missing"),
        (
            "seconds,prefill_tokens,decoding_requests,kv_tokens\n1,x,3,4\n",
            "line 2: prefill_tokens 'x' must be a number between 0 and 1e15",
        ),
        (
            "seconds,prefill_tokens,decoding_requests,kv_tokens\n1,1,3,4\n2,2,6,8\n3,3,9,12\n"
            "4,4,12,16\n",
            "4 batches do not determine 4 coefficients: as many are needed",
        ),
        ("seconds,prefill_tokens,decoding_requests,kv_tokens\n", "0 batches do not determine"),
        (
            "seconds,prefill_tokens,decoding_requests,kv_tokens\n1,1,0,0\n2,2,0,0\n3,3,0,0\n",
            "clock: fixed ",
        ),
    ],
)
def test_profiles_that_say_too_little_are_refused_in_one_line(tmp_path, text, message):
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        from_profile(path)
    assert str(caught.value).startswith(f"{path}: {message}")


def test_words_name_clocks(tmp_path):
    assert clock_of("unit") is None
    assert clock_of("llama2-70b-2xa100") is LLAMA2_70B_2XA100
    assert clock_of("llama3-1b-l4") is LLAMA3_1B_L4
    assert clock_of("llama3-8b-a100") is LLAMA3_8B_A100
    clock = BatchTime(0.02, 3e-4, 1e-4, 2e-7)
    path = profile(tmp_path / "p.csv", clock, 20, swapped=False)
    assert clock_of(str(path)) == from_profile(path)
    with pytest.raises(ValueError, match="clock 'a100' must be unit, llama2-70b-2xa100, llama3-"):
        clock_of("a100")


def test_the_bundled_profile_is_what_was_published_for_its_operations():
    """Medians for two devices in milliseconds a layer, at 1 and at 128 tokens.

    Norms, projections before and after attention, rotation, feed-forward up, activation and down,
    and addition; attention of one request with 32 tokens and of 128 with 32 each, with reshaping;
    reductions of 16 KiB and 2 MiB.
    """
    operations = {
        1: [0.008, 0.058, 0.004, 0.045, 0.008, 0.283, 0.012, 0.143, 0.002],
        128: [0.008, 0.081, 0.005, 0.059, 0.008, 0.418, 0.014, 0.176, 0.004],
    }
    attention, reduction = {1: 0.016, 128: 0.031}, {1: 0.054, 128: 0.063}
    rows = np.loadtxt(PROFILES["vidur-llama2-70b-2xa100"], delimiter=",", skiprows=1)
    clock = clock_of("vidur-llama2-70b-2xa100")
    for requests, times in operations.items():
        expected = 80 * (sum(times) + attention[requests] + 2 * reduction[requests])
        (row,) = rows[(rows[:, 2] == requests) & (rows[:, 3] == 32 * requests)]
        assert row[0] * 1000 == pytest.approx(expected, rel=0.01)
        fitted = clock.batch(prefill=0, decode=requests, kv=32 * requests, swap=0) / 10**9
        assert fitted == pytest.approx(expected, rel=0.1)


def test_the_bundled_profile_is_fitted_as_well_as_it_says():
    clock = clock_of("vidur-llama2-70b-2xa100")
    error = {"decoding": [], "long prompts": [], "short prompts": []}
    rows = np.loadtxt(PROFILES["vidur-llama2-70b-2xa100"], delimiter=",", skiprows=1)
    for seconds, prefill, decode, kv in rows:
        fitted = clock.batch(prefill=int(prefill), decode=int(decode), kv=int(kv), swap=0) / 10**12
        kind = "decoding" if decode else "long prompts" if prefill >= 1024 else "short prompts"
        error[kind].append(abs(fitted / seconds - 1))
    largest = {kind: round(float(max(errors)), 2) for kind, errors in error.items()}
    assert largest == {"decoding": 0.08, "long prompts": 0.05, "short prompts": 0.35}


def test_the_default_is_what_the_published_figures_give():
    # 140 GB of weights over 4,078 GB/s; 140 GFLOP a token at 624 TFLOPS; 320 KiB a token
    assert pytest.approx(0.14 / 4.078) == LLAMA2_70B_2XA100.fixed
    assert pytest.approx(0.14 / 624) == LLAMA2_70B_2XA100.prefill == LLAMA2_70B_2XA100.decode
    assert pytest.approx(320 * 1024 / 4.078e12) == LLAMA2_70B_2XA100.kv
    assert pytest.approx(320 * 1024 / 64e9) == LLAMA2_70B_2XA100.swap
    # 2.46 GB over 300 GB/s; 2.46 GFLOP at 121 TFLOPS; 32 KiB a token over 32 GB/s
    assert pytest.approx(2.46 / 300) == LLAMA3_1B_L4.fixed
    assert pytest.approx(2.46 / 121e3) == LLAMA3_1B_L4.prefill == LLAMA3_1B_L4.decode
    assert pytest.approx(32 * 1024 / 300e9) == LLAMA3_1B_L4.kv
    assert pytest.approx(32 * 1024 / 32e9, abs=1e-12) == LLAMA3_1B_L4.swap
    # 16.06 GB over 2,039 GB/s; 16.06 GFLOP at 312 TFLOPS; 128 KiB a token
    assert pytest.approx(16.06 / 2039) == LLAMA3_8B_A100.fixed
    assert pytest.approx(16.06 / 312e3) == LLAMA3_8B_A100.prefill == LLAMA3_8B_A100.decode
    assert pytest.approx(128 * 1024 / 2.039e12, abs=1e-12) == LLAMA3_8B_A100.kv
