"""The compiled oracle of the tests finds what brute force finds; `test_solve.py` adds solvers."""

from oracle import optimal_schedule
from tiny_instances import tiny

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.model import require_feasible


def test_the_compiled_oracle_is_the_plain_one() -> None:
    for seed in range(100):
        instance = tiny(seed, most=4, longest=6)
        found = require_feasible(optimal_schedule(instance))
        assert found.total_latency == brute_force(instance).total_latency
