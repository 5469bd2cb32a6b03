# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Hold what the analyzers have found against what is let pass.

usage: static_findings.py SUPPRESSIONS TOOL=FILE:FOLDER,... ...

FILE is what the tool has said, a line each: "PATH:LINE: NAME: WORDS". Prints TAP: a case
for each folder of each tool, one for what the tool has found elsewhere, and one for
suppressions that nothing needs any more.
"""

import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from uapi import Tap


class Suppression:
    """A line of the list."""

    def __init__(self, line):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 5 or not all(cells):
            raise SystemExit(f"not a tool, file, name, words and a reason: {line}")
        self.tool, self.path, self.name, self.words, self.reason = cells
        self.used = False

    def fits(self, tool, line):
        found = re.fullmatch(r"([^:]+):\d+: ([^:]+): (.*)", line)
        return (found and tool == self.tool and fnmatchcase(found[1], self.path)
                and fnmatchcase(found[2], self.name) and self.words in found[3])


def main():
    suppressions = [Suppression(line) for line in Path(sys.argv[1]).read_text().splitlines()
                    if line and not line.startswith("#")]
    tap = Tap()
    for argument in sys.argv[2:]:
        tool, file, folders = re.fullmatch(r"(\w+)=([^:]+):(.+)", argument).groups()
        rest = []
        for line in dict.fromkeys(Path(file).read_text().splitlines()):
            fitting = [each for each in suppressions if each.fits(tool, line)]
            for each in fitting:
                each.used = True
            if not fitting:
                rest.append(line)
        for folder in folders.split(","):
            tap.result(f"{tool}: {folder}", [l for l in rest if l.startswith(folder + "/")])
            rest = [line for line in rest if not line.startswith(folder + "/")]
        tap.result(f"{tool}: elsewhere", rest)
    tap.result("every suppression is needed",
               [f"{s.tool}: {s.path}: {s.name}: {s.words}" for s in suppressions if not s.used])
    sys.exit(tap.failed > 0)


main()
