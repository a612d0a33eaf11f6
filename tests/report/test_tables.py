"""Tables say what they can in the width that there is, and never half a number."""

import pytest
from rich.console import Console

from ratiolab.model import Instance
from ratiolab.online import POLICIES, make, simulate
from ratiolab.online.metrics import summary
from ratiolab.ratio import Comparison, compare
from ratiolab.report.tables import comparison_table, figures_table, policies_table

COLUMNS = ("knows", "TEL", "95%", "ratio", "evictions", "wasted", "mean", "P99", "TTFT")


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(Instance("EC.1", 7, [0] * 4, [1] * 4, [1, 2, 3, 4]), runs=2)


def drawn(table: object, width: int) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_a_comparison_drops_whole_columns_and_says_so(comparison: Comparison, width: int) -> None:
    text = drawn(comparison_table(comparison, width), width)
    assert "…" not in text
    table, _, caption = text.partition("└")
    caption = " ".join(caption.split())
    shown = [name for name in COLUMNS if f" {name} " in table.splitlines()[2]]
    assert {"TEL", "ratio"} <= set(shown)
    assert [name for name in COLUMNS if name not in shown and name not in caption] == []
    assert ("a wider terminal also shows" in caption) == (len(shown) < len(COLUMNS))
    for row in comparison.rows:
        assert f" {row.policy.name} " in table


def test_without_a_width_nothing_is_left_out(comparison: Comparison) -> None:
    headers = [column.header for column in comparison_table(comparison).columns]
    assert headers == ["policy", *COLUMNS]


def test_policy_keys_are_never_cut() -> None:
    text = drawn(policies_table(POLICIES), 80)
    assert [key for key in POLICIES if f" {key} " not in text] == []


def test_requests_of_one_token_have_no_time_between_tokens() -> None:
    run = simulate(Instance("ones", 4, [0, 0], [1, 1], [1, 1]), make("fcfs"))
    text = drawn(figures_table([summary(run)], "rounds"), 100)
    assert "TTFT" in text
    assert "TPOT" not in text
