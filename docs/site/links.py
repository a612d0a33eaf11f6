"""Pages of the repository as pages of the site, with links that lead to the same place."""

import re
import shutil
from pathlib import Path

from reading import with_lines

ROOT = Path(__file__).parents[2]

LINK = re.compile(
    r"```.*?```"
    r"|(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)"
    r"|`[^`\n]+`",
    re.DOTALL,
)
"""A Markdown link or image whose target is a file of the repository; or code, which has none."""


def site_pages() -> dict[Path, Path]:
    """Return every page of the repository that the site shows: its file, and its place there."""
    pages = {
        ROOT / "CONTRIBUTING.md": Path("contributing.md"),
        ROOT / "CHANGELOG.md": Path("changelog.md"),
        ROOT / "instances/README.md": Path("instances.md"),
        ROOT / "results/README.md": Path("results/index.md"),
    }
    for page in sorted((ROOT / "docs").rglob("*.md")):
        pages[page] = page.relative_to(ROOT / "docs")
    del pages[ROOT / "docs/README.md"]  # the list of pages for readers of the repository
    for page in sorted((ROOT / "results").glob("*.md")):
        pages.setdefault(page, Path("results") / page.name)
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        pages[notebook] = Path("notebooks") / notebook.name
    for proof in sorted((ROOT / "ratiolab/papers").glob("*/proofs/*.md")):
        pages[proof] = Path("proofs") / proof.parents[1].name / proof.name
    return pages


class Assembly:
    """A folder in which the source of the site is put together.

    Parameters
    ----------
    folder : where the site's source is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pages = site_pages()

    def add_all(self) -> None:
        """Write every page of the repository, with its links adapted, and copy what it shows."""
        for page, place in self.pages.items():
            target = self.folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if page.suffix == ".ipynb":
                shutil.copy(page, target)
            else:
                target.write_text(self.adapted(page.read_text(), page, place))

    def adapted(self, text: str, page: Path, place: Path) -> str:
        """Return the text of a page with every link set for its place on the site."""

        def replace(found: re.Match[str]) -> str:
            if found["target"] is None:
                return found[0]  # code stays as it is
            linked = (page.parent / found["target"]).resolve()
            if not linked.exists():
                raise ValueError(f"{page.relative_to(ROOT)}: {found['target']} does not exist")
            if linked.is_dir() and linked / "README.md" in self.pages:
                linked /= "README.md"
            if linked in self.pages:
                where = self.pages[linked]
            elif linked == ROOT / "README.md" or linked == ROOT / "docs/README.md":
                where = Path("index.md")
            elif linked.is_file():
                where = Path("files") / linked.relative_to(ROOT)
                (self.folder / where).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(linked, self.folder / where)
            else:
                return f"`{linked.relative_to(ROOT)}`"  # a folder, which the site does not show
            up = "../" * (len(place.parts) - 1)
            return (
                f"{found['image']}[{found['text']}]({up}{where.as_posix()}{found['anchor'] or ''})"
            )

        adapted = LINK.sub(replace, with_lines(text))
        if place.parts[0] == "proofs":  # written for the page of claims, which shows them all
            adapted = adapted.replace("](#", "](../../results/claims.md#")
        return adapted
