"""Clocks from measured batches: what is fitted, what is refused, what is bundled."""

import numpy as np
import pytest

from ratiolab.model.files import FormatError
from ratiolab.online.clock import (
    LLAMA2_70B_2XA100,
    LLAMA3_1B_L4,
    LLAMA3_8B_A100,
    PROFILES,
    BatchTime,
    clock_of,
    from_profile,
)


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
