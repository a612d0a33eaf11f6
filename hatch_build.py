"""What a release adds to the package's metadata: links, when it is known where the project lives.

With RATIOLAB_URL set, as to ``https://github.com/OWNER/ratiolab``, the built package has project
URLs, and every relative link and picture of README leads there, at the tag of the version: package
indexes show README without the files beside it. Otherwise both stay as they are in the checkout.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
PAGES = {
    "Source": "",
    "Documentation": "/tree/{tag}/docs",
    "Changelog": "/blob/{tag}/CHANGELOG.md",
    "Issues": "/issues",
}


def absolute(text: str, url: str, tag: str) -> str:
    """Return Markdown whose relative links lead into a repository at a tag."""

    def link(found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        return f"{picture}[{words}]({url}/{'raw' if picture else 'blob'}/{tag}/{target})"

    return LINK.sub(link, text)


class CustomMetadataHook(MetadataHookInterface):
    """README and URLs of the package that is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the two fields."""
        root = Path(self.root)
        text = (root / "README.md").read_text(encoding="utf-8")
        version = re.findall(
            r'__version__ = "(.+)"', (root / "ratiolab" / "version.py").read_text(encoding="utf-8")
        )
        url, tag = os.environ.get("RATIOLAB_URL", "").rstrip("/"), f"v{version[0]}"
        if url:
            text = absolute(text, url, tag)
            metadata["urls"] = {name: url + page.format(tag=tag) for name, page in PAGES.items()}
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
