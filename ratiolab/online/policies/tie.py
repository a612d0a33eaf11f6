"""Orders by a predicted distribution of the output: its mean, with or without a tail penalty.

Source: Zheng et al. (2026), arXiv 2604.00499, known from a summary; settings of the authors' code
from https://github.com/Hyzheng-code/TIE, commit ce6ddc4 (vllm/v1/core/sched, start-server.sh).
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar, Literal

from numpy.random import Generator

from ratiolab.model.instance import LARGEST
from ratiolab.online.policies.greedy import OneRoundAhead
from ratiolab.online.policy import Count, Decide, Interval, Limit, Part, Policy, Positive, Setting
from ratiolab.online.view import NEVER, Information, View
from ratiolab.theory.laws.log_normal import LogNormal
from ratiolab.theory.laws.log_t import LogT, adaptive_beta

MAX_TOKENS = 1024
"""Tokens at which an output is stopped, a common limit of serving engines; the paper names none."""

KEPT = 50_000
"""Moments kept for later decisions and other runs, some ten megabytes."""


@dataclass(frozen=True)
class TIE(Policy):
    """Least E[X] + beta CVaR[X] of the predicted length first, looking one round ahead as ``fcfs``.

    X is the length by the predicted distribution, stopped at `max_tokens` and at M - s. The score
    of a request that has waited t rounds is multiplied by gamma**(t / tau); this factor never
    changes the order of waiting requests. The score is a priority only: memory is not planned
    with it.

    The summary does not say when beta is computed. By default, beta is computed when a request
    enters the queue, on arrival or eviction. L_q counts every request that waits in that round,
    newcomers included. The authors' code does so, too: it predicts anew for a preempted request.
    With the settings of that code the policy is TIE(batch=32, limited=True, max_tokens=2028,
    tail_tokens=2048, capped="log-t"). Two differences remain. That code estimates scores from
    10,000 samples and rounds them, and a request waits behind all others until it has a prediction.

    Parameters
    ----------
    beta : weight of the tail: ``adaptive`` (default), min(1/2, max(1/10, L_q / (10 B))), or a
        number at least 0. With 0 and gamma 1 this is ``sept``.
    alpha : level of CVaR, the mean of the worst share 1 - alpha.
    batch : B, the batch size that L_q is measured against.
    limited : whether batches are limited to B, as in the paper's system; else (default) memory
        alone limits them.
    max_tokens : largest length of a distribution, tokens; longer lengths count as this one.
    tail_tokens : largest length for CVaR, tokens; 0 (default) is `max_tokens`.
    capped : ``all`` (default) stops every distribution; ``log-t`` does not stop log-normal
        distributions, as in the authors' code.
    beta_from : ``entry`` (default) takes beta whenever a request enters the queue, ``arrival``
        once for all.
    gamma : decay of the score, in (0, 1]; 1 is none.
    tau : rounds in which the score decays by gamma. The paper's 30 s are the default's 1,000
        rounds of 30 ms.
    """

    beta: str = "adaptive"
    alpha: Annotated[float, Interval("(0, 1)")] = 0.9
    batch: Count = 256
    limited: bool = False
    max_tokens: Count = MAX_TOKENS
    tail_tokens: Annotated[int, Interval("[0, inf)")] = 0
    capped: Literal["all", "log-t"] = "all"
    beta_from: Literal["entry", "arrival"] = "entry"
    gamma: Part = 0.9
    tau: Positive = 1000.0

    name: ClassVar[str] = "tie"
    source: ClassVar[str] = "Zheng et al. (2026), arXiv 2604.00499"
    information: ClassVar[Information] = Information.DISTRIBUTION

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta != "adaptive" and not 0 <= _number(self.beta) < math.inf:
            raise ValueError(f"policy tie: beta {self.beta} must be adaptive or at least 0")

    def start(self, setting: Setting, rng: Generator) -> Decide:
        slope = -math.log(self.gamma) / self.tau
        fixed = None if self.beta == "adaptive" else _number(self.beta)
        first: dict[int, float] = {}  # beta on arrival

        def key(view: View, i: int) -> float:
            mean, tail = self._moments(view, i)
            beta = fixed
            if beta is None:
                beta = float(adaptive_beta(len(view.waiting), self.batch))
                if self.beta_from == "arrival":
                    beta = first.setdefault(i, beta)
            return math.log(mean + beta * tail) + slope * view.arrival[i]

        return OneRoundAhead(setting, key, self.batch if self.limited else NEVER)

    def _moments(self, view: View, i: int) -> tuple[float, float]:
        """Return mean and CVaR of a request's distribution, each up to its largest length."""
        law = law_of(view, i)
        if self.capped == "log-t" and isinstance(law, LogNormal):
            return _mean(law, math.inf), _tail(law, self.alpha, math.inf)
        caps = [cap_of(view, i, most) for most in (self.max_tokens, self.tail_tokens)]
        return _mean(law, caps[0]), _tail(law, self.alpha, caps[1] if caps[1] else caps[0])


@dataclass(frozen=True)
class SEPT(Policy):
    """Shortest expected length first, looking one round ahead as ``fcfs``.

    The mean is that of the predicted distribution, stopped at `max_tokens` and at M - s. Without
    this stop, the mean of a log-t distribution is infinite.

    Parameters
    ----------
    max_tokens : largest length of a distribution, tokens; longer lengths count as this one.
    batch : as for ``fcfs``.
    """

    max_tokens: Count = MAX_TOKENS
    batch: Limit = 0

    name: ClassVar[str] = "sept"
    source: ClassVar[str] = "as in Zheng et al. (2026), arXiv 2604.00499"
    information: ClassVar[Information] = Information.DISTRIBUTION

    def start(self, setting: Setting, rng: Generator) -> Decide:
        def key(view: View, i: int) -> float:
            return _mean(law_of(view, i), cap_of(view, i, self.max_tokens))

        return OneRoundAhead(setting, key, self.batch or NEVER)


def law_of(view: View, i: int) -> LogT | LogNormal:
    """Return the predicted distribution of a request's output."""
    mu, sigma = view.location[i] / 1000, view.scale[i] / 1000
    freedom = view.freedom[i]
    return LogNormal(mu, sigma) if freedom == LARGEST else LogT(mu, sigma, freedom / 1000)


@lru_cache(maxsize=KEPT)
def _mean(law: LogT | LogNormal, cap: float) -> float:
    return law.capped_mean(cap)


@lru_cache(maxsize=KEPT)
def _tail(law: LogT | LogNormal, alpha: float, cap: float) -> float:
    return law.cvar(alpha, cap)


def cap_of(view: View, i: int, max_tokens: int) -> int:
    """Return the tokens at which a request stops at the latest."""
    return min(max_tokens, view.memory - view.prompt[i])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
