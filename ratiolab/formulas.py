"""Formulas of the papers and of this project that the notebooks evaluate: public names.

``bound`` evaluates those of the catalogue by name. Each function says where its formula is from.
"""

from ratiolab.hindsight.bruteforce import brute_force
from ratiolab.papers.jaillet2025.late_rush import printed as late_rush_as_printed
from ratiolab.papers.jaillet2025.late_rush import sharper as late_rush_sharper
from ratiolab.papers.jaillet2025.volume_bound import volume_lower_bound
from ratiolab.papers.shahout2025.appendix_d import size_marginals
from ratiolab.papers.shahout2025.queues.mg1 import PERFECT, exponential_sizes
from ratiolab.papers.shahout2025.queues.mg1 import as_printed as mg1_as_printed
from ratiolab.papers.shahout2025.queues.mg1 import corrected as mg1_corrected
from ratiolab.papers.shahout2025.queues.mg1_classics import srpt as mg1_srpt
from ratiolab.papers.shahout2025.queues.mg1_light_traffic import (
    as_printed as light_traffic_as_printed,
)
from ratiolab.papers.shahout2025.queues.mg1_light_traffic import two_jobs
from ratiolab.theory.laws.bin_filter import transition, transition_as_printed
from ratiolab.theory.limits.kill_restart import best as best_restart
from ratiolab.theory.limits.suprema import (
    lower_bound_two_point_supremum,
    max_length_supremum,
    max_length_two_point_supremum,
    promote_short_supremum,
    switch_alpha,
)
from ratiolab.theory.rayleigh.amin import quotient as a_min_quotient
from ratiolab.theory.rayleigh.copositive import nonnegative_maximum
from ratiolab.theory.rayleigh.geometric import (
    geometric_limit,
    geometric_quotient,
    linearly_weighted_quotient,
)
from ratiolab.theory.rayleigh.spectrum import spectral_radius
from ratiolab.theory.worst_case.equal_prompts import LOWER_PRINTED, linear_bound, staggered
from ratiolab.theory.worst_case.equal_prompts import ratio_bound as equal_prompts_ratio

__all__ = [
    "LOWER_PRINTED",
    "PERFECT",
    "a_min_quotient",
    "best_restart",
    "brute_force",
    "equal_prompts_ratio",
    "exponential_sizes",
    "geometric_limit",
    "geometric_quotient",
    "late_rush_as_printed",
    "late_rush_sharper",
    "light_traffic_as_printed",
    "linear_bound",
    "linearly_weighted_quotient",
    "lower_bound_two_point_supremum",
    "max_length_supremum",
    "max_length_two_point_supremum",
    "mg1_as_printed",
    "mg1_corrected",
    "mg1_srpt",
    "nonnegative_maximum",
    "promote_short_supremum",
    "size_marginals",
    "spectral_radius",
    "staggered",
    "switch_alpha",
    "transition",
    "transition_as_printed",
    "two_jobs",
    "volume_lower_bound",
]
