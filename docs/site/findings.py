"""The page of claims as an index and a page for each paper, and proofs that link back."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROW = re.compile(r"^\| \[(?P<name>[^\]]+)\]\(#(?P<anchor>[^)]+)\) \| (?P<cells>.*) \|$")
CLAIM = re.compile(r"^### (?P<id>(?P<key>\w+)/\S+)$")
PROOF = re.compile(r"^- Proof: \[.*\]\(#proof-(?P<key>[a-z]+\d*)(?P<name>\w+)\)$")


class Claim(NamedTuple):
    """A claim as its paper's table has it."""

    id: str
    statement: str
    verdict: str

    @property
    def anchor(self) -> str:
        """The anchor of its heading."""
        return self.id.replace("/", "").lower()

    @property
    def page(self) -> Path:
        """Where the page of its paper is on the site."""
        return paper_page(self.id.partition("/")[0])


def paper_page(key: str) -> Path:
    """Return where the page of a paper's claims is on the site."""
    return Path(f"results/claims-{key}.md")


def contents(pages: Iterable[str]) -> list[str]:
    """Return the lines of a list of contents that is shown beside pages only."""
    return ["```{toctree}", ":hidden:", "", *pages, "```", ""]


class Claims:
    """The parts of the page of claims.

    Parameters
    ----------
    text : of the page, which holds all papers one after the other.
    proofs : the names of all proofs, as in chen2025/theorem_5.
    """

    def __init__(self, text: str, proofs: Iterable[str] = ()) -> None:
        self.proofs = list(proofs)
        self.head, *sections = re.split(r"^(?=## )", text, flags=re.M)
        self.papers: dict[str, str] = {}
        self.claims: list[Claim] = []
        self.proved: dict[str, list[Claim]] = {}
        self.titles: dict[str, str] = {}
        for section in sections:
            key = next(found["key"] for line in section.split("\n") if (found := CLAIM.match(line)))
            self.papers[key] = section.partition("\n### Proof: ")[0]
            self.titles[key] = section.partition("\n")[0].removeprefix("## ")
            self._add_claims(key)

    def _add_claims(self, key: str) -> None:
        by_id: dict[str, Claim] = {}
        current = ""
        for line in self.papers[key].split("\n"):
            if row := ROW.match(line):
                cells = re.split(r"(?<!\\) \| ", row["cells"])
                claim = Claim(f"{key}/{row['name']}", cells[0], cells[1])
                by_id[claim.id] = claim
                self.claims.append(claim)
            elif found := CLAIM.match(line):
                current = found["id"]
            elif (proof := PROOF.match(line)) and proof["key"] == key:
                self.proved.setdefault(f"{key}/{proof['name']}", []).append(by_id[current])

    def place(self, anchor: str) -> tuple[Path, str]:
        """Return the page on the site that an anchor of the one page leads to, and the anchor."""
        anchor = anchor.removeprefix("#")
        for claim in self.claims:
            if claim.anchor == anchor:
                return claim.page, f"#{anchor}"
        for key, title in self.titles.items():
            if anchor.startswith(f"proof-{key}"):
                return Path(f"proofs/{key}/{anchor.removeprefix(f'proof-{key}')}.md"), ""
            if anchor == re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-"):
                return paper_page(key), ""
        return Path("results/claims.md"), ""

    def index(self) -> str:
        """Return the page that lists all claims, and how many of each verdict a paper has."""
        lines = [self.head.rstrip(), "", "| paper | statements | verdicts |", "|---|---|---|"]
        for key, title in self.titles.items():
            own = [claim for claim in self.claims if claim.id.startswith(f"{key}/")]
            kinds = [claim.verdict.partition(" (")[0].strip("*") for claim in own]
            counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
            lines.append(f"| [{title}]({paper_page(key).name}) | {len(own)} | {counts} |")
        lines += ["", "## All statements", "", "| claim | statement | verdict |", "|---|---|---|"]
        for claim in self.claims:
            link = f"[{claim.id}]({claim.page.name}#{claim.anchor})"
            lines.append(f"| {link} | {claim.statement} | {claim.verdict} |")
        return "\n".join([*lines, "", *contents([paper_page(key).stem for key in self.papers])])

    def page(self, key: str) -> str:
        """Return the page of a paper; its links still lead to anchors of the one page."""
        body = self.papers[key].partition("\n")[2].replace("\n### ", "\n## ")
        proofs = sorted(f"../proofs/{name}" for name in self.proofs if name.startswith(f"{key}/"))
        lines = [f"# {self.titles[key]}: claims", "", "[All papers](claims.md)", body, ""]
        return "\n".join([*lines, *contents(proofs)])

    def proof(self, name: str, text: str) -> str:
        """Return a proof with the statements that it decides below its title."""
        title, _, rest = text.partition("\n")
        decided = [
            f"- [{claim.id}](#{claim.anchor}): {claim.statement} {claim.verdict}"
            for claim in self.proved.get(name, [])
        ]
        lines = ["", "This proof decides:", "", *decided] if decided else []
        return "\n".join([title, *lines, rest])
