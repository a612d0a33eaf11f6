"""Which requests a service level objective loses, and how many of them no scheduler could save."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ratiolab.evaluation.service import Service, Slo, isolated_service
from ratiolab.hindsight.certificates.certificate import InTimeCertificate
from ratiolab.hindsight.promises import certified_goodput
from ratiolab.model import Instance, Preemption
from ratiolab.model.fleet import Fleet, fleet_of, replicas_of
from ratiolab.model.promises import NO_DATE
from ratiolab.online.clock import BatchTime

MOST_PRICED = 5_000
"""Most requests for which the bound without evictions is computed; it takes some seconds."""

NAMED = 5
"""Requests that a sentence names."""


@dataclass(frozen=True)
class Promise:
    """The requests of a log that are in time, against a certified bound.

    Parameters
    ----------
    current : the policy in use, with its router before several replicas.
    requests : number of requests of the log.
    served : those in time under the policy in use, in the first seed's run;
        None when it did not end.
    bound : no schedule serves more in time, whatever it evicts.
    calm : no schedule without evictions serves more in time; None where it was not computed, as
        under a clock.
    unreachable : requests that are late even alone.
    proof : of ``bound``.
    """

    current: str
    requests: int
    served: int | None
    bound: int
    calm: int | None
    unreachable: tuple[int, ...]
    proof: InTimeCertificate = field(repr=False)

    @classmethod
    def of(
        cls,
        given: Instance | Fleet,
        clock: BatchTime | None,
        preemption: Preemption,
        slo: Slo,
        proof: InTimeCertificate,
        current: str,
        service: Service | None,
    ) -> "Promise":
        """Return what an objective asks of a log, and ``proof`` how many can be in time."""
        instance, n = replicas_of(given)[0], len(given)
        late = np.flatnonzero(~slo.met(isolated_service(instance, clock, preemption)))
        calm = _without_evictions(given, slo, late.size) if clock is None else None
        served = None if service is None else int(slo.met(service).sum())
        calm = None if calm is None else min(calm, proof.bound)
        return cls(current, n, served, proof.bound, calm, tuple(late.tolist()), proof)

    @property
    def sentences(self) -> list[str]:
        """Return who is in time, and which misses were unavoidable."""
        n, most = self.requests, self.bound
        limit = f"no schedule serves more than {most:,}"
        if self.calm is not None and self.calm < most:
            limit += f", and none without evictions more than {self.calm:,}"
        words = f"In time: {limit} (certified)."
        if self.served is not None:
            missed, certain = n - self.served, n - most
            words = f"In time under {self.current}: {self.served:,} of {n:,}; {limit} (certified)."
            if missed:
                words += f" Misses: {missed:,}, "
                few = "all of them" if certain == missed else f"at least {certain:,} of them"
                words += f"{few if certain else 'none of them proven'} unavoidable."
        told = [words]
        if self.unreachable:
            named = ", ".join(f"{i:,}" for i in self.unreachable[:NAMED])
            left = len(self.unreachable) - NAMED
            more = f" and {left:,} more" if left > 0 else ""
            told.append(
                f"{len(self.unreachable):,} requests are late even when served alone: "
                f"{named}{more}."
            )
        return told

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "requests": self.requests,
            "in_time": self.served,
            "bound": self.bound,
            "bound_without_evictions": self.calm,
            "misses": None if self.served is None else self.requests - self.served,
            "unavoidable_misses": self.requests - self.bound,
            "unreachable": list(self.unreachable),
        }


def _without_evictions(given: Instance | Fleet, slo: Slo, late: int) -> int | None:
    """Return the most requests in time in rounds, if no run is evicted."""
    instance, replicas = replicas_of(given)
    if len(instance) > MOST_PRICED or late == len(instance):
        return None
    ttft, latency = map(np.array, slo.limits(instance.output))
    dates = {
        name: instance.arrival + np.floor(limit).astype(np.int64)
        for name, limit in (("first_by", ttft), ("deadline", latency))
        if np.isfinite(limit).all() and (limit >= 1).all() and limit.max() < NO_DATE / 2
    }
    if not dates:
        return None
    promised = instance.without_promises().replace(**dates)
    return certified_goodput(fleet_of(promised, replicas)).bound
