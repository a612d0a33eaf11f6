"""Configuration of the documentation site; `python docs/build.py` builds it."""

import re
from typing import Any

import ratiolab

project = "ratiolab"
version = release = ratiolab.__version__
copyright = "The ratiolab authors, MIT licence"
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

_PARAMETER = re.compile(r"^(\*{0,2}\w[\w, *]*) : (.+)$")


def _describe_parameters(*given: Any) -> None:
    """Give napoleon the description of a parameter where it looks for it.

    The docstrings of the project write ``name : description``; the types stand in the signature.
    """
    lines: list[str] = given[-1]
    split: list[str] = []
    for line in lines:
        found = _PARAMETER.match(line)
        split += [found[1], f"    {found[2]}"] if found else [line]
    lines[:] = split


def setup(app: Any) -> None:
    """Register what rewrites docstrings, before napoleon reads them."""
    app.connect("autodoc-process-docstring", _describe_parameters, priority=400)
