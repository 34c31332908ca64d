"""Sphinx configuration."""

import sys
from pathlib import Path

import pairlearn

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "pairlearn"
copyright = "2026, the pairlearn developers"
release = pairlearn.__version__
extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
]
# The notes are a part of the report.
exclude_patterns = ["_build", "reproduction/notes.md"]
html_extra_path = ["reproduction/report.html"]
html_theme = "pydata_sphinx_theme"
html_title = "pairlearn"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# Pages without others below them: an empty side bar would only take their room.
ALONE = ["start", "theory", "comparison", "api", "decisions", "reproduction/report"]
html_sidebars = {page: [] for page in ALONE}
numpydoc_show_class_members = False
html_math_renderer = "mathml"
# Links to a heading of another page, as on GitHub.
myst_heading_anchors = 3
