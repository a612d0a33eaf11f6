"""Largest known ratios of policies: published constants, proved constants, families.

No paper with a published constant below is simulated as it is: each policy is built from the
abstract, so an instance here says nothing about the paper's own algorithm. The constants, too, were
read in abstracts: that of Feng, Yang, Zhang (2026), arXiv 2601.22996v1, has 61.92 and 10.67 and,
with large memory, 32 and 6.75; that of Kong, Qi, Ye, Zhou (2026), arXiv 2606.22327, has 5 in v1, 3
with high concurrency in v2, and 48 as the best before in both; that of Wang, Ye, Zhou (2025), arXiv
2508.06133v3, speaks of a constant without its value. The full statement of one of them is available
at second hand: Theorem 3.2 of Kong et al., v2, as the documentation of the language serQ restates
it, is 1 + 2/(1 - alpha) when no peak exceeds alpha M. That is 5 at alpha = 1/2 and 3 as alpha tends
to 0, so the abstract's 5 does not speak of requests that fill the memory. It is proved here, too.
"""

from fractions import Fraction
from typing import NamedTuple

from ratiolab.adversary.case import Limits
from ratiolab.model import Instance, peak
from ratiolab.online.policies.kill_restart import KillRestart
from ratiolab.theory.bounds import evaluate
from ratiolab.theory.limits.kill_restart import constant
from ratiolab.theory.worst_case.any_prompts import svf_constant


class Known(NamedTuple):
    """A bound on the ratio of a policy."""

    value: Fraction | float | None
    text: str


class Published(NamedTuple):
    """Constants of a paper for all requests at round 0, as its abstract states them.

    Parameters
    ----------
    general, regime : the constant, and the smaller one of the regime that `where` names; 0 when
        there is none.
    source : version in whose abstract they were read.
    """

    policy: str
    general: float
    regime: float
    where: str
    source: str

    @property
    def text(self) -> str:
        """The two constants with their source."""
        more = f", {self.regime:g} with {self.where}" if self.regime else ""
        return f"{self.general:g}{more}: abstract of {self.source}"


_FENG = "Feng et al. (2026), arXiv 2601.22996v1"
_KONG = "Kong et al. (2026), arXiv 2606.22327"

PUBLISHED = {
    found.policy: found
    for found in (
        Published("gsa", 61.92, 32.0, "large memory", _FENG),
        Published("sorted-f", 48.0, 0.0, "", f"{_KONG}v1, which quotes Wang et al. (2025)"),
        Published("gba", 10.67, 6.75, "large memory", _FENG),
        Published("svf", 5.0, 3.0, "high concurrency", f"{_KONG}v1 and v2"),
    )
}

IN_ORDER = (
    "alpha-beta-clearing",
    "fcfs",
    "mc-benchmark",
    "sarathi",
    "svf-1bit",
    "vllm-fcfs",
    "vllm-priority",
)
"""Policies that serve in the order of the file while nothing tells requests apart, and never kill
by choice: they have no constant, nor have those of `IN_RANDOM_ORDER`.

Prompts s = u and memory M = 2 u, all requests at round 0: two requests never fit, since
2 (s + 1) > M, and nothing ever overflows. One output is u, the other n - 1 are one token. A policy
that serves the long one first and lets it run pays n u + n(n - 1)/2, the shortest first pays
u + n - 1 + n(n - 1)/2. As u grows, the ratio tends to n. Where chance orders them, the long one
delays half of the others in the mean, and the ratio tends to (n + 1)/2. Own; the argument is that
against first come, first served on one machine."""

IN_RANDOM_ORDER = "a-max", "a-random"
"""Policies that serve in random order, and never kill by choice."""

UNBOUNDED: dict[str, str] = {
    **dict.fromkeys(IN_ORDER, "none: tends to n, a long request before short ones"),
    **dict.fromkeys(
        IN_RANDOM_ORDER,
        "none: tends to (n + 1)/2, with the worst ties to n, a long request among short ones",
    ),
    "alpha-protection": "none: it may clear the same requests for ever",
    "a-min": "none: grows at least like sqrt(u), ours/a-min-square-root",
    "learned-caps": "none: order n, a long request first, as a pilot",
}

ANY_PROMPTS: dict[str, str] = {
    "mc-sf": "none: order sqrt(n), ours/mc-sf-any-prompts",
    "svf": "our reading has none: order n, ours/svf-any-prompts",
}
"""Policies whose ratio has no bound when prompts differ and a request may fill the memory."""

FAMILIES: dict[str, str] = {
    "mc-sf": "2, equal requests",
    "svf": "2, equal requests",
    "h-sf": "2, equal requests",
    "gba": "4, ours/gba-family",
    "gsa": "8, ours/gsa-family",
    "kill-restart": "7.257, ours/kill-restart-staggered",
    "volume-restart": "2.728, ours/volume-restart-lower",
}
"""Limits of families of instances with equal prompts, all requests at round 0."""


def known_bound(policy: str, limits: Limits, instance: Instance) -> Known | None:
    """Return what bounds the ratio of a policy under some limits, or shows that nothing does."""
    if policy in UNBOUNDED:
        return Known(None, UNBOUNDED[policy])
    if limits.arrivals == "any":
        if policy in ("mc-sf", "svf", "h-sf"):
            return Known(None, "none with arrivals: order n, ours/mc-sf-arrivals")
        return None
    if limits.prompts == "equal" and policy in ("mc-sf", "svf", "h-sf"):  # the same then
        prompt, longest = int(instance.prompt[0]), int(instance.output.max())
        name, given = "ours/mc-sf", f"--lower 1 --upper {longest} --prompt {prompt}"
        value = evaluate(name, 1, longest, prompt).value
        return Known(value, f"{value:.4f}, proved: `ratiolab bound {name} {given}`")
    if policy == "volume-restart":
        value = evaluate("volume-restart").value
        return Known(value, f"{value:.4f} in the fluid limit, proved: ours/volume-restart-upper")
    if policy == "kill-restart" and limits.prompts == "equal":
        value = 2 * float(constant(KillRestart.base, refill=True, random_offset=True))
        words = "in the fluid limit without prompts, proved: ours/kill-restart-staggered"
        return Known(value, f"{value:.4f} {words}")
    if policy == "svf" and limits.headroom > 1:
        highest = max(peak(s, o) for s, o in zip(instance.prompt, instance.output, strict=True))
        share = Fraction(int(highest), instance.memory)
        least = svf_constant(share)
        return Known(least, f"{float(least or 0):.4f}, proved: ours/svf-headroom at {share} of M")
    if limits.prompts == "any" and limits.headroom == 1 and policy in ANY_PROMPTS:
        return Known(None, ANY_PROMPTS[policy])
    if policy in PUBLISHED:
        return Known(PUBLISHED[policy].general, PUBLISHED[policy].text)
    return None


def known_family(policy: str, limits: Limits) -> str:
    """Return what a family of instances within the limits tends to, or nothing."""
    if limits.arrivals == "any" or policy in UNBOUNDED:
        return ""
    if limits.prompts == "any" and policy in ANY_PROMPTS:
        return FAMILIES[policy] if policy == "svf" and limits.headroom > 1 else ""
    return FAMILIES.get(policy, "")
