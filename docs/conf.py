# SPDX-License-Identifier: MIT
"""Sphinx configuration. `make docs` builds with warnings as errors, and needs guestgpu installed, but no device."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

import reference_results  # noqa: E402

import guestgpu  # noqa: E402

project = "guestgpu"
author = "The guestgpu authors"
copyright = author
version = release = guestgpu.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "substitution"]
myst_heading_anchors = 3
myst_substitutions = {
    "translator_agree_reference": reference_results.translator_agree(
        HERE.parent / "experiments/translator_agree/reference"
    ),
    "layout_compare_reference": reference_results.layout_compare(HERE.parent / "experiments/layout_compare/reference"),
}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {"Words": "Words", "Row": "Row"}
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True, "ignore-module-all": True}

html_theme = "furo"
html_title = "guestgpu"
html_copy_source = False
html_show_sphinx = False
