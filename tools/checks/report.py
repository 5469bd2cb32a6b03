# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
Say what lanes found, from build/out/check: the skipped cases, a line for each lane, the longest
steps ("# 12 s: NAME" in their output), what was tried again after a failure ("# retried: CASE"),
then the failures with their explanations, once more each with the explanation's first lines, and
the number of passed and failed cases at the end. Their short form comes last, because often only
the end of a long output is kept.

    report.py LANE ...
"""

import collections
import re
import sys

import cases

STEP = re.compile(r"# (\d+) s: (.*)")
WHOLE = re.compile(r"# (\d+) s, (\d+) s of processors")
RETRY = re.compile(r"# retried: (.*)")
STEPS = 16
# lines of a lane's failures that are printed; all are in its .tap file
FAILURE_LINES = 40
# failed cases that are printed again at the end, each with the first lines of its explanation
FAILED_CASES = 20
FIRST_LINES = 4
OWN = "the cases are those of cases.toml"


def read(lane):
    path = cases.RESULTS / f"{lane}.tap"
    return path.read_text().splitlines() if path.exists() else []


def shorten(explained):
    """The failed cases of a lane, each a list: its name and its explanation's first lines."""
    short = []
    for line in explained:
        if not line.startswith("#"):
            short.append([line])
        elif len(short[-1]) <= FIRST_LINES:
            short[-1].append(line)
    return short


def report(lane, distinct, steps, retries, failures, short):
    """
    Print the lane's line and its skipped cases, and add to the cases, the steps, the retries,
    the lines of failures and the failed cases in short. Return: its passed, failed and skipped
    cases, and the seconds of processors that it took.
    """
    passed = failed = skipped = 0
    shown = False
    explained = []
    seconds = "?"
    used = 0
    lines = read(lane)
    for line in lines:
        name = cases.name_of(line)
        if name is None:
            step = STEP.fullmatch(line)
            retry = RETRY.fullmatch(line)
            whole = WHOLE.fullmatch(line)
            if whole:
                seconds, used = whole[1], int(whole[2])
            elif step:
                steps.append((int(step[1]), f"{lane}: {step[2]}"))
            elif retry:
                retries[f"{lane}: {retry[1]}"] += 1
            elif shown and line.startswith("#"):
                explained.append(line)
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
    short += shorten(explained)
    failures += explained[:FAILURE_LINES]
    if len(explained) > FAILURE_LINES:
        failures.append(f"# {len(explained) - FAILURE_LINES} more lines are in "
                        f"build/out/check/{lane}.tap")
    print(f"# {lane}: {passed} passed, {failed} failed, {skipped} skipped, {seconds} s, "
          f"{used} s of processors")
    return passed, failed, skipped, used


def main(lanes):
    distinct = set()
    steps = []
    retries = collections.Counter()
    failures = []
    short = []
    totals = [sum(column)
              for column in zip(*(report(lane, distinct, steps, retries, failures, short)
                                  for lane in lanes))]
    passed, failed, skipped, used = totals
    for seconds, step in sorted(steps, reverse=True)[:STEPS]:
        print(f"# {seconds:5} s: {step}")
    for case, count in sorted(retries.items()):
        print(f"# retried {count} times: {case}" if count > 1 else f"# retried once: {case}")
    print(f"# {retries.total()} retries")
    print(f"# {len(distinct)} distinct cases, {passed + failed + skipped} results of them in "
          f"{len(lanes)} lanes, {skipped} skipped, {used} s of processors; "
          "results are in build/out/check")
    for line in failures:
        print(line)
    for case in short[:FAILED_CASES]:
        print("\n".join(case))
    if len(short) > FAILED_CASES:
        print(f"# {len(short) - FAILED_CASES} more failures are above")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
