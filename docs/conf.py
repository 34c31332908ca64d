"""Sphinx configuration."""

import pairlearn

project = "pairlearn"
copyright = "2026, the pairlearn developers"
release = pairlearn.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
# The notes are a part of the report.
exclude_patterns = ["_build", "reproduction/notes.md"]
html_extra_path = ["reproduction/report.html"]
html_theme = "pydata_sphinx_theme"
html_title = "pairlearn"
numpydoc_show_class_members = False
