"""Pages of the repository as pages of the site, with links that lead to the same place."""

import re
import shutil
from pathlib import Path

from findings import Claims, contents
from mathematics import with_formulas
from reading import with_lines

ROOT = Path(__file__).parents[2]
CLAIMS = ROOT / "results/claims.md"

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
    for page in sorted([*(ROOT / "results").glob("*.md"), *(ROOT / "results/claims").glob("*.md")]):
        pages.setdefault(page, page.relative_to(ROOT))
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
        proofs = [place for place in self.pages.values() if place.parts[0] == "proofs"]
        names = [f"{place.parts[1]}/{place.stem}" for place in proofs]
        every = sorted(CLAIMS.with_suffix("").glob("*.md"))
        self.claims = Claims({page.stem: page.read_text() for page in every}, names)

    def add_all(self) -> None:
        """Write every page of the repository, with its links adapted, and copy what it shows."""
        for page, place in self.pages.items():
            target = self.folder / place
            target.parent.mkdir(parents=True, exist_ok=True)
            if page.suffix == ".ipynb":
                shutil.copy(page, target)
            else:
                text = page.read_text()
                if page == CLAIMS:
                    text = self.claims.index(text)
                if page.parent == CLAIMS.with_suffix(""):
                    text = self.claims.page(page.stem)
                if place.parts[0] == "proofs":
                    text = with_formulas(text)
                    text = self.claims.proof(f"{place.parts[1]}/{place.stem}", text)
                if place == Path("results/index.md"):
                    text = "\n".join([text, *contents(self._results())])
                target.write_text(self.adapted(text, page, place))

    def _results(self) -> list[str]:
        """Return the pages of results, without those that have a place of their own."""
        pages = [place for place in self.pages.values() if place.parent == Path("results")]
        return [place.stem for place in pages if place.stem not in ("index", "claims")]

    def adapted(self, text: str, page: Path, place: Path) -> str:
        """Return the text of a page with every link set for its place on the site."""

        def replace(found: re.Match[str]) -> str:
            if found["target"] is None:
                return found[0]  # code stays as it is
            linked = (page.parent / found["target"]).resolve()
            up = "../" * (len(place.parts) - 1)
            if (proof := self.claims.proof_of(found["anchor"] or "")) is not None:
                return f"[{found['text']}]({up}proofs/{proof}.md)"
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
            return (
                f"{found['image']}[{found['text']}]({up}{where.as_posix()}{found['anchor'] or ''})"
            )

        if place.parts[0] == "proofs":  # written for the page of its paper's claims
            page = CLAIMS.with_suffix("") / f"{place.parts[1]}.md"
        if page.parent == CLAIMS.with_suffix(""):
            text = text.replace("](#", f"]({page.name}#")
        return LINK.sub(replace, with_lines(text))
