"""Sphinx configuration."""

import sys
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

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
    "sphinx_gallery.gen_gallery",
]
# The notes are a part of the report.
exclude_patterns = ["_build", "reproduction/notes.md", "gallery/*.py"]
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

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",  # every script there is an example, and is run
    "within_subsection_order": ExplicitOrder(
        [
            "boundary_step_by_step.py",
            "rings_without_tuning.py",
            "kernels_on_banana.py",
            "certificate_against_truth.py",
            "class_assignment.py",
            "priors.py",
            "how_many_pairs.py",
            "which_pairs_to_ask.py",
            "wrong_answers.py",
            "kinds_of_digits.py",
            "digits_of_mnist.py",
            "images_with_a_network.py",
            "citations_of_pubmed.py",
            "strings_with_landmarks.py",
            "sets_with_landmarks.py",
            "*",
        ]
    ),
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "capture_repr": (),  # what matters is printed
    # A page that only depends on the code: no times, no versions.
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": float("inf"),
    "download_all_examples": False,
}
