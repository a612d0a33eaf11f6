"""What is known of the largest ratio of a policy: bounds of papers, and proved ones."""

from fractions import Fraction
from typing import NamedTuple

from ratiolab.adversary.case import Limits
from ratiolab.model import Instance
from ratiolab.theory.bounds import evaluate


class Known(NamedTuple):
    """A bound on the ratio of a policy.

    Parameters
    ----------
    value : None where the ratio is known to have no bound.
    text : bound and source, for a table.
    """

    value: Fraction | float | None
    text: str


PUBLISHED: dict[str, tuple[float, str]] = {
    "gba": (10.67, "10.67, published for the paper's own version (Feng et al. 2026)"),
    "gsa": (61.92, "61.92, published for the paper's own version (Feng et al. 2026)"),
    "sorted-f": (48.0, "48, published (Wang et al. 2025)"),
    "svf": (5.0, "5, published for the paper's own version, many at once (Kong et al. 2026)"),
}
"""Constants of papers with all requests at round 0; what is simulated here is a reading of each."""

UNBOUNDED: dict[str, str] = {
    "alpha-protection": "none: it may clear the same requests for ever",
    "a-min": "none: grows at least like sqrt(u), ours/a-min-square-root",
    "fcfs": "none: order n, a long request before short ones",
    "mc-benchmark": "none: order n, a long request before short ones",
}


def known_bound(policy: str, limits: Limits, instance: Instance) -> Known | None:
    """Return what bounds the ratio of a policy under some limits, or shows that nothing does."""
    if policy in UNBOUNDED:
        return Known(None, UNBOUNDED[policy])
    if limits.arrivals == "any":
        if policy in ("mc-sf", "svf", "h-sf"):
            return Known(None, "none with arrivals: order n, ours/mc-sf-arrivals")
        return None
    same_as_mc_sf = policy == "mc-sf" or (policy == "svf" and limits.prompts == "equal")
    if same_as_mc_sf and limits.prompts == "equal":
        prompt, longest = int(instance.prompt[0]), int(instance.output.max())
        value = evaluate("ours/mc-sf", 1, longest, prompt).value
        return Known(value, f"{value:.4f}, proved: ours/mc-sf at s = {prompt}, u = {longest}")
    if policy == "volume-restart":
        value = evaluate("volume-restart").value
        return Known(value, f"{value:.4f} in the fluid limit, proved: ours/volume-restart-upper")
    if policy in PUBLISHED:
        return Known(*PUBLISHED[policy])
    return None
