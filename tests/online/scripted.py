"""A policy that does what a script says."""

from collections.abc import Mapping

from ratiolab.model import Instance
from ratiolab.online import NEVER, Decision, Information, Policy
from ratiolab.online.refinement.classifier import Classifier


class Scripted(Policy):
    """Serves one request at a time in file order, or does what a script says."""

    name = "scripted"
    information = ties = None  # of each instance, not the defaults of a policy
    classifier = Classifier.spreading(bins=4, spread=0.3, longest=2048)

    def __init__(self, script=None, information=Information.NOTHING, spy=None, ties="index"):
        self.script, self.information, self.spy, self.ties = script, information, spy, ties

    def start(self, setting, rng):
        def decide(view):
            if self.spy is not None:
                self.spy(view, setting, rng)
            if isinstance(self.script, Mapping):
                return self.script.get(view.now, Decision())
            if self.script is not None:
                return self.script(view)
            return Decision([] if view.running else sorted(view.waiting)[:1], wake=NEVER)

        return decide


# Every number is the sign of one fact: outputs, prompts and arrivals are distinct primes, and no
# round or bound equals one of them or the completion that it leads to.
ARRIVAL = [5, 11, 2003]


PROMPT = [101, 103, 107]


OUTPUT = [1009, 1013, 1019]


SECRET = Instance(
    "secret",
    5003,
    ARRIVAL,
    PROMPT,
    OUTPUT,
    lower=[401, 409, 419],
    upper=[1201, 1213, 1217],
    predicted=[907, 911, 919],
    location=[4001, 4003, 4007],
    scale=[601, 607, 613],
    freedom=[3511, 3517, 3527],
)
