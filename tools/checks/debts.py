# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""The table of the firmware's debts, in the watchdog and on the page.

Prints what differs; nothing if they agree.
"""

import re
import sys
from pathlib import Path

SOURCE = Path("drivers/gpu/drm/asahi/asahi_watchdog.c")
PAGE = Path("Documentation/gpu/asahi/lifecycle.rst")
RULE = re.compile(r'\[ASAHI_DEBT_\w+\]\s*=\s*\{\s*"([^"]+)",\s*(\w+),\s*(\w+),\s*(\w+)\s*\}')
TITLE = "What the firmware owes\n======================\n"


def span(value):
    """A time of the source as the page says it."""
    if value == "ASAHI_DEBT_NEVER":
        return "never"
    ms = int(value)
    if not ms:
        return "at once"
    return f"{ms} ms" if ms % 1000 else f"{ms // 1000} s"


def of_source(text):
    """Rows of the source: what, late after, given up after, asked."""
    return [(why, span(late), span(lost), {"true": "yes", "false": "no"}[ask])
            for why, late, lost, ask in RULE.findall(text)]


def of_page(text):
    """Rows of the page's table, without its head."""
    section = text.split(TITLE)[1].split("\n===")[0]
    cells = re.findall(r"^   (?:\* -|  -) (.+)$", section, re.M)
    rows = [tuple(cells[i:i + 4]) for i in range(0, len(cells), 4)]
    return rows[1:]


def main():
    """Compares them, in their order."""
    source, page = of_source(SOURCE.read_text()), of_page(PAGE.read_text())
    for row in source:
        if row not in page:
            print(f"{SOURCE}: not on the page: {' | '.join(row)}")
    for row in page:
        if row not in source:
            print(f"{PAGE}: not in the source: {' | '.join(row)}")
    if not source or len(source) != len(page):
        print(f"{len(source)} debts in the source, {len(page)} on the page")
    return 0


if __name__ == "__main__":
    sys.exit(main())
