# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
Say what lanes found, from build/out/check: the skipped cases, a line for each lane, the longest
steps ("# 12 s: NAME" in their output), what was tried again after a failure ("# retried: CASE"),
then the failures with their explanations, and the number of passed and failed cases at the end.
Failures come last, because often only the end of a long output is kept.

    report.py LANE ...
"""

import collections
import re
import sys

import cases

STEP = re.compile(r"# (\d+) s: (.*)")
RETRY = re.compile(r"# retried: (.*)")
STEPS = 16
# lines of a lane's failures that are printed; all are in its .tap file
FAILURE_LINES = 40
OWN = "the cases are those of cases.toml"


def read(lane):
    path = cases.RESULTS / f"{lane}.tap"
    return path.read_text().splitlines() if path.exists() else []


def report(lane, distinct, steps, retries, failures):
    """
    Print the lane's line and its skipped cases, and add to the names, the steps, the retries and
    the lines of failures. Return: its passed, failed and skipped cases.
    """
    passed = failed = skipped = 0
    shown = False
    explained = []
    seconds = "?"
    lines = read(lane)
    for line in lines:
        name = cases.name_of(line)
        if name is None:
            step = STEP.fullmatch(line)
            retry = RETRY.fullmatch(line)
            if step:
                steps.append((int(step[1]), f"{lane}: {step[2]}"))
            elif retry:
                retries[f"{lane}: {retry[1]}"] += 1
            elif shown and line.startswith("#"):
                explained.append(line)
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
            explained.append(f"{lane}: {line}")
        # A case of the virtual machine is one wherever it runs.
        distinct.add(name if lane.startswith("guest-") and name != OWN else f"{lane}: {name}")
    if not lines or not lines[-1].startswith("1.."):
        explained.append(f"{lane}: not ok - it came to no end: build/checks/meson-logs/testlog.txt")
        failed += 1
    failures += explained[:FAILURE_LINES]
    if len(explained) > FAILURE_LINES:
        failures.append(f"# {len(explained) - FAILURE_LINES} more lines are in "
                        f"build/out/check/{lane}.tap")
    print(f"# {lane}: {passed} passed, {failed} failed, {skipped} skipped, {seconds} s")
    return passed, failed, skipped


def main(lanes):
    distinct = set()
    steps = []
    retries = collections.Counter()
    failures = []
    totals = [sum(column) for column in zip(*(report(lane, distinct, steps, retries, failures)
                                              for lane in lanes))]
    passed, failed, skipped = totals
    for seconds, step in sorted(steps, reverse=True)[:STEPS]:
        print(f"# {seconds:5} s: {step}")
    for case, count in sorted(retries.items()):
        print(f"# retried {count} times: {case}" if count > 1 else f"# retried once: {case}")
    print(f"# {retries.total()} retries")
    print(f"# {len(distinct)} distinct cases, {sum(totals)} results of them in {len(lanes)} lanes, "
          f"{skipped} skipped; results are in build/out/check")
    for line in failures:
        print(line)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
