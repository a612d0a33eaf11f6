"""Numbers of the dynamic program over cells, each with its unit and reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CellsParams:
    """Numbers of the dynamic program over cells.

    Parameters
    ----------
    cells : least number of cells of the first level up to the makespan: fewer hide what memory
        allows, more make as many labels for each set of started requests.
    width : labels of a layer in the first pass, about a second of work; growth : of it, from pass to
        pass, so that all passes before the last take a third of the time.
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
