"""Generated workloads: reproducible, validated, distributed as their sources say."""

from pathlib import Path

import numpy as np
import pytest
from regenerate import regenerate
from scipy import stats

from ratiolab.model import Schedule, read_instance, violations
from ratiolab.model.instance import OPTIONAL_COLUMNS
from ratiolab.workloads.generators import KINDS, find_kind, generate
from ratiolab.workloads.trace_shapes import CODE, CONVERSATIONS, LEVELS, SUMMARIES

SMALL = {kind: {} if kind.startswith("jaillet") else {"n": 30} for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_source_text_regenerates_an_equal_instance(kind):
    instance = generate(kind, 5, **SMALL[kind])
    assert regenerate(instance.source) == instance
    assert generate(kind, 5, **SMALL[kind]) == instance
    assert instance.name == f"{kind}-5"
    assert (
        kind in ("equal", "lmsys-repeated")
        or generate(kind, 6, **SMALL[kind]).digest != instance.digest
    )


def test_predictions_are_part_of_the_source_and_leave_the_requests_as_they_are():
    plain, predicted = (generate("lmsys", 5, words, n=30) for words in (None, "log-t:5+noisy:0.5"))
    assert predicted.source == f"{plain.source} --predict log-t:5+noisy:0.5"
    assert regenerate(predicted.source) == predicted
    assert predicted.predicted.tolist() != plain.output.tolist()
    bare = predicted.replace(source="", **dict.fromkeys(OPTIONAL_COLUMNS))
    assert bare == plain.replace(source="", **dict.fromkeys(OPTIONAL_COLUMNS))


@pytest.mark.parametrize("kind", [k for k in KINDS if not k.startswith(("jaillet", "trace"))])
def test_a_rate_gives_poisson_arrivals_and_no_rate_gives_none(kind):
    assert generate(kind, 1, n=30).arrival.tolist() == [0] * 30
    moving = generate(kind, 1, n=300, rate=0.25).arrival
    assert (np.diff(moving) >= 0).all()
    # 300 gaps of mean 4 rounds, standard deviation 4: the last arrival is 1200 +- 70
    assert 850 < moving[-1] < 1550


def test_arrival_model_1_stays_in_the_ranges_of_the_paper_and_reaches_their_ends():
    drawn = [generate("jaillet-model-1", seed) for seed in range(300)]
    assert {len(i) for i in drawn} == set(range(40, 61))
    assert {i.memory for i in drawn} == set(range(30, 51))
    assert {s for i in drawn for s in i.prompt.tolist()} == {1, 2, 3, 4, 5}
    assert all((i.arrival == 0).all() for i in drawn)
    assert min(i.output.min() for i in drawn) == 1
    assert {0, 1} <= {i.memory - int((i.prompt + i.output).max()) for i in drawn}


def test_arrival_model_2_has_poisson_arrivals_in_rounds_1_to_60():
    drawn = [generate("jaillet-model-2", seed) for seed in range(300)]
    assert min(int(i.arrival.min()) for i in drawn) == 1
    assert 56 <= max(int(i.arrival.max()) for i in drawn) <= 60
    assert all((np.diff(i.arrival) >= 0).all() for i in drawn)
    # E n = E T * E lambda = 50; Var n = E[T lambda] + Var(T lambda), about 15.7^2: error 0.9
    assert np.mean([len(i) for i in drawn]) == pytest.approx(50, abs=4)
    assert {i.memory for i in drawn} == set(range(30, 51))


def test_repeated_lmsys_draws_arrivals_alone_from_the_seed():
    one, other = (generate("lmsys-repeated", seed, n=50, rate=0.1) for seed in (1, 2))
    assert one.prompt.tolist() == other.prompt.tolist()
    assert one.output.tolist() == other.output.tolist()
    assert one.arrival.tolist() != other.arrival.tolist()


@pytest.mark.parametrize(
    "kind", ["lmsys", "lmsys-repeated", "chen-rough", "chen-buckets", "chen-overlap"]
)
def test_blocks_make_instances_of_any_size(kind):
    instance = generate(kind, 2, n=50, memory=700, block=64)
    assert instance.memory == 10
    assert (instance.prompt + instance.output).max() <= 10
    assert instance.prompt.min() == 1
    with pytest.raises(ValueError, match="memory 100 is below one block of 64 for prompt and"):
        generate(kind, 2, memory=100, block=64)


def test_two_point_outputs_are_two_points_with_the_share():
    output = generate("two-point", 0, n=10_000, lower=2, upper=7, share=0.3).output
    assert set(output.tolist()) == {2, 7}
    assert (output == 7).mean() == pytest.approx(0.3, abs=0.02)


def test_power_law_outputs_outlive_each_age_as_often_as_the_law_says():
    output = generate("power-law", 0, n=20_000, lower=2, upper=40, exponent=0.5).output
    assert output.min() == 2
    for age in (3, 8, 18, 40):
        assert (output >= age).mean() == pytest.approx((2 / age) ** 0.5, abs=0.012)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense", 0, {}), "kind 'nonsense' is unknown; did you mean "),
        (
            ("two-point", 0, {"x": 1}),
            "unknown setting 'x' for kind 'two-point'; known are n, memory, prompt, lower, upper, "
            "share, rate",
        ),
        (("equal", -1, {}), "seed -1 must be an integer, at least 0"),
        (("equal", True, {}), "seed True must be an integer, at least 0"),
        (("equal", 0, {"n": 0}), "n 0 must be between 1 and 1000000 (requests)"),
        (("equal", 0, {"n": 2.0}), "n 2.0 must be an integer"),
        (("equal", 0, {"n": True}), "n True must be an integer"),
        (("equal", 0, {"rate": "fast"}), "rate 'fast' must be a number"),
        (("equal", 0, {"rate": float("nan")}), "rate nan must be between 0 and 1000000 ("),
        (("equal", 0, {"prompt": 91}), "prompt 91 + longest output 10 exceeds memory 100"),
        (("uniform", 0, {"lower": 11}), "lengths 11..10: 1 <= lower <= upper is needed"),
        (("chen-overlap", 0, {"x": 1.0}), "x 1.0 must be between 0 and 0.99999"),
        (("chen-rough", 0, {"upper": 5}), "request 0: upper 5 is below output "),
        (("jaillet-model-1", 0, {"n_least": 61}), "n_least 61 exceeds n_most 60"),
        (("jaillet-model-1", 0, {"prompt_most": 50}), "prompt_most 50 must be below the memory "),
        (("jaillet-model-2", 0, {"rate_least": 2}), "rate_least 2.0 must be above 0 and at most "),
    ],
)
def test_bad_settings_are_named(arguments, message):
    kind, seed, settings = arguments
    with pytest.raises(ValueError) as caught:
        generate(kind, seed, **settings)
    assert str(caught.value).startswith(message)


def test_settings_are_read_from_text_with_the_type_of_their_kind():
    kind = find_kind("two-point")
    given = kind.parse(["n=12", "share=.5", "rate=1e-1", "memory=+50"])
    assert given == {"n": 12, "share": 0.5, "rate": 0.1, "memory": 50}
    assert [type(value) for value in given.values()] == [int, float, float, int]
    assert type(kind.parse(["share=1"])["share"]) is float


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n", "setting 'n' must have the form name=value"),
        ("n=", "n '' must be an integer"),
        ("n=5.0", "n '5.0' must be an integer"),
        ("n=1_0", "n '1_0' must be an integer"),
        ("n=nan", "n 'nan' must be an integer"),
        ("rate=nan", "rate 'nan' must be a number"),
        ("rate=1.2.3", "rate '1.2.3' must be a number"),
        ("rate=-1", "rate -1 must be between 0 and 1000000 ("),
        ("=5", "unknown setting '' for kind 'equal'; known are "),
    ],
)
def test_bad_setting_texts_are_named(text, message):
    with pytest.raises(ValueError) as caught:
        find_kind("equal").parse([text])
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "somewhere",
        "ratiolab generate equal",
        "ratiolab generate equal --seed x",
        "ratiolab generate equal --seed 0 --set",
        "ratiolab generate equal --seed 0 --get n=5",
        "ratiolab generate equal --seed 0 --predict",
        "ratiolab generate equal --predict exact --seed 0",
        "ratiolab solve equal --seed 0",
    ],
)
def test_other_sources_are_not_regenerated(source):
    with pytest.raises(ValueError, match="is not a command line of ratiolab generate"):
        regenerate(source)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_describes_itself(kind):
    assert kind.summary.endswith(".")
    assert kind.source
    assert kind.parameters
    for setting in kind.parameters:
        assert setting.check(setting.default) == setting.default
        assert setting.domain.unit


def test_outputs_of_log_t_laws_are_draws_of_the_laws_that_are_told():
    """The place of each output in its law is uniform where neither end of the range is near."""
    instance = generate("log-t-laws", 3, n=4000, memory=10**6, mu=9.0, between=0.1, upper=10**5)
    z = (1000 * np.log(instance.output) - instance.location) / instance.scale
    place = stats.t.cdf(z, 3.5)
    assert abs(np.mean(place < 0.5) - 0.5) < 0.03
    assert abs(np.mean(place < 0.1) - 0.1) < 0.02
    assert abs(np.mean((place > 0.2) & (place < 0.4)) - 0.2) < 0.03
    assert instance.scale.min() < 320 < 1100 < instance.scale.max()


SHAPES = {"conversations": CONVERSATIONS, "code": CODE, "summaries": SUMMARIES}


@pytest.mark.parametrize("name", SHAPES)
def test_quantiles_and_load_are_those_of_the_shape(name):
    drawn, shape = generate(f"trace-{name}", 1, n=20_000, load=0.8), SHAPES[name]
    for column, quantiles in ((drawn.prompt, shape.prompt), (drawn.output, shape.output)):
        for level, quantile in zip(LEVELS, quantiles, strict=True):
            # a share of 20,000 has standard error 0.0035 at most; lengths are rounded
            assert np.mean(column < quantile - 1) <= level + 0.015
            assert np.mean(column <= quantile + 1) >= level - 0.015
    taken = drawn.volume.sum() / (drawn.memory * float(drawn.arrival.max()))
    assert taken == pytest.approx(0.8, rel=0.03)  # the span has standard error 0.7 %


def test_a_scale_divides_lengths_and_memory():
    whole, small = (generate("trace-code", 2, n=500, scale=scale) for scale in (1, 40))
    assert (small.memory, whole.memory) == (412, 16_492)
    assert (np.abs(small.prompt - np.maximum(whole.prompt / 40, 1)) <= 0.5).all()


def test_prompts_of_more_than_half_of_memory_are_left_out_not_cut():
    crowded = generate("trace-code", 2, n=2000, memory=3000)
    assert crowded.prompt.max() <= 1500
    assert np.mean(crowded.prompt == 1500) < 0.01
    # the median of those below 1500 tokens, half of all: the first quarter of all
    assert np.median(crowded.prompt) == pytest.approx(580, rel=0.1)


def test_memory_that_is_nothing_over_the_scale_is_refused():
    with pytest.raises(ValueError, match="memory 30 over scale 10 must be at least 4 tokens"):
        generate("trace-summaries", 0, memory=30, scale=10)


FOLDER = Path(__file__).parents[2] / "instances"
SHIPPED = sorted((FOLDER / "small").glob("*.json"))


def test_there_is_one_small_file_for_each_kind():
    assert {path.stem for path in SHIPPED} == set(KINDS)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_source_of_a_small_file_regenerates_it(path):
    instance = read_instance(path)
    assert regenerate(instance.source) == instance


def test_the_commands_of_the_readme_regenerate_the_small_files():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    commands = [line for line in readme.splitlines() if line.startswith("ratiolab generate")]
    written = dict(reversed(line.split(" -o instances/")) for line in commands)
    assert set(written) == {f"small/{path.name}" for path in SHIPPED}
    for name, command in written.items():
        assert regenerate(command) == read_instance(FOLDER / name)


def test_the_examples_of_chen_et_al_are_as_printed():
    one = read_instance(FOLDER / "chen2025" / "example-1.json")
    assert (one.memory, list(one.requests)) == (10, [(0, 1, 1)] * 5)
    assert (one.lower.tolist(), one.upper.tolist()) == ([1] * 5, [4] * 5)
    assert Schedule.from_starts(one, [0] * 5).total_latency == 5
    # A_max packs floor(10 / (1 + 4)) = 2 at a time
    assert Schedule.from_starts(one, [0, 0, 1, 1, 2]).total_latency == 9
    ec1 = read_instance(FOLDER / "chen2025" / "example-ec1.json")
    assert (ec1.memory, list(ec1.requests)) == (7, [(0, 1, o) for o in (1, 2, 3, 4)])
    assert not violations(Schedule.from_starts(ec1, [0, 0, 0, 2]))
