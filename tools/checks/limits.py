# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Whether each limit of the driver has its tests, see tools/checks/limits.toml.

Prints what is wrong with the table; nothing if

- each macro of the driver that is called a limit is in it, in a row or with a reason;
- each of its macros is defined where it says;
- each of its tests exists.
"""

import re
import sys
import tomllib
from pathlib import Path

DRIVER = Path("drivers/gpu/drm/asahi")
TABLE = Path("tools/checks/limits.toml")
SUBTESTS = Path("igt-tests/ci/asahi-subtests.txt")
SCRIPTS = Path("tools/guest/tests")
FIELDS = {"macro", "file", "beyond", "reached", "exceeded"}
DEFINED = re.compile(r"^#define[ \t]+(\w+)[ \t]", re.M)
CALLED_LIMIT = re.compile(r"(?:^|_)(?:MAX|LIMIT|MOST|TRIES)(?:_|$)")


def macros(path):
    """Names of all macros with a value in a file."""
    return set(DEFINED.findall(path.read_text()))


def kunit_cases():
    """Pairs of a suite and a case, of all KUnit tests."""
    found = set()
    for path in DRIVER.glob("tests/*_test.c"):
        text = path.read_text()
        suite = re.search(r"^static struct kunit_suite .*?\.name = \"(\w+)\"", text, re.M | re.S)
        cases = re.findall(r"\bKUNIT_CASE\w*\((\w+)", text)
        found.update((suite[1], case) for case in cases if suite)
    return found


class Tests:
    """All tests that a row can name."""

    def __init__(self):
        self.subtests = set(SUBTESTS.read_text().splitlines())
        self.kunit = kunit_cases()

    def has(self, name):
        """Whether there is a test of this name."""
        kind, _, rest = name.partition(" ")
        if kind == "kunit":
            return tuple(rest.split()) in self.kunit
        if kind == "guest":
            name, _, case = rest.partition(": ")
            text = (SCRIPTS / name).read_text() if (SCRIPTS / name).is_file() else ""
            return f'"{rest}' in text or f'"{case}' in text
        return name in self.subtests


def check_row(row, tests):
    """Complaints about a row of the table."""
    name = row.get("macro", "a row without a macro")
    if set(row) != FIELDS or not all(row.values()):
        yield f"{name}: a row has {', '.join(sorted(FIELDS))}, and none of them is empty"
        return
    paths = [path for path in (DRIVER / row["file"], Path(row["file"])) if path.is_file()]
    if not paths or name not in macros(paths[0]):
        yield f"{name}: not in {row['file']}"
    for test in dict.fromkeys(row["reached"] + row["exceeded"]):
        if not tests.has(test):
            yield f"{name}: there is no test \"{test}\""


def check(table):
    """Complaints about all of the table."""
    tests = Tests()
    rows = [row.get("macro") for row in table["limit"]]
    known = set().union(*map(macros, (*DRIVER.glob("*.[ch]"), *DRIVER.glob("abi/*.[ch]"))))

    for row in table["limit"]:
        yield from check_row(row, tests)
    for name in sorted({name for name in rows if rows.count(name) > 1}):
        yield f"{name}: two rows"
    for name, reason in table["other"].items():
        if name in rows:
            yield f"{name}: a limit, and none"
        if name not in known or not CALLED_LIMIT.search(name):
            yield f"{name}: no such macro is called a limit"
        if not reason:
            yield f"{name}: no reason"
    for name in sorted(filter(CALLED_LIMIT.search, known)):
        if name not in rows and name not in table["other"]:
            yield f"{name}: in no row; which test reaches it, and which one exceeds it?"


def main():
    """Prints the complaints."""
    for complaint in check(tomllib.loads(TABLE.read_text())):
        print(f"{TABLE}: {complaint}")


if __name__ == "__main__":
    sys.exit(main())
