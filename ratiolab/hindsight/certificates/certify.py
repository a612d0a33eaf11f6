"""The independent checker of certificates, in plain Python integers.

The exceptions are the arrays of `ratiolab.hindsight.certificates.tables`, and the searches of
`ratiolab.hindsight.certificates.certify_paths` and
`ratiolab.hindsight.certificates.certify_cells`, whose loops are compiled.

It shares nothing with the solver but the footprint and the names of its inputs. The bound of a
certificate of duals is proved in `ratiolab.hindsight.relaxation.lagrangian` (the
bound, and that no horizon is assumed) and in `ratiolab.hindsight.relaxation.configurations` (why
one test for each item decides what fits). Checked here: that the certificate is of this instance;
that no dual is negative; that no configuration weighs more than the cap of its table; and that the
claimed value is the Lagrangian bound, over every start of every request.
"""

from collections import Counter
from collections.abc import Sequence
from os import PathLike

from ratiolab.hindsight.bounds import BOUNDS, Slots
from ratiolab.hindsight.certificates.certificate import (
    CellCertificate,
    Certificate,
    CertificateWithDuals,
    DualCertificate,
    FormulaCertificate,
    GrowthCertificate,
    Promised,
    SecondsCertificate,
)
from ratiolab.hindsight.certificates.certify_growth import scaled_growth_value
from ratiolab.hindsight.certificates.duals import Table
from ratiolab.hindsight.certificates.effort import CertificateError as CertificateError
from ratiolab.hindsight.certificates.effort import (
    Effort,
    duals_effort,
    paths_effort,
    require_claimed,
    require_plain,
    steps_effort,
    table_steps,
)
from ratiolab.hindsight.certificates.tables import heaviest, table_weights
from ratiolab.model.fleet import Fleet, memories_of
from ratiolab.model.footprint import held
from ratiolab.model.instance import Instance, shown

Matrix = list[list[int]]

FLEET_KINDS = FormulaCertificate, GrowthCertificate, DualCertificate
"""Proofs that hold for several replicas. All other kinds search over the contents of one memory:
under prices of several, the unpaid part of one may be negative, which their proofs exclude."""


def certify(certificate: Certificate | Promised, given: Instance | Fleet) -> int:
    """Return the lower bound on the total latency of every schedule that a certificate proves.

    Duals take O(n T o) steps for the starts of n requests up to time T. Each table takes O(M^2)
    states times its items.

    A certificate of another objective is refused, see
    `ratiolab.hindsight.certificates.certify_promises`.

    Returns
    -------
    the bound, which is the one claimed: rounds, or picoseconds under a clock.

    Raises
    ------
    CertificateError
        saying what is wrong: another instance, a negative dual, a table that some configuration
        exceeds, or a claim that differs from what the numbers prove.
    TooCostlyError
        when checking takes too much memory or time, which is estimated before anything is built.

    >>> from ratiolab.hindsight.bounds import best_lower_bound
    >>> four = Instance("four", 7, [0] * 4, [1] * 4, [1, 2, 3, 4])
    >>> bound = best_lower_bound(four)
    >>> certify(FormulaCertificate("four", four.digest, bound.value, bound.source), four)
    11
    """
    for each, name in ((certificate, "certificate"), (given, "instance")):
        if isinstance(each, (str, PathLike)):
            raise ValueError(f"{name} {shown(each)} must not be a path: read_{name} reads its file")
    if isinstance(certificate, Promised):
        raise CertificateError(f"it bounds {certificate.objective}, not total latency")
    require_claimed(certificate.digest, certificate.replicas, given)
    instance, memories = memories_of(given)
    if len(memories) > 1 and not isinstance(certificate, FLEET_KINDS):
        raise CertificateError(f"a proof by {certificate.source} is for one replica")
    require_plain(certificate)
    try:
        if isinstance(certificate, FormulaCertificate):
            bound = _formula(certificate, instance, memories)
        elif isinstance(certificate, GrowthCertificate):
            bound = _in_runs(certificate, instance, sum(memories))
        elif isinstance(certificate, CellCertificate):
            from ratiolab.hindsight.certificates.certify_cells import bound_by_cells

            bound = bound_by_cells(certificate, instance)
        elif isinstance(certificate, SecondsCertificate):
            from ratiolab.hindsight.certificates.certify_seconds import seconds_value

            bound = seconds_value(certificate, instance)
        else:
            bound = _priced(certificate, instance, memories)
    except CertificateError:
        raise
    except (ValueError, OverflowError) as error:  # numbers too long to be written or added, too
        raise CertificateError(str(error)) from None
    if certificate.bound != bound:
        raise CertificateError(f"bound {certificate.bound} is claimed, {bound} is proven")
    return bound


def _formula(certificate: FormulaCertificate, instance: Instance, memories: Sequence[int]) -> int:
    slots = Slots.of(instance, memories, certificate.function)
    for formula in BOUNDS:
        bound = formula(instance, slots)
        if bound.source == certificate.source:
            return bound.value
    source = shown(certificate.source)
    raise CertificateError(f"source {source} is no bound that can be recomputed")


def _in_runs(certificate: GrowthCertificate, instance: Instance, room: int) -> int:
    steps_effort(certificate.duals).require_affordable()
    value = scaled_growth_value(certificate.duals, instance, room)
    _require_value(value, certificate.value)
    return -(-value // certificate.duals.denominator)


def _require_value(value: int, claimed: int) -> None:
    if value != claimed:
        proven = shown(value)
        raise CertificateError(f"value {shown(claimed)} is claimed, the duals prove {proven}")


def _priced(certificate: CertificateWithDuals, instance: Instance, memories: Sequence[int]) -> int:
    duals, memory = certificate.duals, instance.memory
    horizon = len(duals.memory)
    if duals.denominator < 1:
        raise CertificateError(f"denominator {duals.denominator} must be at least 1")
    for t, dual in enumerate(duals.memory, 1):
        if dual < 0:
            raise CertificateError(f"dual {shown(dual)} of memory at time {t} is negative")
    again = sum(table_steps(table.items, memory) for table in duals.tables) // 3
    smaller = Effort(0, (len(set(memories)) - 1) * again)
    _effort(certificate, instance).plus(smaller).require_affordable()
    weights = [
        table_weights(number, table, memory).tolist() for number, table in enumerate(duals.tables)
    ]
    counts = Counter(memories)
    allowed = [
        sum(number * _cap_within(table, m, memory) for m, number in counts.items())
        for table in duals.tables
    ]
    active: list[list[tuple[int, Matrix]]] = [[] for _ in range(horizon + 1)]
    paid = [sum(memories) * dual for dual in duals.memory]
    for number, (table, begin, end, dual) in enumerate(duals.cuts):
        if dual < 0:
            raise CertificateError(f"dual {shown(dual)} of cut {number} is negative")
        if not 0 <= table < len(weights):
            raise CertificateError(f"cut {number}: there is no table {table}")
        if not 1 <= begin < end <= horizon + 1:
            raise CertificateError(f"cut {number}: times {begin} to {end} are not within 1..T")
        for t in range(begin, end):
            paid[t - 1] += dual * allowed[table]
            active[t].append((dual, weights[table]))
    known: list[dict[tuple[int, int], int]] = [{} for _ in range(horizon + 1)]

    def price_of(t: int, m: int, r: int) -> int:
        if (m, r) not in known[t]:
            cuts = sum(dual * weight[m][r] for dual, weight in active[t])
            known[t][m, r] = duals.memory[t - 1] * m + cuts
        return known[t][m, r]

    own = [
        [
            duals.denominator * (start + output - arrival)
            + sum(
                price_of(start + age, held(prompt, age), output - age)
                for age in range(1, min(output, horizon - start) + 1)
            )
            for start in range(arrival, max(horizon, arrival) + 1)
        ]
        for arrival, prompt, output in instance.requests
    ]
    value = sum(map(min, own)) - sum(paid)
    _require_value(value, certificate.value)
    if isinstance(certificate, DualCertificate):
        return -(-value // duals.denominator)
    items = [
        [
            [price_of(t, held(prompt, age), output - age) for t in range(1, horizon + 1)]
            for age in range(1, output + 1)
        ]
        for _, prompt, output in instance.requests
    ]
    from ratiolab.hindsight.certificates.certify_paths import require_no_path

    require_no_path(certificate, instance, items, paid)
    return certificate.bound


def _effort(certificate: CertificateWithDuals, instance: Instance) -> Effort:
    """Return the effort of a check, except for the states that a search visits."""
    duals = certificate.duals
    if isinstance(certificate, DualCertificate):
        return duals_effort(duals, instance)
    walks = paths_effort(duals, instance, certificate.passes)
    return walks.plus(duals_effort(duals, instance))


def _cap_within(table: Table, memory: int, largest: int) -> int:
    """Return the most that things which fit a replica weigh; the cap where it has most memory.

    Things weigh what some item below them weighs, and these items fit where the things do.
    """
    if memory == largest:
        return table.cap
    return heaviest([item for item in table.items if item[0] + item[1] <= memory], memory)
