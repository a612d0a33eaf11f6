"""What duals of memory over runs of times prove, in plain Python integers.

The bound and its proof stand in `ratiolab.hindsight.relaxation.dual_bound`. It is the bound of
growth rows without any such row, and so its checker is theirs. Here the cost of a start p is
computed in another way than by the solver, from two sums over times: with dual u_t of a token at
time t,

    L(t) = sum of u_x over x <= t,    K(t) = sum of L(x) over x < t,

the ages g = 1..o of a request cost, summed by parts,

    sum of u_{p+g} (s + g) = (s + o) L(p + o) - s L(p) - K(p + o) + K(p).
"""

from ratiolab.hindsight.certificates.certify_growth import scaled_growth_value
from ratiolab.hindsight.certificates.duals import StepDuals
from ratiolab.hindsight.certificates.growth_duals import GrowthDuals
from ratiolab.model.instance import Instance


def scaled_value(steps: StepDuals, instance: Instance) -> int:
    """Return the lower bound that these duals prove, times their denominator.

    Raises
    ------
    ValueError
        when a dual is negative, runs do not ascend, or checking would take too long.

    Cost O(T + n w), T the times with duals and w the pieces that a request may wait.

    >>> two = Instance("two", 2, [0, 0], [1, 1], [1, 1])
    >>> scaled_value(StepDuals(2, 0, (1,), (1,)), two)  # 1/2 a token at time 1 proves 3
    6
    """
    alone = GrowthDuals(steps.denominator, steps.begin, steps.ends, steps.token, (), ())
    return scaled_growth_value(alone, instance)
