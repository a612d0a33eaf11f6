"""Configuration of the documentation site; `python docs/build.py` builds it."""

from typing import Any

from docstrings import numpydoc  # of docs/site, which build.py puts on the path

import ratiolab
from ratiolab.version import made_by

project = "ratiolab"
version = release = ratiolab.__version__
copyright = f"The ratiolab authors, MIT licence. Built from {made_by()}"  # on every page
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx-mathjax-offline",
]
nb_execution_mode = "off"  # the tests execute the notebooks; the site shows what they keep
myst_enable_extensions = ["deflist", "dollarmath", "tasklist"]
myst_heading_anchors = 4
default_role = "literal"  # docstrings mark code with single backticks
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
suppress_warnings = ["mystnb.unknown_mime_type", "myst.header", "ref.python"]
html_theme = "furo"
html_title = "ratiolab"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["filter.js"]
html_show_sphinx = False
html_show_search_summary = False  # a page opened as a file may not fetch others
html_copy_source = False
smartquotes = False  # options begin with two hyphens


def _brief(*given: Any) -> None:
    """Give napoleon the sections of a docstring in the form that it reads."""
    lines: list[str] = given[-1]
    lines[:] = numpydoc(lines)


def setup(app: Any) -> None:
    """Register what rewrites docstrings, before napoleon reads them."""
    app.connect("autodoc-process-docstring", _brief, priority=400)
