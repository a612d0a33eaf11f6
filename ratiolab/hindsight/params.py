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
    most_requests : requests up to which the loop is worth its time.
    first_width : labels of a layer in the first round: enough for most proofs of 20 requests, and a
        few seconds of work where there are more.
    growth : factor from the width of a round to the next, so that all rounds before the last take
        a third of the time.
    most_width : largest width, labels of a layer: a quarter of a gigabyte.
    most_labels : labels that an exact sweep may keep, half a gigabyte; it ends there.
    most_recorded : partial labels whose ancestry an exact sweep records, 20 bytes each; later steps
        are made again when completion bounds ask for them.
    first_critical : requests of the first critical set; each later one adds twice as many.
    large_part : part of all requests from which the next critical set holds all of them.
    partial : labels under extension, as a multiple of the width, above which the worst are left
        out or merged.
    crowd : labels under extension from which they are tested for dominance before a layer is
        complete, and again whenever they have doubled.
    compared : labels that each label is compared with. The test misses some dominated labels, and
        more comparisons cost more than the missing ones.
    compared_early : the same among labels under extension, whose layer is tested again.
    near : part of the gap that the first sweep of an iteration may stay below what the multipliers
        promise; restricted diagrams promise a little too much.
    paths : relaxed schedules that a sweep returns, the cheapest.
    last : a round is the last if less time is left than so many times what the next should take.
    probe : part of the time that is left which the first sweep of an iteration may take.
    safe : part of the time that is left which the last relaxed diagram aims at.
    """

    most_requests: int = 120
    first_width: int = 16_000
    growth: int = 4
    most_width: int = 256_000
    most_labels: int = 5_000_000
    most_recorded: int = 30_000_000
    first_critical: int = 4
    large_part: float = 0.5
    partial: int = 4
    crowd: int = 2_000
    compared: int = 256
    compared_early: int = 32
    near: float = 0.1
    paths: int = 12
    last: float = 2.0
    probe: float = 0.25
    safe: float = 0.9


@dataclass(frozen=True)
class BundleParams:
    """Numbers of the level bundle method, see `ratiolab.hindsight.labelling.multipliers`.

    Parameters
    ----------
    steps : steps in a round; more are of little use before a sweep says what is proven.
    beam : width of a restricted diagram as a part of that of the round, so that the steps take
        about as long as the sweeps.
    compared : labels that a restricted diagram compares each label with.
    level : part of the way to what the cuts of the model allow that a step goes.
    serious : part of the expected gain that a step has to gain to become the next center.
    followed : cheapest relaxed schedules of a sweep that are recombined.
    made : recombined schedules before the next sweep, at most.
    near : part of the expected gain below which a recombination is of use.
    most_cuts : cuts of the model that are kept, the least at the center.
    """

    steps: int = 8
    beam: float = 1 / 16
    compared: int = 64
    level: float = 0.3
    serious: float = 0.1
    followed: int = 3
    made: int = 12
    near: float = 0.05
    most_cuts: int = 1_000


@dataclass(frozen=True)
class CutParams:
    """Numbers of the bound by configuration cuts, see `ratiolab.hindsight.cuts.cut_bound`.

    Parameters
    ----------
    rounds : rounds before the labelling loop, which gains more in the time of later ones.
    rounds_few, few : the same for so few requests, whose labels are soon made.
    rounds_alone : rounds where no labelling loop follows.
    part, part_alone : of the time that is left, before the labelling loop and without one.
    a_second, most_part : the first linear programs take about a second with so many requests, and
        that grows with the cube; they may have so large a part of a short time limit.
    """

    rounds: int = 14
    rounds_few: int = 8
    few: int = 16
    rounds_alone: int = 40
    part: float = 0.2
    part_alone: float = 0.5
    a_second: int = 40
    most_part: float = 0.8

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
    cells : least number of cells of the first level up to the makespan: fewer hide what memory
        allows, more make as many labels for each set of started requests.
    width : labels of a layer in the first pass, about a second of work.
    growth : factor from the width of a pass to the next, so that all passes before the last take a
        third of the time.
    room : labels of a level at most, some two gigabytes.
    share : part of the time limit for the prices of rows.
    pieces : most pieces of a row: memory holds so many of the larger requests.
    grid, rows, columns, apart : rows at the begin, rows of a round, columns of a request and round,
        and part of the makespan within which a round adds at most two rows.
    violation : least violation of a row.
    patience, gain : prices end when so many rounds close less than this part of the gap.
    """

    cells: int = 24
    width: int = 10_000
    growth: int = 4
    room: int = 8_000_000
    share: float = 0.2
    pieces: int = 6
    grid: int = 30
    rows: int = 12
    columns: int = 8
    apart: int = 60
    violation: float = 0.01
    patience: int = 5
    gain: float = 0.02


@dataclass(frozen=True)
class SearchParams:
    """Numbers of the search for schedules beside the labelling loop.

    Parameters
    ----------
    share, share_late : part of all time that the search gets; and once it has made twice the steps
        up to its last better schedule, and ``patience`` more.
    patience : steps that may find nothing better.
    turn, turn_late : steps of a turn in their place, where there is no time limit.
    """

    share: float = 0.3
    share_late: float = 0.1
    patience: int = 40
    turn: int = 10
    turn_late: int = 3


@dataclass(frozen=True)
class SolveParams:
    """All tunable numbers of `ratiolab.hindsight.solve`."""

    labelling: LabellingParams = field(default_factory=LabellingParams)
    bundle: BundleParams = field(default_factory=BundleParams)
    cuts: CutParams = field(default_factory=CutParams)
    cells: CellsParams = field(default_factory=CellsParams)
    search: SearchParams = field(default_factory=SearchParams)


DEFAULT = SolveParams()
