"""Tunable numbers of the solver, in one place, each with its unit and the reason for its value.

A number that has no reason other than one instance does not belong here. Sizes that follow from a
representation, such as 64 requests in a machine word, are constants of their modules.
"""

from dataclasses import dataclass, field

from ratiolab.model.instance import Instance


@dataclass(frozen=True)
class LabellingParams:
    """Numbers of the labelling loop, see `ratiolab.hindsight.labelling.loop`.

    Parameters
    ----------
    most_requests : requests up to which the loop runs.
    first_width : labels of a layer in the first round: enough for most proofs of 20 requests, and a
        few seconds of work where there are more.
    growth : factor from the width of a round to the next, so that all rounds before the last take
        a third of the time.
    most_width : largest width, labels of a layer: a quarter of a gigabyte.
    most_labels : labels that an exact sweep may keep, half a gigabyte; it ends there.
    most_recorded : partial labels whose ancestry an exact sweep records, 20 bytes each; later steps
        are made again when completion bounds ask for them.
    more_critical : requests that each sweep adds to the critical set: the completion bounds of the
        sweep before keep the next one narrow.
    large_part : part of all requests from which the next critical set holds all of them.
    partial : labels under extension, as a multiple of the width, above which the worst are left
        out or merged.
    crowd : labels under extension from which they are tested for dominance before a layer is
        complete, and again whenever they have doubled.
    compared : labels that each label is compared with. The test misses some dominated labels, and
        more comparisons cost more than the missing ones. Labels under extension, whose layer is
        tested again, are compared with an eighth.
    near : part of the gap that the first sweep of an iteration may stay below what the multipliers
        promise; restricted diagrams promise a little too much.
    paths : relaxed schedules that a sweep returns, the cheapest.
    last : a round is the last if less time is left than this multiple of the next round's.
    safe : part of the time that is left which the last relaxed diagram aims at.
    """

    most_requests: int = 120
    first_width: int = 16_000
    growth: int = 4
    most_width: int = 256_000
    most_labels: int = 5_000_000
    most_recorded: int = 30_000_000
    more_critical: int = 4
    large_part: float = 0.5
    partial: int = 4
    crowd: int = 2_000
    compared: int = 256
    near: float = 0.1
    paths: int = 12
    last: float = 2.0
    safe: float = 0.9


@dataclass(frozen=True)
class BundleParams:
    """Numbers of the level bundle method, see `ratiolab.hindsight.labelling.multipliers`.

    Parameters
    ----------
    steps : steps in a round; more are of little use before a sweep says what is proven.
    beam : width of a restricted diagram as a part of that of the round, so that the steps take
        about as long as the sweeps. Each label is compared with a quarter of those of a sweep.
    level : part of the way to what the cuts of the model allow that a step goes.
    serious : part of the expected gain that a step has to gain to become the next center.
    most_cuts : cuts of the model that are kept, the least at the center.
    """

    steps: int = 8
    beam: float = 1 / 16
    level: float = 0.3
    serious: float = 0.1
    most_cuts: int = 1_000


@dataclass(frozen=True)
class CutParams:
    """Numbers of the bound by configuration cuts, see `ratiolab.hindsight.cuts.cut_bound`.

    Parameters
    ----------
    rounds : rounds before the labelling loop, which gains more in the time of later ones.
    rounds_few, few : rounds for at most ``few`` requests, whose labels are soon made.
    rounds_alone : rounds where no labelling loop follows.
    part : of the time that is left, before the labelling loop.
    a_second : the first linear programs take a second with ``a_second`` requests, and grow with the
        cube. They may have all but ``part`` of a short time limit, and of any where no labelling
        loop follows.
    """

    rounds: int = 14
    rounds_few: int = 8
    few: int = 16
    rounds_alone: int = 40
    part: float = 0.2
    a_second: int = 40

    def rounds_before(self, instance: Instance, *, followed: bool) -> int:
        """Return the rounds of cuts, given whether the labelling loop follows."""
        if not followed:
            return self.rounds_alone
        return self.rounds_few if len(instance) <= self.few else self.rounds


@dataclass(frozen=True)
class CellsParams:
    """Numbers of the dynamic program over cells.

    Parameters
    ----------
    annealings : of lists with delays between two passes, where no second thread makes them: about
        a second for a dozen requests.
    cells, widths : least number of cells of the first level up to the makespan, and how many widths
        of its cells, by factors of two, the first passes try. Later passes take the width that
        proved most: wide cells have many sets of starts, narrow ones many labels.
    wider : work of a first pass, as a multiple of that of the best with narrower cells, above which
        it is given up. More labels over narrower cells prove more in the time.
    width : labels of a layer in the first pass, about a second of work.
    growth : factor from the width of a pass to the next, so that all passes before the last take a
        third of the time.
    room : labels of a level at most, some eight gigabytes, and a quarter without a time limit, a
        minute of work; never more than half of the machine's memory holds.
    share : part of the time limit for the prices of rows, a quarter of it for those without new
        tables, which gain less.
    tables : new tables of configurations in a round.
    rows, columns : most new rows of a round, and most new columns of a request.
    violation : least violation of a row.
    patience, gain : prices end when ``patience`` rounds close less than ``gain`` of the gap.
    """

    annealings: int = 10
    cells: int = 24
    widths: int = 3
    wider: int = 2
    width: int = 10_000
    growth: int = 4
    room: int = 32_000_000
    share: float = 0.5
    tables: int = 30
    rows: int = 30
    columns: int = 8
    violation: float = 0.01
    patience: int = 5
    gain: float = 0.02


@dataclass(frozen=True)
class TurnParams:
    """Numbers of the turns that the search for schedules takes beside the labelling loop.

    Parameters
    ----------
    share : part of all time that the search gets, a third of it once it has made twice the steps up
        to its last better schedule, and ``patience`` more.
    patience : steps that may find nothing better.
    turn : steps of a turn in its place, where there is no time limit.
    """

    share: float = 0.3
    patience: int = 40
    turn: int = 10


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
    give : temperatures that an unfinished schedule may lose before it is given up: a rise by 4
        temperatures is accepted in one of fifty cases.
    large_part, far_moves : part of the requests, the largest by volume, that a far move shifts by
        any distance, one move in ``far_moves``, since the position of a large request is decided
        far ahead.
    members : schedules in the population, as many children before its first recombination, and
        schedules in the archive.
    spread : orders without parents are by volume times a random factor, 1 plus or minus this.
    child_moves : moves of the annealing of a child, from a third of the first temperature: it keeps
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
    between: int = 5
    patience: int = 500
    corridor: int = 8


@dataclass(frozen=True)
class DualParams:
    """Numbers of the dual ascent, see `ratiolab.hindsight.relaxation.ascent`.

    Parameters
    ----------
    steps : steps of an ascent that time does not end.
    buckets : most buckets of times with prices of their own; a fourth of them loses 0.5% of the
        bound where outputs are short.
    levels : buckets that share a price while climbing, from coarse to fine; each level has the same
        part of the time.
    deflection : part of the newest subgradient in the direction of a step, about one in the number
        of requests that start at one time.
    aim : part of the best bound by which the first target is above it: less than the gap of the
        prices that an ascent begins with, and it only falls.
    closer, patience : factor of the aim after ``patience`` steps without a better bound.
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
    size_delay : delay for a prompt of mean length, in mean latencies; others in proportion.
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
    fixed_effort : requests times width of narrow beams without a time limit: enough to calibrate
        for 2,000 requests.
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
    fixed_effort: int = 8_000


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


@dataclass(frozen=True)
class SolveParams:
    """Tunable numbers of the stages of `ratiolab.hindsight.solver`.

    The annealing, the dual ascent and the beams for many requests take the defaults of their own
    classes.
    """

    labelling: LabellingParams = field(default_factory=LabellingParams)
    bundle: BundleParams = field(default_factory=BundleParams)
    cuts: CutParams = field(default_factory=CutParams)
    cells: CellsParams = field(default_factory=CellsParams)
    turns: TurnParams = field(default_factory=TurnParams)
    program: ProgramParams = field(default_factory=ProgramParams)


DEFAULT = SolveParams()
