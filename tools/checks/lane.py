# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
Run a lane and hand its results on as TAP that any reader of it takes.

Scripts of the guest number their cases each for itself or not at all, and their plans are for
a part only. This one numbers all of them, adds a case for the list of cases and one where the
lane's status does not fit its results, and ends with the one plan. The output goes to
build/out/check/LANE.tap as well.
"""

import os
import re
import resource
import subprocess
import sys
import time

import cases

# Where tools/check.sh says what a lane needs of the cache, and what there is
PRODUCTS = cases.TOP / "build/checks/products"
RESULT = re.compile(r"(not )?ok\b(?: \d+)?(?: -)? ?(.*)")


class Output:
    def __init__(self, file):
        self.file = file
        self.count = 0
        self.failed = 0

    def line(self, text):
        for file in (self.file, sys.stdout):
            print(text, file=file, flush=True)

    def case(self, name, bad):
        self.count += 1
        self.failed += bool(bad)
        self.line(f"{'not ok' if bad else 'ok'} {self.count} - {name}")

    def explain(self, text):
        self.line(f"#   {text}")


def environment():
    """That of the caller: meson's own settings for the programs it tests are not for a lane's."""
    return {name: value for name, value in os.environ.items()
            if name != "MALLOC_PERTURB_" and not name.endswith("SAN_OPTIONS")}


def missing_product(lane):
    """Wait for all that the lane needs. Return: what cannot be had of it."""
    needs = PRODUCTS / f"{lane}.needs"
    for need in needs.read_text().splitlines() if needs.exists() else []:
        name = need.replace(" ", "-")
        while not (PRODUCTS / f"{name}.made").exists():
            if (PRODUCTS / f"{name}.failed").exists():
                return need
            time.sleep(0.2)
    return None


def run(lane):
    missing = missing_product(lane)
    start = time.monotonic()
    lines = []
    cases.RESULTS.mkdir(parents=True, exist_ok=True)
    with (cases.RESULTS / f"{lane}.tap").open("w") as file:
        output = Output(file)
        if missing:
            output.case(f"there is what it needs: {missing}", True)
            output.line("1..1")
            return 1
        with subprocess.Popen([cases.TOP / "tools/checks" / lane], stdin=subprocess.DEVNULL,
                              env=environment(), stdout=subprocess.PIPE, text=True,
                              errors="replace") as process:
            for line in process.stdout:
                line = line.rstrip("\n")
                match = RESULT.fullmatch(line)
                if match:
                    lines.append(line)
                    output.case(match[2], match[1])
                elif line.startswith("#"):
                    output.line(line)
        if not lines:
            output.case("it has results", True)
        if process.returncode and not output.failed:
            output.case("it ends well", True)
            output.explain(f"status {process.returncode}")
        # What cannot be had on this machine has no other cases.
        if not any(line.endswith("# SKIP not available") for line in lines):
            differences = cases.compare(lane, lines)
            output.case("the cases are those of cases.toml", differences)
            for difference in differences:
                output.explain(difference)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        output.line(f"# {time.monotonic() - start:.0f} s, "
                    f"{used.ru_utime + used.ru_stime:.0f} s of processors")
        output.line(f"1..{output.count}")
    return 1 if output.failed else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
