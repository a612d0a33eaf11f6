"""Tunable numbers of the solver, in one place, each with its unit and the reason for its value."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SearchParams:
    """Numbers of the annealing over priority lists and of the memetic search that uses it.

    Parameters
    ----------
    moves : moves of a search that time does not end: less than a second for 200 requests.
    moves_each : most moves for each request, as more find nothing for few of them.
    hot, cold : first and last temperature, as parts of the mean latency: a list of 20 requests and
        one of 2,000 lose about as much, relatively, by one swap of neighbours.
    least_hot : least first temperature, in rounds: latencies are integers, and a move of a tiny
        instance has to be able to lose a few of them.
    reach : most places between the two requests of a move; others are further apart by a factor 3.
    give : temperatures that an unfinished schedule may lose before it is given up: a rise of so
        many is accepted in one of fifty cases.
    large_part, far_moves : part of the requests, the largest by volume, that one move in so many
        shifts by any distance, since the position of a large request is decided far ahead.
    members : schedules in the population, as many children before its first recombination, and
        schedules in the archive.
    spread : orders without parents are by volume times a random factor, 1 plus or minus this.
    child_moves, child_hot : moves and first temperature of the annealing of a child, which keeps
        most of what its parents have.
    between : children between two recombinations, about as long as one.
    patience : children without a better best schedule before a population without recombination
        is replaced.
    corridor : rounds from the starts of members within which recombinations look, then twice that.
    """

    moves: int = 200_000
    moves_each: int = 2_000
    hot: float = 0.03
    cold: float = 0.004
    least_hot: float = 3.0
    reach: int = 6
    give: float = 4.0
    large_part: float = 0.03
    far_moves: int = 64
    members: int = 16
    spread: float = 0.3
    child_moves: int = 5_000
    child_hot: float = 0.01
    between: int = 5
    patience: int = 500
    corridor: int = 8


@dataclass(frozen=True)
class DualParams:
    """Numbers of the dual ascent, see `ratiolab.hindsight.relaxation.ascent`.

    Parameters
    ----------
    steps : steps of an ascent that time does not end.
    buckets : most buckets of times with prices of their own; a fourth of them loses 0.5 % of the
        bound where outputs are short.
    levels : buckets that share a price while climbing, from coarse to fine; each level has the same
        part of the time.
    deflection : part of the newest subgradient in the direction of a step, about one in the number
        of requests that start at one time.
    aim : part of the best bound by which the first target is above it: less than the gap of the
        prices that an ascent begins with, and it only falls.
    closer, patience : factor of the aim after so many steps without a better bound.
    """

    steps: int = 500
    buckets: int = 16_384
    levels: tuple[int, ...] = (64, 16, 4, 1)
    deflection: float = 0.06
    aim: float = 0.01
    closer: float = 0.7
    patience: int = 6


@dataclass(frozen=True)
class BeamParams:
    """Numbers of the beams for many requests, see `ratiolab.hindsight.scale`.

    Parameters
    ----------
    capacity : part of memory whose prices guide the first beam; later ones are calibrated.
    idle_weight : weight of idle memory in a score; some of it is idle in every schedule.
    delay : rounds by which a request is expected to start late, in mean outputs.
    size_delay : the same for a prompt of mean length, in mean latencies; others in proportion.
    horizon : rounds after a start for which idle memory counts, in mean outputs.
    bucket : rounds whose states compete, in mean outputs.
    children : starts of a state that are kept. Few are no worse and several times faster, since the
        states that are kept then come from many parents.
    candidates : waiting requests of least volume that a state tries to start.
    ahead : arrivals ahead that count as waiting, about: a state must not start a large request for
        want of others.
    width : most states of a bucket and generation: about a gigabyte with 2,000 requests.
    margin : part of memory by which the capacity of prices is below what their schedule uses; two
        capacities that differ less are the same.
    pricing, price_steps : part of the time, and most steps, of the ascent to prices.
    buckets : buckets of times with prices of their own.
    fixed_effort : requests times width of narrow beams without a time limit.
    """

    capacity: float = 0.97
    idle_weight: float = 0.6
    delay: float = 0.15
    size_delay: float = 0.16
    horizon: float = 0.1
    bucket: float = 0.04
    children: int = 4
    candidates: int = 20
    ahead: int = 6
    width: int = 4_000
    margin: float = 0.005
    pricing: float = 0.025
    price_steps: int = 200
    buckets: int = 2_048
    fixed_effort: int = 2_400


@dataclass(frozen=True)
class ProgramParams:
    """Numbers of the integer program, see `ratiolab.hindsight.program_stages`.

    Parameters
    ----------
    most_entries : non-zeros of the largest program: about a gigabyte before branching.
    entries_a_second : non-zeros for each second that is left, and at least for one: presolve does
        not stop at a time limit.
    tail : first horizon beyond the last start of the known schedule, as a part of it; a wrong one
        costs a program more.
    easy_entries : non-zeros of a program that is tried before cuts are looked for.
    easy_nodes, easy_part : most nodes of it, and part of the time that is left.
    """

    most_entries: int = 2_000_000
    entries_a_second: int = 20_000
    tail: float = 0.1
    easy_entries: int = 4_000
    easy_nodes: int = 50
    easy_part: float = 0.2
