# SPDX-License-Identifier: MIT
"""Sphinx settings for building these pages outside a kernel tree.

gpu/asahi is what "make export" puts into a kernel tree, which has settings of
its own; project is about the rest. "make docs" takes the kernel-doc extension from
the kernel source that the module is built against.

srctree    the kernel source with the extension
clone      the sources that the pages quote
"""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["srctree"], "Documentation", "sphinx"))

project = "asahi and vagx"
author = "The asahi driver authors"
copyright = "2026, " + author

extensions = ["kerneldoc"]
kerneldoc_srctree = os.environ["clone"]

primary_domain = "c"
highlight_language = "none"
root_doc = "index"
html_theme = "alabaster"
html_theme_options = {"description": "Apple AGX GPUs on Linux, and a virtual one"}
c_id_attributes = ["__user", "__iomem", "__must_check", "__packed"]
