"""Knowledge of the outputs that a policy needs in deployment."""

from enum import IntEnum

from ratiolab.model import Instance
from ratiolab.online import Information, Policy
from ratiolab.ratio.choice import knows_everything


class Need(IntEnum):
    """Knowledge that the owner of a server must have to run a policy, the least first."""

    NOTHING = 0
    PREDICTION = 1
    EVERYTHING = 2


SOURCES = {
    Information.LOWER_BOUND: "a least length of each output",
    Information.INTERVAL: "an interval around the length of each output",
    Information.PREDICTION: "a predicted length of each output",
    Information.DISTRIBUTION: "a predicted distribution of each output",
    Information.REFINED: "a prediction of each output that is refined while it runs",
}
"""Output of a predictor, by level of information."""


def need(policy: Policy, instance: Instance) -> Need:
    """Return what a policy needs on an instance.

    A policy that reads a least length needs nothing where the instance states none: the least
    length is then 1. A policy made for intervals needs them, although it runs without.
    """
    if knows_everything(policy):
        return Need.EVERYTHING
    if policy.information is Information.NOTHING:
        return Need.NOTHING
    if policy.information is Information.LOWER_BOUND and instance.lower is None:
        return Need.NOTHING
    return Need.PREDICTION


def need_in_words(policy: Policy, instance: Instance) -> str:
    """Return what a policy needs, and where that came from on this instance."""
    if need(policy, instance) is Need.EVERYTHING:
        return "every output length in advance"
    if need(policy, instance) is Need.NOTHING:
        return "nothing"
    if policy.name == "svf-1bit":
        what = "one bit of each output, short or long"
    else:
        what = SOURCES[policy.information]
    given = {
        Information.LOWER_BOUND: instance.lower is not None,
        Information.INTERVAL: instance.upper is not None,
    }.get(policy.information, True)
    if not given:
        return f"{what}, which this log has not: it ran without"
    return f"{what}, here as the instance or --predict has it"
