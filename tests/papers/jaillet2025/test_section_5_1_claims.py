"""What the claims on Section 5.1 of Jaillet et al. rest on."""

import pytest
from oracle import least_latency

from ratiolab.model import Instance
from ratiolab.online import make, simulate
from ratiolab.papers import Verdict
from ratiolab.papers.jaillet2025.claims._section_5_1 import (
    LOOKS,
    STORED,
    Model,
    Reported,
    certified,
    check,
    stored,
)
from ratiolab.papers.jaillet2025.claims._section_5_1 import improved_by_orders as improved


@pytest.mark.parametrize("model", [1, 2])
def test_every_stored_draw_has_a_better_schedule_and_its_seed_draws_it(model: Model) -> None:
    draws = list(stored(model))
    assert len(draws) == STORED[model]
    assert all(certified(witness) > 1 for witness in draws)


@pytest.mark.long
def test_figures_are_refuted_one_by_one() -> None:
    honest = Reported(1.09, 1.2)
    assert check(1, honest, slow=False).verdict is Verdict.UNDECIDED
    assert check(1, honest._replace(optimal=114), slow=False).verdict is Verdict.NOT_REPRODUCED
    assert check(1, honest._replace(mean=1.005), slow=False).verdict is Verdict.NOT_REPRODUCED
    worse = check(1, honest._replace(mean=1.08, worst=1.081), slow=False)
    assert worse.verdict is Verdict.NOT_REPRODUCED


def test_orders_improve_an_instance_only_when_a_better_schedule_exists() -> None:
    # MC-SF starts the bulky request of output 5 first: 5 + 11 + 11; after the others 6 + 6 + 11
    bulky = Instance("bulky", 14, [0, 0, 0], [9, 1, 1], [5, 6, 6])
    assert simulate(bulky, make("mc-sf")).total_latency == 27
    assert least_latency(bulky) == 23
    assert improved(bulky)
    assert not improved(Instance("one", 10, [0], [5], [5]))


@pytest.mark.parametrize("model", [1, 2])
def test_every_stored_draw_is_judged_in_one_look(model: Model) -> None:
    assert [seed for look in LOOKS[model] for seed in look] == list(range(STORED[model]))


def test_an_earlier_look_costs_the_later_one_half_of_its_level() -> None:
    found = check(2, Reported(1.047, 1.227), slow=False)
    assert "Rejected below 1e-04 over 2" in found.evidence
    assert "An earlier look, at seeds 0 to 19: a mean of 1.0757 or more: 1.1e-03" in found.evidence
