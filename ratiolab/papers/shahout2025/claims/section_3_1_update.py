"""TRAIL, Section 3.1: three steps of smoothing against the posterior they stand for."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

from ratiolab.papers.claim import FALSE, NOT_IMPLIED, ClaimResult, decided
from ratiolab.papers.shahout2025 import PAPER
from ratiolab.theory.laws.bin_filter import (
    Vector,
    World,
    bayes_filter,
    demonstration,
    filter_as_printed,
    normalised,
    transition,
)

Filter = Callable[[list[Vector]], list[Vector]]

F = Fraction
WORLD = World(
    width=F(3),
    start=(F(1, 2), F(1, 5), F(3, 10)),
    likelihood=((F(3, 5), F(2, 5)), (F(1, 4), F(3, 4)), (F(1, 10), F(9, 10))),
)
MATRIX = transition(3, WORLD.width)
ASSUMPTIONS = (
    "bins follow the paper's chain; outputs are independent given the bins",
    "p(t) is what an ideal classifier gives: the posterior under its class frequencies",
    "the matrix of the running text, which moves lengths down; Appendix A prints it the other way",
)


CHAIN_ALONE = "the chain and an ideal classifier alone; the paper measures errors on Alpaca"


# Steps 1 to 3 to the letter; step 2 on the posterior; step 3 with the class frequencies too.
as_printed: Filter = partial(filter_as_printed, matrix=MATRIX)
propagated: Filter = partial(bayes_filter, matrix=MATRIX)
corrected: Filter = partial(bayes_filter, matrix=MATRIX, frequencies=WORLD.start)


def check_posterior(rule: Filter, slow: bool) -> ClaimResult:
    """Compare a filter with the posterior by summing over all paths of bins."""
    length = 7 if slow else 4
    paths = list(product(range(2), repeat=length))
    wrong = [symbols for symbols in paths if _estimate(rule, symbols) != _truth(symbols)]
    example = f"symbols {wrong[0]}: {_text(rule, wrong[0])}" if wrong else None
    return decided(
        not wrong,
        f"{len(paths)} sequences of {length} outputs, exact fractions",
        f"{len(wrong)} of {len(paths)} estimates differ" + (f"; {example}" if example else ""),
        evidence="posterior by summing the probability of every path of bins",
        witness=example,
    )


def check_smoothing(rule: str, slow: bool) -> ClaimResult:
    """Compare exact mean errors, token after token, with the classifier alone."""
    tokens, alone = range(1, 5 if slow else 4), "classifier alone"
    worse, found = [], []
    for kind, power in (("squared", 2), ("absolute", 1)):
        errors = {t: demonstration(t, power) for t in tokens}
        here = [t for t in tokens if errors[t][rule] >= errors[t][alone]]
        after = ", ".join(map(str, here)) or "none"
        last = "; ".join(f"{name} {float(error):.3f}" for name, error in errors[tokens[-1]].items())
        found.append(
            f"{kind} error not better after {after} of {len(tokens)} tokens; after {tokens[-1]}: "
            f"{last}"
        )
        worse += [
            f"after token {t}: {kind} error {float(errors[t][rule]):.6f}, {alone} "
            f"{float(errors[t][alone]):.6f}"
            for t in here
        ]
    return decided(
        not worse,
        f"{len(tokens)} tokens of one world, exact",
        ". ".join(found),
        evidence="exact mean errors over all outputs and paths: three bins of four tokens, a "
        "classifier that is right half of the time. The filter forgets what it saw between the "
        "first output and the last; whether that still helps depends on the measure, the token and "
        "the matrix. The paper's figure is of absolute errors, which this does not speak against",
        witness=worse[0] if worse else None,
        otherwise=NOT_IMPLIED,
    )


def recheck_update() -> str:
    """Verify that the estimate after three outputs does not depend on the second."""
    first, last = WORLD.classifier(0), WORLD.classifier(1)
    seen = {as_printed([first, WORLD.classifier(s), last])[-1] for s in (0, 1)}
    truth = {_truth((0, s, 1)) for s in (0, 1)}
    assert len(seen) == 1
    assert len(truth) == 2
    return "two sequences with different posteriors get the same estimate"


def recheck_likelihood() -> str:
    """Propagate the posterior, multiply by the output: still not the posterior."""
    assert propagated([WORLD.classifier(0), WORLD.classifier(1)])[-1] != _truth((0, 1))
    assert corrected([WORLD.classifier(0), WORLD.classifier(1)])[-1] == _truth((0, 1))
    return "after two outputs the estimate differs; divided by the frequencies it does not"


def recheck_smoothing() -> str:
    """Compare exact errors after two tokens and after three."""
    two, three = demonstration(2), demonstration(3)
    assert two["posterior, likelihood"] < two["classifier alone"] < two["as printed, matrix turned"]
    assert three["posterior, likelihood"] < three["classifier alone"] < three["as printed"]
    return (
        "exact squared errors: above the classifier alone after two tokens with the matrix of the "
        "text, after three with that of Appendix A; the true posterior is below it"
    )


def _estimate(rule: Filter, symbols: tuple[int, ...]) -> Vector:
    return rule([WORLD.classifier(symbol) for symbol in symbols])[-1]


def _truth(symbols: tuple[int, ...]) -> Vector:
    return normalised(WORLD.joint(symbols))


def _text(rule: Filter, symbols: tuple[int, ...]) -> str:
    estimate, truth = (", ".join(map(str, v)) for v in (_estimate(rule, symbols), _truth(symbols)))
    return f"({estimate}), posterior ({truth})"


MORE_ACCURATE = (
    "Smoothing by steps 1 to 3, with the matrix of {}, estimates the remaining length more "
    "accurately than the classifier's output alone."
)
smoothing = partial(
    PAPER.claim,
    expected=NOT_IMPLIED,
    control="posterior, likelihood",
    recheck=recheck_smoothing,
)

CLAIMS = (
    PAPER.claim(
        "Section 3.1, steps 1 to 3",
        name="section-3-1-update",
        expected=FALSE,
        claimed=as_printed,
        control=corrected,
        recheck=recheck_update,
        assumes=(*ASSUMPTIONS, "step 2 to the letter: the old prior, not the old estimate"),
        statement="Propagating the prior by T and multiplying by the classifier's output gives, "
        "after normalising, the Bayesian estimate of the present bin from all outputs so far.",
    )(check_posterior),
    PAPER.claim(
        "Section 3.1, step 3",
        name="section-3-1-likelihood",
        expected=FALSE,
        claimed=propagated,
        control=corrected,
        recheck=recheck_likelihood,
        assumes=(*ASSUMPTIONS, "step 2 as the text says: the old estimate is propagated"),
        statement="With the last estimate as the next starting point, as the text says, "
        "multiplying by the classifier's output gives the Bayesian estimate.",
    )(check_posterior),
    smoothing(
        "Section 3.1, smoothing",
        name="section-3-1-smoothing",
        claimed="as printed, matrix turned",
        statement=MORE_ACCURATE.format("the running text"),
        assumes=(*ASSUMPTIONS, CHAIN_ALONE),
    )(check_smoothing),
    smoothing(
        "Section 3.1, smoothing and Appendix A",
        name="section-3-1-smoothing-printed",
        claimed="as printed",
        statement=MORE_ACCURATE.format("Appendix A"),
        assumes=(*ASSUMPTIONS[:2], "the matrix of Appendix A", CHAIN_ALONE),
    )(check_smoothing),
)
