"""The page of `bench_targets`: sections of tables, of which a run replaces what it made anew."""

from collections.abc import Callable, Iterable
from pathlib import Path

from ratiolab.model.files import write_text

TITLE = "# What the hindsight solver reaches"


def write_section(
    page: Path,
    head: str,
    order: Iterable[str],
    title: str,
    words: str,
    command: str,
    table: list[str],
    name: Callable[[str], str] | None = None,
    tidy: Callable[[list[str]], list[str]] = list,
) -> None:
    """Write the section of a part anew; the other sections of a page stay as they are.

    With ``name``, which says what a row is about, rows that this run did not make stay, too, with
    the commands that made them: some take hours. So does the last cell of a row that this run left
    empty. ``tidy`` then sorts and completes all rows below the two of the head.
    """
    old = page.read_text("utf-8") if page.exists() else ""
    _, *rest = old.split("\n## ")
    sections = {section.partition("\n")[0]: section.partition("\n")[2] for section in rest}
    before, commands = sections.get(title, ""), [command]
    if name is not None:
        kept: list[str] = []
        if table[0] in before:
            made = {name(row) for row in table}
            known = {name(row): row for row in before.splitlines() if row[:1] == "|"}
            kept = [row for row in known.values() if name(row) not in made]
            table = [_completed(row, known.get(name(row))) for row in table]
            commands += [line for line in before.splitlines() if line.startswith("python ")]
        table = table[:2] + tidy(table[2:] + kept)
    shown = "\n".join(dict.fromkeys(commands))
    told = f"\n{words}\n" if words else ""
    sections[title] = f"{told}\n```sh\n{shown}\n```\n\n" + "\n".join(table) + "\n"
    parts = [part for part in order if part in sections]
    text = "".join(f"\n## {part}\n{sections[part].rstrip()}\n" for part in parts)
    write_text(page, f"{TITLE}\n\n{head}\n{text}")


def _completed(row: str, known: str | None) -> str:
    """Return a row with the last cell of what is known, if its own is empty."""
    cells, old = row.split("|"), (known or row).split("|")
    return "|".join([*cells[:-2], old[-2] if not cells[-2].strip() else cells[-2], cells[-1]])


def sample(row: str) -> str:
    """Return all of a row but its result."""
    return row.rpartition(" | ")[0]


def size(row: str) -> str:
    """Return the first cell of a row."""
    return row.split("|")[1].strip()


def seed_of(row: str) -> str:
    """Return the first two cells of a row."""
    return "|".join(row.split("|")[1:3])


def by_size(rows: list[str]) -> list[str]:
    """Return rows by number of requests."""
    return sorted(rows, key=lambda row: int(size(row)))


def by_sample(rows: list[str]) -> list[str]:
    """Return rows by instance, number of requests and seconds."""

    def place(row: str) -> tuple[str, int, float]:
        instance, requests, _, seconds, *_ = row.strip("| ").split(" | ")
        return instance, int(requests.replace(",", "")), float(seconds)

    return sorted(rows, key=place)


def with_means(rows: list[str]) -> list[str]:
    """Return rows by number of requests and seed, and rows of the means of the gaps shown."""
    cells = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows]
    runs = sorted((row for row in cells if row[1] != "mean"), key=lambda row: [*map(int, row[:2])])
    found = ["| " + " | ".join(row) + " |" for row in runs]
    for name in [*dict.fromkeys(n for n, *_ in runs), "all"]:
        own = [row for row in runs if name in (row[0], "all")]
        means = [_mean([row[k] for row in own if row[k].strip("-")]) for k in (3, 4)]
        found.append(f"| {name} | mean | | " + " | ".join(means) + " |")
    return found


def _mean(gaps: list[str]) -> str:
    """Return the mean of gaps as they are shown, and how many are closed."""
    if not gaps:
        return "-"
    mean = sum(map(float, gaps)) / len(gaps)
    return f"{mean:.2f}, {gaps.count('0')} of {len(gaps)} proven"
