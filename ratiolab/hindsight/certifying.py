"""A certificate for what a solve has proved, where a solver's word stands for a part of it."""

from dataclasses import replace

from ratiolab.hindsight.result import OptResult, Report, Stage
from ratiolab.hindsight.solver import PLANS, solve


def certified(result: OptResult, progress: Report | None = None) -> OptResult:
    """Return the result with the certificate of a better bound, where a search finds one.

    The bound of a solve can rest on HiGHS or on an enumeration, which leave no certificate. Then
    the stages that certify their bounds begin with the schedule that is known.

    Parameters
    ----------
    result : of a solve, whose limits hold for both together.
    progress : told as that of `ratiolab.hindsight.solver`.

    Returns
    -------
    The result as it is, when its certificate proves its bound, when Ctrl-C ended its solve, or when
    all these stages have been tried.
    """
    limit = result.options.time_limit
    left = None if limit is None else max(0.0, limit - result.seconds)
    if result.certified == result.lower or result.interrupted or left == 0:
        return result
    tried = {stage.name for stage in result.stages}
    if tried.issuperset(name for name, _ in PLANS["certified"]):
        return result
    again = solve(
        result.instance,
        method="certified",
        time_limit=left,
        memory_limit=result.options.memory_limit,
        seed=result.options.seed,
        threads=result.options.threads,
        known=result.schedule,
        progress=progress,
    )
    if again.certified < result.certified:
        again = replace(again, certificate=result.certificate)
    better = again if again.lower >= result.lower else result
    seconds, nodes = result.seconds + again.seconds, result.nodes + again.nodes
    stage = Stage("certificate", seconds, again.upper, better.lower, nodes, again.note)
    return replace(
        better,
        certificate=again.certificate,
        status="optimal" if again.upper == better.lower else "bounded",
        schedule=again.schedule,
        upper=again.upper,
        nodes=nodes,
        seconds=seconds,
        options=result.options,
        stages=(*result.stages, stage),
        interrupted=again.interrupted,
    )
