"""ratiolab: a laboratory for competitive ratios of LLM inference schedulers.

An instance goes in; a certified comparison comes out: the hindsight optimum (or a proven interval
around it), the cost of every policy on the instance, and the ratio between them.

The names of ``__all__`` and those of `ratiolab.formulas`, `ratiolab.figures`, `ratiolab.tables` and
`ratiolab.testing` are the public interface; all other names, in this package or below it, may
change with any version. Each name is imported when it is first used, so ``import ratiolab`` itself
loads nothing. ``docs/architecture.md`` says where the code behind each name stands.

>>> import ratiolab
>>> instance = ratiolab.Instance("two", memory=5, arrival=[0, 0], prompt=[1, 1], output=[2, 3])
>>> ratiolab.bracket(instance).upper
6
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ratiolab.version import __version__

if TYPE_CHECKING:
    from ratiolab.adversary import Case, Limits, attack
    from ratiolab.evaluation.evaluate import evaluate
    from ratiolab.evaluation.fleets import evaluate_fleet
    from ratiolab.evaluation.result import Evaluation
    from ratiolab.game import Game, deterministic_value
    from ratiolab.hindsight import OptResult, bracket, solve, solve_promises
    from ratiolab.hindsight.certificates.certify import certify
    from ratiolab.hindsight.certificates.certify_promises import certify_promises
    from ratiolab.hindsight.certificates.io import read_certificate, write_certificate
    from ratiolab.hindsight.fleets.solve import solve_fleet
    from ratiolab.model import (
        Instance,
        Schedule,
        read_instance,
        read_schedule,
        violations,
        write_instance,
        write_schedule,
    )
    from ratiolab.model.fleet import Fleet, FleetSchedule
    from ratiolab.model.fleet_io import read_fleet
    from ratiolab.model.promises import with_limits
    from ratiolab.online import (
        NEVER,
        Decision,
        Information,
        Policy,
        Setting,
        Simulation,
        View,
        simulate,
    )
    from ratiolab.online import POLICIES as policies  # noqa: N811
    from ratiolab.online import make as make_policy
    from ratiolab.online.clock import BatchTime, clock_of
    from ratiolab.online.fleets.loop import simulate_fleet
    from ratiolab.papers import (
        ClaimResult,
        Paper,
        Verdict,
        add_paper,
        decided,
        experiments,
        reproduce,
        run_claims,
    )
    from ratiolab.papers import select as claims
    from ratiolab.ratio import Comparison, compare
    from ratiolab.report.evaluation_report import write_report
    from ratiolab.studies import read_study
    from ratiolab.studies.run import run_study
    from ratiolab.theory.bounds import evaluate as bound
    from ratiolab.workloads.generators import generate
    from ratiolab.workloads.predictions import add_predictions
    from ratiolab.workloads.traces import instance_from_trace, read_trace

__all__ = [
    "NEVER",
    "BatchTime",
    "Case",
    "ClaimResult",
    "Comparison",
    "Decision",
    "Evaluation",
    "Fleet",
    "FleetSchedule",
    "Game",
    "Information",
    "Instance",
    "Limits",
    "OptResult",
    "Paper",
    "Policy",
    "Schedule",
    "Setting",
    "Simulation",
    "Verdict",
    "View",
    "__version__",
    "add_paper",
    "add_predictions",
    "attack",
    "bound",
    "bracket",
    "certify",
    "certify_promises",
    "claims",
    "clock_of",
    "compare",
    "decided",
    "deterministic_value",
    "evaluate",
    "evaluate_fleet",
    "experiments",
    "generate",
    "instance_from_trace",
    "make_policy",
    "policies",
    "read_certificate",
    "read_fleet",
    "read_instance",
    "read_schedule",
    "read_study",
    "read_trace",
    "reproduce",
    "run_claims",
    "run_study",
    "simulate",
    "simulate_fleet",
    "solve",
    "solve_fleet",
    "solve_promises",
    "violations",
    "with_limits",
    "write_certificate",
    "write_instance",
    "write_report",
    "write_schedule",
]

_MODULES = {  # names, each with the name there where it differs
    "adversary": "Case Limits attack",
    "game": "Game deterministic_value",
    "hindsight": "OptResult bracket solve solve_promises",
    "hindsight.certificates.certify": "certify",
    "hindsight.fleets.solve": "solve_fleet",
    "hindsight.certificates.certify_promises": "certify_promises",
    "hindsight.certificates.io": "read_certificate write_certificate",
    "model": "Instance Schedule read_instance read_schedule violations write_instance "
    "write_schedule",
    "model.fleet": "Fleet FleetSchedule",
    "model.fleet_io": "read_fleet",
    "model.promises": "with_limits",
    "online": "NEVER Decision Information Policy Setting Simulation View simulate "
    "make_policy:make policies:POLICIES",
    "online.clock": "BatchTime clock_of",
    "online.fleets.loop": "simulate_fleet",
    "papers": "ClaimResult Paper Verdict add_paper claims:select decided experiments reproduce "
    "run_claims",
    "ratio": "Comparison compare",
    "evaluation.evaluate": "evaluate",
    "evaluation.fleets": "evaluate_fleet",
    "evaluation.result": "Evaluation",
    "report.evaluation_report": "write_report",
    "studies": "read_study",
    "studies.run": "run_study",
    "theory.bounds": "bound:evaluate",
    "workloads.generators": "generate",
    "workloads.predictions": "add_predictions",
    "workloads.traces": "instance_from_trace read_trace",
}
_PLACES = {
    word.partition(":")[0]: (f"ratiolab.{module}", word.rpartition(":")[2])
    for module, words in _MODULES.items()
    for word in words.split()
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module 'ratiolab' has no attribute {name!r}")
    module, there = _PLACES[name]
    value = globals()[name] = getattr(import_module(module), there)
    return value


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted(__all__)
