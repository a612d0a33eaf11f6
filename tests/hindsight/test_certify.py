"""The checker proves what the solver claims, and believes nothing that it did not recompute."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from mutations import breaks_each_rule
from oracle import least_latency
from tiny_instances import tiny

from ratiolab.hindsight.bounds import BOUNDS
from ratiolab.hindsight.certificates.certificate import (
    DualCertificate,
    FormulaCertificate,
    dual_certificate,
)
from ratiolab.hindsight.certificates.certify import (
    CertificateError,
    certify,
)
from ratiolab.hindsight.cuts.cut_bound import cut_bound
from ratiolab.hindsight.relaxation.lagrangian import columns, reduced_costs, scaled_bound
from ratiolab.model import Instance


@pytest.fixture(scope="module")
def ten() -> tuple[Instance, DualCertificate]:
    rng = np.random.default_rng(4)
    prompt = rng.integers(1, 6, 10)
    output = [int(rng.integers(1, 24 - s + 1)) for s in prompt]
    instance = Instance("ten", 24, [0] * 10, prompt, output)
    return instance, cut_bound(instance, rounds=4).certificate


def test_the_checker_proves_what_the_solver_claims(ten: tuple[Instance, DualCertificate]) -> None:
    instance, certificate = ten
    assert certify(certificate, instance) == certificate.bound
    assert len(certificate.duals.tables) > 5
    for seed in range(40):
        found = cut_bound(tiny(seed), rounds=5)
        assert certify(found.certificate, found.instance) == found.lower


def test_any_nonnegative_prices_prove_at_most_the_optimum() -> None:
    useful = 0
    for seed in range(60):
        instance = tiny(seed)
        rng = np.random.default_rng(seed)
        good = cut_bound(instance, rounds=3).certificate.duals
        memory = [int(price * rng.uniform(0.5, 1.5)) for price in good.memory]
        cuts = [(*cut[:3], int(cut[3] * rng.uniform(0.5, 1.5))) for cut in good.cuts]
        duals = replace(good, memory=tuple(memory), cuts=tuple(cuts))
        grid = columns(instance, len(memory))
        dense = [table.dense(instance.memory) for table in duals.tables]
        value = scaled_bound(grid, duals, reduced_costs(grid, duals, dense))
        bound = certify(dual_certificate(instance, duals, value), instance)
        assert bound <= least_latency(instance)
        useful += bound > int(instance.output.sum())
    assert useful > 18


def test_formulas_are_recomputed() -> None:
    instance = tiny(3)
    for formula in BOUNDS:
        bound = formula(instance)
        right = FormulaCertificate("tiny", instance.digest, bound.value, bound.source)
        assert certify(right, instance) == bound.value
        with pytest.raises(CertificateError, match="is proven"):
            certify(replace(right, bound=bound.value + 1), instance)
    with pytest.raises(CertificateError, match="no bound that can be recomputed"):
        certify(replace(right, source="HiGHS"), instance)


test_each_rule_has_a_certificate_that_breaks_it = breaks_each_rule(
    "ten",
    [
        (lambda d: d.update(digest="0" * 12), "digest"),
        (lambda d: d.update(bound=d["bound"] + 1), "is proven"),
        (lambda d: d.update(bound=d["bound"] - 1), "is proven"),
        (lambda d: d.update(value=d["value"] + 1), "the duals prove"),
        (lambda d: d.update(denominator=0), "denominator 0"),
        (lambda d: d.update(denominator=1.5), "must be an integer"),
        (lambda d: d.update(denominator=9 * 10**4299), "the duals prove|digits"),
        (lambda d: d["memory"].append(1), "the duals prove"),
        (lambda d: d["memory"].__setitem__(0, -1), "memory at time 1 is negative"),
        (lambda d: d["cuts"][0].__setitem__(3, -1), "cut 0 is negative"),
        (lambda d: d["cuts"][0].__setitem__(3, True), "True must be an integer"),
        (lambda d: d["cuts"][0].__setitem__(0, -1), "there is no table -1"),
        (lambda d: d["cuts"][0].__setitem__(1, 0), "not within"),
        (lambda d: d["cuts"][0].__setitem__(2, 10**9), "not within"),
        (lambda d: d["cuts"][0].pop(), r"cut 0: \[3\] is missing"),
        (lambda d: d["tables"][0].__setitem__(0, d["tables"][0][0] - 1), "the cap is"),
        (lambda d: d["tables"][0].__setitem__(0, -1), "cap -1 is negative"),
        (lambda d: d["tables"][0].__setitem__(3, 10**6), "the cap is"),
        (lambda d: d["tables"][0].__setitem__(1, 0), "is no item"),
        (lambda d: d["tables"][0].pop(), "must hold a cap and then"),
        (lambda d: d["tables"].append([]), "must hold a cap and then"),
        (lambda d: d.update(kind="faith"), "kind 'faith'"),
        (lambda d: d.pop("value"), "value is missing"),
        (lambda d: d.update(more=1), "unknown key 'more'"),
    ],
)


def test_the_checker_loads_no_solver() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, ratiolab.hindsight.certificates.certify;"
            "print(sorted({'highspy', 'numba', 'pulp', 'scipy'} & set(sys.modules)))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout == "[]\n"
