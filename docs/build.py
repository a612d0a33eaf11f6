"""Build the documentation site: ``python docs/build.py [FOLDER]``, without a network.

It needs the extra ``docs`` (``pip install -e ".[docs]"``). Every broken link is an error.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "site"))


def build(folder: Path) -> int:
    """Write the site into a folder, and return Sphinx's exit code."""
    from links import Assembly
    from made_pages import api_pages, commands_page, policy_pages
    from sphinx.cmd.build import build_main

    mpl.use("agg")
    with tempfile.TemporaryDirectory() as name:
        source = Path(name)
        Assembly(source).add_all()
        shutil.copy(DOCS / "conf.py", source)
        shutil.copytree(DOCS / "site/static", source / "static")
        api_pages(source / "api")
        (source / "commands.md").write_text(commands_page())
        policy_pages(source / "policies")
        return build_main(["-q", "-W", "--keep-going", "-b", "html", str(source), str(folder)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("folder", nargs="?", type=Path, default=DOCS.parent / "build/site")
    sys.exit(build(parser.parse_args().folder))
