# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Print gcovr's summary: lines and branches of each file.

usage: coverage.py table SUMMARY
       coverage.py judge SUMMARY REASONS

"table" adds a line for each part of the project. "judge" prints TAP: a file of which
less than 85 % of the lines were executed fails, unless REASONS has it.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

PARTS = ("drivers/gpu/drm/asahi", "lib/agx", "emulator", "userspace/libdrm_asahi",
         "userspace/shim")
LIMIT = 85


def percent(covered, total):
    """What is not there is not missing either."""
    return f"{100 * covered / total:5.1f} %" if total else "      -"


def row(name, numbers):
    """A line of the table: lines and branches that were executed, and all of them."""
    lines, all_lines, branches, all_branches = numbers
    print(f"{name:48} {percent(lines, all_lines)} of {all_lines:6} lines"
          f" {percent(branches, all_branches)} of {all_branches:6} branches")


def files(path):
    """Name and numbers of each file of a summary."""
    for file in sorted(json.loads(Path(path).read_text())["files"],
                       key=lambda file: file["filename"]):
        yield file["filename"], [file[key] for key in ("line_covered", "line_total",
                                                       "branch_covered", "branch_total")]


def table(path):
    """What people read."""
    parts = defaultdict(lambda: [0, 0, 0, 0])
    for name, numbers in files(path):
        row(name, numbers)
        part = next(part for part in PARTS if name.startswith(part + "/"))
        parts[part] = [a + b for a, b in zip(parts[part], numbers)]
    print()
    for part in PARTS:
        if part in parts:
            row(part, parts[part])


def judge(path, reasons):
    """What checks read."""
    why = dict(line.split("\t", 1) for line in Path(reasons).read_text().splitlines()
               if "\t" in line and not line.startswith("#"))
    for name, reason in why.items():
        # tools/cases.sh leaves out of a case's name what stands in parentheses: one pair.
        if "(" in reason or ")" in reason:
            sys.exit(f"{reasons}: {name}: parentheses in the reason: write it without")
    for name, (lines, all_lines, branches, all_branches) in files(path):
        if not all_lines:
            continue
        good = 100 * lines >= LIMIT * all_lines
        result = f"coverage: {name}: {100 * lines // all_lines} % of {all_lines} lines, " \
                 f"{100 * branches // max(all_branches, 1)} % of {all_branches} branches"
        if good:
            print(f"ok - {result}")
        elif name in why:
            print(f"ok - {result} ({why[name]})")
        else:
            print(f"not ok - {result}\n#   less than {LIMIT} %, without a reason in {reasons}")


def main():
    {"table": table, "judge": judge}[sys.argv[1]](*sys.argv[2:])


main()
