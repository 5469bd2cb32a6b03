# SPDX-License-Identifier: MIT
"""Sphinx settings for building these pages outside a kernel tree.

"make docs" lays the sources out as a kernel tree has them, so that the pages
name the same paths in both, and takes the kernel-doc extension from the kernel
source that the module is built against.

srctree    the kernel source with the extension
doctree    the laid-out sources
"""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["srctree"], "Documentation", "sphinx"))

project = "The asahi DRM driver"
author = "The asahi driver authors"
copyright = "2026, " + author

extensions = ["kerneldoc"]
kerneldoc_srctree = os.environ["doctree"]

primary_domain = "c"
highlight_language = "none"
exclude_patterns = ["_build"]
root_doc = "gpu/asahi/index"
html_theme = "alabaster"
html_theme_options = {"description": "Apple AGX GPUs on Linux, and a virtual one"}
c_id_attributes = ["__user", "__iomem", "__must_check", "__packed"]
