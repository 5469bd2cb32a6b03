# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Whether the diagram of blocks in lifecycle.rst has those of asahi_block.c, in their order."""

import re
import sys
from pathlib import Path

SOURCE = Path("drivers/gpu/drm/asahi/asahi_block.c")
PAGE = Path("Documentation/gpu/asahi/lifecycle.rst")


def main():
    array = re.search(r"asahi_blocks\[\] = \{(.*?)\};", SOURCE.read_text(), re.S)[1]
    blocks = re.findall(r"&asahi_block_(\w+)", array)
    diagram = re.search(r"^::\n\n(.*?)\n\n\S", PAGE.read_text(), re.S | re.M)[1]
    drawn = re.findall(r"^ +[|v]   (\w+)", diagram, re.M)
    if blocks != drawn:
        print(f"{SOURCE}: {' '.join(blocks)}")
        print(f"{PAGE}: {' '.join(drawn)}")


if __name__ == "__main__":
    sys.exit(main())
