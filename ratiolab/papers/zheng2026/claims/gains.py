"""TIE, tables of the results: gains that should follow from the figures printed beside them."""

from fractions import Fraction

from ratiolab.papers.claim import Budget, Claim, ClaimResult, Direction, Verdict
from ratiolab.papers.zheng2026.reported_gains import Gain

SOURCE = "Zheng et al. (2026), {}, from a published summary, arXiv 2604.00499"
ONLINE = "online service, 8B, LMSYS-Chat-1M, 100 requests per second"


def check_rounded(gain: Gain, budget: Budget) -> ClaimResult:
    """Divide the printed figures and round."""
    return _result(gain, gain.rounded, "the quotient of the printed figures, rounded")


def check_possible(gain: Gain, budget: Budget) -> ClaimResult:
    """Divide all figures that round to the printed ones."""
    return _result(gain, gain.possible, "the quotient of figures that round to the printed ones")


def _result(gain: Gain, agrees: bool, reading: str) -> ClaimResult:
    low, high = gain.range
    quotient = f"{gain.numerator}/{gain.denominator} = {float(gain.exact):.4f}"
    return ClaimResult(
        Verdict.HOLDS if agrees else Verdict.FALSE,
        "proved",
        f"{gain.printed}, as {reading}",
        f"{quotient}; unrounded figures allow {float(low):.4f} to {float(high):.4f}",
        "exact arithmetic on the printed decimals",
        None if agrees else quotient,
    )


def _claim(
    name: str, where: str, statement: str, gain: Gain, control: str, *assumptions: str
) -> Claim:
    """A gain that holds; the control prints another."""
    return Claim(
        id=f"zheng2026/{name}",
        source=SOURCE.format(where),
        statement=statement,
        direction=Direction.EQUAL,
        assumptions=assumptions,
        expected=Verdict.HOLDS,
        check=check_rounded,
        claimed=gain,
        control=Gain(gain.what, control, gain.numerator, gain.denominator),
        control_verdict=Verdict.FALSE,
    )


def recheck_throughput() -> str:
    """Divide the samples of the two policies."""
    assert Fraction(4762, 3672) == Fraction(2381, 1836) < Fraction("1.297")
    assert round(Fraction("139.5") / Fraction("98.1"), 2) == Fraction("1.42")
    return "4762/3672 < 1.297; the ratio that rounds to 1.42 is one of times, 139.5/98.1"


def recheck_ssjf() -> str:
    """Divide the latencies of FCFS and SSJF."""
    assert Fraction("1.625") < Fraction(317, 195) < Fraction("1.626")
    return "3.17/1.95 = 1.6256 rounds to 1.63"


SAMPLES = Gain("samples in three minutes, TIE over LTR", "1.42", "4762", "3672")
SSJF = Gain("latency, FCFS over SSJF", "1.62", "3.17", "1.95")

CLAIMS = (
    _claim(
        "gain-over-fcfs",
        "main results",
        "TIE's mean latency per token is 4.73 times less than that of FCFS.",
        Gain("latency, FCFS over TIE", "4.73", "3.17", "0.67"),
        "4.74",
        ONLINE,
    ),
    _claim(
        "gain-over-ltr",
        "abstract and main results",
        "TIE's mean latency per token is 2.31 times less than that of LTR.",
        Gain("latency, LTR over TIE", "2.31", "1.55", "0.67"),
        "2.32",
        ONLINE,
    ),
    _claim(
        "gain-ltr",
        "main results",
        "LTR's mean latency per token is 2.05 times less than that of FCFS.",
        Gain("latency, FCFS over LTR", "2.05", "3.17", "1.55"),
        "2.04",
        ONLINE,
    ),
    Claim(
        id="zheng2026/gain-ssjf",
        source=SOURCE.format("main results"),
        statement="SSJF's mean latency per token is 1.62 times less than that of FCFS.",
        direction=Direction.EQUAL,
        assumptions=(ONLINE, "the gain comes from figures before rounding"),
        expected=Verdict.HOLDS,
        check=check_possible,
        claimed=SSJF,
        control=Gain(SSJF.what, "1.61", SSJF.numerator, SSJF.denominator),
        control_verdict=Verdict.FALSE,
    ),
    Claim(
        id="zheng2026/gain-ssjf-rounded",
        source=SOURCE.format("main results"),
        statement="The gain of SSJF over FCFS, 1.62, is the quotient of the printed 3.17 and 1.95.",
        direction=Direction.EQUAL,
        assumptions=(ONLINE, "the gain comes from the printed figures, as the others do"),
        expected=Verdict.FALSE,
        check=check_rounded,
        claimed=SSJF,
        control=Gain(SSJF.what, "1.63", SSJF.numerator, SSJF.denominator),
        control_verdict=Verdict.HOLDS,
        recheck=recheck_ssjf,
    ),
    _claim(
        "sdg-time",
        "offline results",
        "TIE takes 1.42 times less time than LTR for 3000 synthetic samples.",
        Gain("time for 3000 samples, LTR over TIE", "1.42", "139.5", "98.1"),
        "1.43",
        "offline generation, Alpaca, 8B",
    ),
    Claim(
        id="zheng2026/sdg-throughput",
        source=SOURCE.format("abstract and offline results"),
        statement="TIE increases the throughput of synthetic data generation 1.42 times over LTR.",
        direction=Direction.EQUAL,
        assumptions=(
            "offline generation, Alpaca, 8B",
            "throughput is what the results call so, samples in three minutes; the rate over the "
            "first 3000 samples does rise 1.42 times (sdg-time)",
        ),
        expected=Verdict.FALSE,
        check=check_possible,
        claimed=SAMPLES,
        control=Gain(SAMPLES.what, "1.30", SAMPLES.numerator, SAMPLES.denominator),
        control_verdict=Verdict.HOLDS,
        recheck=recheck_throughput,
    ),
    _claim(
        "cvar-gain-mean",
        "ablation",
        "Without CVaR the mean latency per token rises by 12%.",
        Gain("mean latency without CVaR", "1.12", "0.75", "0.67"),
        "1.11",
        ONLINE,
    ),
    _claim(
        "cvar-gain-p90",
        "ablation",
        "Without CVaR the 90th percentile of the latency per token rises by 26%.",
        Gain("P90 latency without CVaR", "1.26", "1.21", "0.96"),
        "1.27",
        ONLINE,
    ),
    _claim(
        "training-samples",
        "training",
        "45 thousand prompts with 20 generations each make 900 thousand samples.",
        Gain("generations per prompt, in thousands", "20", "900", "45"),
        "19",
        "thousands are exact",
    ),
)
