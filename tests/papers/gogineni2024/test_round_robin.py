"""Round robin in shortest-job-first order, on all small instances."""

from itertools import combinations_with_replacement, permutations, product

import pytest

from ratiolab.papers.gogineni2024.round_robin import Service, cost_bound, serve

SMALL = [lengths for n in (1, 2, 3, 4) for lengths in product(range(1, 6), repeat=n)]


def test_four_rules_order_the_figure_as_described() -> None:
    # Requests 1 to 4 with lengths 9, 2, 6, 4 and slices of 3: SJF ends 2, 4, 3, 1; under
    # RR-SJF 2 fits its slice, then 4, 3, 1 take turns.
    lengths = [9, 2, 6, 4]
    assert serve(lengths, shortest_first=False).completion == (9, 11, 17, 21)
    assert serve(lengths, shortest_first=True).completion == (21, 2, 12, 6)
    mixed = serve(lengths, shortest_first=True, quantum=3)
    assert mixed == Service(ttft=(9, 1, 6, 3), completion=(21, 2, 15, 12))
    turns = serve(lengths, shortest_first=False, quantum=3)
    assert all(mixed.completion[i] < turns.completion[i] for i in (1, 2, 3))
    assert mixed.ttft[0] < serve(lengths, shortest_first=True).ttft[0]


def test_sjf_has_the_least_total_completion_and_the_bound_is_twice_that_less_the_work() -> None:
    for lengths in combinations_with_replacement(range(1, 6), 4):
        best = min(
            sum(serve(order, shortest_first=False).completion) for order in permutations(lengths)
        )
        assert sum(serve(lengths, shortest_first=True).completion) == best
        assert cost_bound(lengths) == 2 * best - sum(lengths)


@pytest.mark.parametrize("quantum", [1, 2, 3])
def test_rr_sjf_stays_within_the_bound_and_starts_no_request_later_than_sjf(quantum: int) -> None:
    for lengths in SMALL:
        mixed = serve(lengths, shortest_first=True, quantum=quantum)
        plain = serve(lengths, shortest_first=True)
        assert sum(mixed.completion) <= cost_bound(lengths)
        assert all(a <= b for a, b in zip(mixed.ttft, plain.ttft, strict=True))


@pytest.mark.parametrize("quantum", [1, 2, 3])
def test_rr_sjf_costs_no_more_than_round_robin_in_any_order(quantum: int) -> None:
    for lengths in SMALL:
        mixed = serve(lengths, shortest_first=True, quantum=quantum)
        turns = serve(lengths, shortest_first=False, quantum=quantum)
        assert sum(mixed.completion) <= sum(turns.completion)


def test_equal_lengths_and_single_tokens_nearly_double_the_cost_of_sjf() -> None:
    # Request k of n ends at n (L - 1) + k; SJF ends it at k L.
    n, length = 50, 200
    mixed = sum(serve([length] * n, shortest_first=True, quantum=1).completion)
    plain = sum(serve([length] * n, shortest_first=True).completion)
    assert mixed == n * n * (length - 1) + n * (n + 1) // 2
    assert mixed == cost_bound([length] * n) - n * (n - 1) // 2
    assert 19 * plain < 10 * mixed < 20 * plain


def test_sjf_does_not_minimise_the_time_to_first_token() -> None:
    assert sum(serve([2, 2], shortest_first=True).ttft) == 4
    assert sum(serve([2, 2], shortest_first=True, quantum=1).ttft) == 3


def test_impossible_lengths_and_slices_are_refused() -> None:
    with pytest.raises(ValueError, match="lengths"):
        serve([1, 0], shortest_first=True)
    with pytest.raises(ValueError, match="quantum 0"):
        serve([1], shortest_first=True, quantum=0)
