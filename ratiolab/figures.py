"""Figures and tables of the papers that the notebooks show: public names.

``chen2025``, ``chen2025_policies``, ``jaillet2025`` and ``shahout2025`` have the figures of a
paper, a function each.
"""

from ratiolab.game.tree import tree as game_tree
from ratiolab.papers.chen2025 import figures as chen2025
from ratiolab.papers.chen2025 import policy_figures as chen2025_policies
from ratiolab.papers.jaillet2025 import figures as jaillet2025
from ratiolab.papers.notebook import VerdictTable
from ratiolab.papers.notebook import quick as quick_experiment
from ratiolab.papers.shahout2025 import figures as shahout2025
from ratiolab.report.games_page import picture as game_values
from ratiolab.report.plots import picture as schedules
from ratiolab.report.plots.experiments import lines, panels, shared_legend
from ratiolab.report.plots.worst_cases import course as attack_course
from ratiolab.report.plots.worst_cases import families, known, limit
from ratiolab.report.ranges_page import picture as range_ends

__all__ = [
    "VerdictTable",
    "attack_course",
    "chen2025",
    "chen2025_policies",
    "families",
    "game_tree",
    "game_values",
    "jaillet2025",
    "known",
    "limit",
    "lines",
    "panels",
    "quick_experiment",
    "range_ends",
    "schedules",
    "shahout2025",
    "shared_legend",
]
