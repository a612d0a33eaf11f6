"""The stage of a solve that runs the labelling loop, see `ratiolab.hindsight.labelling.loop`."""

from dataclasses import dataclass, replace

from ratiolab.hindsight import memory
from ratiolab.hindsight.bounds import LowerBound
from ratiolab.hindsight.certificates.certificate import PathCertificate
from ratiolab.hindsight.labelling.loop import Loop, Surroundings
from ratiolab.hindsight.labelling.weights import MOST_MEMORY
from ratiolab.hindsight.search import Turns
from ratiolab.hindsight.state import Callbacks, Found, SolveState
from ratiolab.model.schedule import Schedule


@dataclass(frozen=True)
class Labelling:
    """The labelling loop under the duals of cuts, in a part of the time that is left."""

    part: float

    def __call__(self, state: SolveState, call: Callbacks) -> Found:
        instance, duals, params = state.instance, state.duals, state.params
        if len(instance) > params.labelling.most_requests:
            return Found(note=f"no labelling: more than {params.labelling.most_requests} requests")
        if instance.memory > MOST_MEMORY:
            return Found(note=f"no labelling: memory {instance.memory} > {MOST_MEMORY}")
        if duals is None or not (any(duals.duals.memory) or duals.duals.cuts):
            return Found(note="no labelling: there are no duals of cuts to guide it")
        if state.memory_budget is not None:
            width = memory.walk_width(instance, state.memory_budget)
            if width < params.labelling.first_width // 8:
                return Found(note="no labelling: the memory limit leaves no room for labels")
            width = min(width, params.labelling.most_width)
            params = replace(params, labelling=replace(params.labelling, most_width=width))

        def found(schedule: Schedule | None, proven: PathCertificate | None) -> None:
            bound = None if proven is None else LowerBound(proven.bound, "paths")
            call.found(Found(schedule, bound, proven))

        stop = state.deadline(self.part)
        around = Surroundings(lambda: state.upper, stop, found, state.countdown(self.part))
        # a search has no part of the memory, and none is asked for with no steps
        if not state.helped and state.options.steps and state.memory_budget is None:
            around = around._replace(search=Turns(state, stop))
        known = state.certificate  # of an earlier stage, or what the solve began with
        begin = known if isinstance(known, PathCertificate) else state.walked
        try:
            Loop(instance, duals, around, params, begin).run()
        except OverflowError as error:
            return Found(note=f"no labelling: {error}")
        limit = "time limit" if stop() else "largest width of a layer"
        return Found(note="" if state.closed else f"labelling stopped by the {limit}")
