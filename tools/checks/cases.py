# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
The cases that each lane has to have.

cases.toml has, for each lane, how many different cases there are and the sum of their
hashes. A sum does not depend on the order, and a case can be added to it or taken from it
without the others. Names that hold numbers or files of the tree are the same case: "any" lists
regular expressions, and what fits one of them counts as a "*".

The names themselves are in build/out/check/LANE.cases after a run. A list that fitted is kept
in the cache under its sum, so that a later run that does not fit can say which cases differ.
"""

import argparse
import hashlib
import os
import pathlib
import re
import sys
import tomllib

TOP = pathlib.Path(__file__).resolve().parents[2]
RECORD = TOP / "tools/checks/cases.toml"
RESULTS = TOP / "build/out/check"
KEPT = pathlib.Path(os.environ.get("ASAHI_CACHE") or RESULTS) / "cases"

RESULT = re.compile(r"(?:not )?ok\b(?: \d+)?(?: -)? ?(.*)")
HEAD = """\
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# How many different cases each lane has, and the sum of their names' hashes. "any" has
# regular expressions: what fits one of them counts as a "*" in a name. tools/checks/cases.py
# explains the sum; "tools/cases.sh accept LANE" writes it from the last results.
"""


def name_of(line):
    """The case that a TAP line is about, without what stands in parentheses or behind a "#"."""
    match = RESULT.fullmatch(line.rstrip("\n"))
    if not match:
        return None
    return re.sub(r" ?\([^)]*\)", "", re.sub(r" ?# .*", "", match[1]))


def names_in(lines, patterns=()):
    """The different cases of a TAP output."""
    names = set()
    for line in lines:
        name = name_of(line)
        if name is not None:
            for pattern in patterns:
                name = re.sub(pattern, "*", name)
            names.add(name)
    return names


def hash_of(name):
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


class Record:
    """What cases.toml says of one lane."""

    def __init__(self, entry):
        self.count = entry.get("count", 0)
        self.sum = int(entry.get("sum", "0"), 16)
        self.patterns = entry.get("any", [])

    def add(self, name, sign=1):
        self.count += sign
        self.sum = (self.sum + sign * hash_of(name)) % 2**64

    @classmethod
    def of(cls, names, patterns):
        record = cls({"any": patterns})
        for name in names:
            record.add(name)
        return record

    def same(self, other):
        return (self.count, self.sum) == (other.count, other.sum)

    def kept(self, lane):
        return KEPT / f"{lane}-{self.sum:016x}"


def read():
    if not RECORD.exists():
        return {}
    with RECORD.open("rb") as file:
        return {lane: Record(entry) for lane, entry in tomllib.load(file).items()}


def write(records):
    text = HEAD
    for lane in sorted(records):
        record = records[lane]
        text += f"\n[{lane}]\ncount = {record.count}\nsum = \"{record.sum:016x}\"\n"
        if record.patterns:
            text += "any = [" + ", ".join(f"'{pattern}'" for pattern in record.patterns) + "]\n"
    RECORD.write_text(text)


def keep(lane, record, names):
    KEPT.mkdir(parents=True, exist_ok=True)
    record.kept(lane).write_text("".join(f"{name}\n" for name in sorted(names)))


def list_of(lane, record):
    """The names that the record was made of, or None where no run here has fitted it."""
    path = record.kept(lane)
    return set(path.read_text().splitlines()) if path.exists() else None


def compare(lane, lines):
    """What differs from the record, a line each; nothing if the cases are those."""
    record = read().get(lane)
    names = names_in(lines, record.patterns if record else ())
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{lane}.cases").write_text("".join(f"{name}\n" for name in sorted(names)))
    if record is None:
        return [f"tools/checks/cases.toml has no lane {lane}"]
    found = Record.of(names, record.patterns)
    if found.same(record):
        keep(lane, record, names)
        return []
    known = list_of(lane, record)
    if known is not None:
        return ([f"missing {name}" for name in sorted(known - names)] +
                [f"additional {name}" for name in sorted(names - known)])
    # Of one name too many the sum says which.
    for name in names:
        if found.count == record.count + 1 and (found.sum - hash_of(name)) % 2**64 == record.sum:
            return [f"additional {name}"]
    return [f"{found.count} cases, {record.count} are expected: compare "
            f"build/out/check/{lane}.cases with that of a run that passed"]


def has_all(lane, record, names):
    """Whether a lane has these cases, in one of its machines: those of several SoCs name it."""
    known = set()
    for name in list_of(lane, record) or ():
        words = name.split(": ")
        known |= {": ".join(words[i:]) for i in range(len(words))}
    return bool(names) and all(
        any(re.sub(pattern, "*", name) in known for pattern in ("(?!)", *record.patterns))
        for name in names)


def main():
    parser = argparse.ArgumentParser(prog="tools/cases.sh", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("names", help="the cases of TAP files, each once")
    command.add_argument("file", nargs="+", type=pathlib.Path)
    command = commands.add_parser("compare", help="the last results with what they should be")
    command.add_argument("lane")
    command = commands.add_parser("accept", help="take the last results of lanes as right")
    command.add_argument("lane", nargs="+")
    for verb, what in (("add", "a case to lanes"), ("remove", "a case of lanes")):
        command = commands.add_parser(verb, help=f"{verb} {what}, without a run")
        command.add_argument("case")
        command.add_argument("lane", nargs="+")
    commands.add_parser("lanes", help="the lanes that have every case that is read; of a lane "
                        "that has passed nowhere on this machine, nothing is known")
    arguments = parser.parse_args()

    if arguments.command == "names":
        names = set()
        for file in arguments.file:
            names |= names_in(file.read_text().splitlines())
        print("".join(f"{name}\n" for name in sorted(names)), end="")
        return 0
    if arguments.command == "lanes":
        names = set(sys.stdin.read().splitlines())
        print("".join(f"{lane}\n" for lane, record in sorted(read().items())
                      if has_all(lane, record, names)), end="")
        return 0
    if arguments.command == "compare":
        tap = RESULTS / f"{arguments.lane}.tap"
        if not tap.exists():
            parser.error(f"there is no {tap.relative_to(TOP)}: tools/check.sh {arguments.lane}")
        differences = compare(arguments.lane, tap.read_text().splitlines())
        print("".join(f"{line}\n" for line in differences), end="")
        return 1 if differences else 0

    records = read()
    for lane in arguments.lane:
        if arguments.command == "accept":
            tap = RESULTS / f"{lane}.tap"
            if not tap.exists():
                parser.error(f"there are no results of {lane}: tools/check.sh {lane}")
            lines = [line for line in tap.read_text().splitlines()
                     if name_of(line) != "the cases are those of cases.toml"]
            if any(line.startswith("not ok") for line in lines):
                parser.error(f"{lane} has failed: mend that first")
            patterns = records[lane].patterns if lane in records else []
            names = names_in(lines, patterns)
            records[lane] = Record.of(names, patterns)
            keep(lane, records[lane], names)
        elif lane not in records:
            parser.error(f"{RECORD.relative_to(TOP)} has no lane {lane}")
        else:
            names = list_of(lane, records[lane])
            new = arguments.command == "add"
            if names is not None and (arguments.case in names) == new:
                parser.error(f"{lane} has {'this case already' if new else 'no such case'}")
            records[lane].add(arguments.case, 1 if new else -1)
            if names is not None:
                keep(lane, records[lane], names ^ {arguments.case})
        print(f"{lane}: {records[lane].count} cases")
    write(records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
