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
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "pairlearn"
numpydoc_show_class_members = False
