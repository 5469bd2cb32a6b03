# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
Say what lanes found, from build/out/check: the failures with their explanations, the skipped
cases, a line for each lane, and the number of passed and failed cases at the end.

    report.py LANE ...
"""

import sys

import cases

OWN = "the cases are those of cases.toml"


def read(lane):
    path = cases.RESULTS / f"{lane}.tap"
    return path.read_text().splitlines() if path.exists() else []


def report(lane, distinct):
    """Print what is to be said of a lane. Return: its passed, failed and skipped cases."""
    passed = failed = skipped = 0
    shown = False
    seconds = "?"
    lines = read(lane)
    for line in lines:
        name = cases.name_of(line)
        if name is None:
            if shown and line.startswith("#"):
                print(line)
            if line.startswith("# ") and line.endswith(" s") and line[2:-2].isdigit():
                seconds = line[2:-2]
            continue
        shown = line.startswith("not ok")
        failed += shown
        if not shown and "# SKIP" in line:
            skipped += 1
            print(f"{lane}: {line}")
        elif not shown:
            passed += 1
        if shown:
            print(f"{lane}: {line}")
        # A case of the virtual machine is one wherever it runs.
        distinct.add(name if lane.startswith("guest-") and name != OWN else f"{lane}: {name}")
    if not lines or not lines[-1].startswith("1.."):
        print(f"{lane}: not ok - it came to no end: build/checks/meson-logs/testlog.txt")
        failed += 1
    print(f"# {lane}: {passed} passed, {failed} failed, {skipped} skipped, {seconds} s")
    return passed, failed, skipped


def main(lanes):
    distinct = set()
    totals = [sum(column) for column in zip(*(report(lane, distinct) for lane in lanes))]
    passed, failed, skipped = totals
    print(f"# {len(distinct)} distinct cases, {sum(totals)} results of them in {len(lanes)} lanes, "
          f"{skipped} skipped; results are in build/out/check")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
