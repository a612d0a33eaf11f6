"""What solving tells while it runs, and what it returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ratiolab.hindsight.bounds import Bound
from ratiolab.model.instance import Instance
from ratiolab.model.schedule import Schedule

if TYPE_CHECKING:
    from ratiolab.hindsight.certificate import Certificate, PriceCertificate


class Progress(NamedTuple):
    """What a running solve knows: seconds and nodes so far, and proven bounds."""

    seconds: float
    nodes: int
    upper: int
    lower: int


Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True, eq=False)
class OptResult:
    """A feasible schedule and a proven interval around the hindsight optimum.

    Parameters
    ----------
    status : "optimal" when upper equals lower, else "bounded".
    upper : total latency of the schedule, rounds.
    lower : proven lower bound of the total latency of every schedule, rounds.
    lower_source : who proves it: a bound of `ratiolab.hindsight.bounds`, or a solver.
    nodes : nodes of the solver's search tree.
    options : what `solve` was asked for.
    note : what the reader should know, such as that no program was solved or a limit was met.
    formula, proof : the bound without a solver, and the proof by cuts where they were looked for.
    preemption : the semantics under which this is the optimum; evictions that lose all tokens
        never help a scheduler that knows everything.
    """

    instance: Instance
    status: Literal["optimal", "bounded"]
    schedule: Schedule = field(repr=False)
    upper: int
    lower: int
    lower_source: str
    nodes: int
    seconds: float
    options: Mapping[str, Any] = field(repr=False)
    formula: Bound = field(repr=False)
    proof: "PriceCertificate | None" = field(repr=False)
    note: str = ""
    preemption: Literal["restart"] = "restart"

    @property
    def is_exact(self) -> bool:
        """Whether the schedule is proven optimal."""
        return self.upper == self.lower

    @property
    def certificate(self) -> "Certificate":
        """Proof of the best bound that needs no solver's word; it may be below ``lower``.

        `ratiolab.hindsight.certify` checks it.
        """
        from ratiolab.hindsight.certificate import FormulaCertificate

        if self.proof is not None and self.proof.bound == self.certified:
            return self.proof
        instance, formula = self.instance, self.formula
        return FormulaCertificate(instance.name, instance.digest, formula.value, formula.source)

    @property
    def certified(self) -> int:
        """The bound of the certificate, rounds."""
        return max(self.formula.value, 0 if self.proof is None else self.proof.bound)

    @property
    def gap(self) -> Fraction:
        """The schedule is at most this part above the optimum: (upper - lower) / lower."""
        return Fraction(self.upper - self.lower, self.lower)
