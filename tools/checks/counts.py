# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Compares what was counted with the baseline. Prints TAP, from case 5 on.

Usage: counts.py BASELINE COUNTS.json...

The baseline has lines of "count name". A row may cost MARGIN more. One that costs
less by as much gets a remark: then the baseline is to be written anew.
"""

import json
import sys
from pathlib import Path

MARGIN = 0.05
FIRST_CASE = 5


def read_baseline(path):
    """A dictionary: name -> count."""
    rows = (line.split(maxsplit=1) for line in Path(path).read_text().splitlines()
            if line and not line.startswith("#"))
    return {name: float(count) for count, name in rows}


def judge(expected, counted):
    """Whether a row is good, and what there is to say of it."""
    if counted is None:
        return False, "was not measured"
    change = counted / expected - 1
    text = f"{counted:.6g}, {change:+.1%}"
    if change < -MARGIN:
        text += ": write the baseline anew"
    return change <= MARGIN, text


def main():
    counts = {row["name"]: row.get("ns", row.get("value")) for path in sys.argv[2:]
              for row in json.loads(Path(path).read_text())}
    baseline = read_baseline(sys.argv[1])
    failed = not baseline

    for number, (name, expected) in enumerate(baseline.items(), FIRST_CASE):
        good, text = judge(expected, counts.get(name))
        failed |= not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        print(f"#   {expected:g} before, now {text}")
    print(f"1..{FIRST_CASE - 1 + len(baseline)}")
    return 1 if failed else 0


sys.exit(main())
