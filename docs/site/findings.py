"""The pages of claims, one for each paper, and proofs that link back to them."""

import re
from collections.abc import Iterable, Mapping
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
    def link(self) -> str:
        """The link from a page of proofs in the repository's results."""
        return f"{self.id.partition('/')[0]}.md#{self.id.replace('/', '').lower()}"


def contents(pages: Iterable[str]) -> list[str]:
    """Return the lines of a list of contents that is shown beside pages only."""
    return ["```{toctree}", ":hidden:", "", *pages, "```", ""]


class Claims:
    """The pages of claims, whose proofs have pages of their own on the site.

    Parameters
    ----------
    pages : texts of the pages by the key of the paper.
    proofs : the names of all proofs, as in chen2025/theorem_5.
    """

    def __init__(self, pages: Mapping[str, str], proofs: Iterable[str] = ()) -> None:
        self.pages, self.proofs = pages, list(proofs)
        self.claims: list[Claim] = []
        self.proved: dict[str, list[Claim]] = {}
        for key, text in pages.items():
            self._add_claims(key, text)

    def _add_claims(self, key: str, text: str) -> None:
        by_id: dict[str, Claim] = {}
        current = ""
        for line in text.split("\n"):
            if row := ROW.match(line):
                cells = re.split(r"(?<!\\) \| ", row["cells"])
                claim = Claim(f"{key}/{row['name']}", cells[0], cells[1])
                by_id[claim.id] = claim
                self.claims.append(claim)
            elif found := CLAIM.match(line):
                current = found["id"]
            elif (proof := PROOF.match(line)) and proof["key"] == key:
                self.proved.setdefault(f"{key}/{proof['name']}", []).append(by_id[current])

    def proof_of(self, anchor: str) -> str | None:
        """Return the name of the proof that an anchor of a page leads to, if it is one."""
        for key in self.pages:
            if anchor.startswith(f"#proof-{key}"):
                return f"{key}/{anchor.removeprefix(f'#proof-{key}')}"
        return None

    def index(self, text: str) -> str:
        """Return the page that lists all claims, with the contents of the site below it."""
        return "\n".join([text, *contents(f"claims/{key}" for key in self.pages)])

    def page(self, key: str) -> str:
        """Return the page of a paper, without its proofs."""
        body = self.pages[key].partition("\n### Proof: ")[0]
        title = re.findall(r"^## (.*)$", body, re.M)[0]
        body = body.partition(f"\n## {title}\n")[2].replace("\n### ", "\n## ")
        proofs = sorted(
            f"../../proofs/{name}" for name in self.proofs if name.startswith(f"{key}/")
        )
        lines = [f"# {title}: claims", "", "[All papers](../claims.md)", body, ""]
        return "\n".join([*lines, *contents(proofs)])

    def proof(self, name: str, text: str) -> str:
        """Return a proof with the statements that it decides below its title."""
        title, _, rest = text.partition("\n")
        decided = [
            f"- [{claim.id}]({claim.link}): {claim.statement} {claim.verdict}"
            for claim in self.proved.get(name, [])
        ]
        lines = ["", "This proof decides:", "", *decided] if decided else []
        return "\n".join([title, *lines, rest])
