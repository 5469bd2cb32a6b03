# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Hold the UAPI header, the table of its names and the tests together.

usage: uapi_tests.py HEADER TABLE SUBTESTS...

The table is made of rows "NAME; RULE; ERROR ...; TEST ...", indented. A test is
PROGRAM@SUBTEST of one of the lists, or a KUnit suite of the driver. Prints TAP.

asahi_uapi gives every field a right value, one at the border and a wrong one, and names
its subtests after the fields: here are the names that it has to have.
"""

import re
import sys
from pathlib import Path

from uapi import Header, Tap

IGT = Path("igt-tests/tests/asahi")
KUNIT = Path("drivers/gpu/drm/asahi/tests")
VALUES = "asahi_uapi@"


def names(header):
    """What has to have a row; the requests are the ioctls once more."""
    for constants in header.enums.values():
        yield from (name for name in constants if not name.startswith("DRM_IOCTL_"))
    yield from (name for name in header.macros if not name.endswith("_H_"))
    for struct, fields in header.structs.items():
        yield from (f"{struct}.{field}" for field in fields)


def rows(table):
    """NAME -> (rule, errors, tests), and complaints about the rows."""
    found, complaints = {}, []
    for line in table.read_text().splitlines():
        if ";" not in line or not line.startswith("   ") or line.lstrip().startswith(":"):
            continue
        cells = [cell.strip() for cell in line.split(";")]
        if len(cells) != 4 or not cells[1] or not cells[3]:
            complaints.append(f"not a name, a rule, errors and tests: {line.strip()}")
            continue
        if cells[0] in found:
            complaints.append(f"{cells[0]} has two rows")
        found[cells[0]] = (cells[1], cells[2].split(), cells[3].split())
    return found, complaints


def source(test):
    """The text of a test's source, or nothing."""
    path = IGT / (test.split("@")[0] + ".c") if "@" in test else KUNIT / test
    return path.read_text() if path.exists() else ""


def missing_tests(table, subtests):
    for name, (_, _, tests) in table.items():
        word = name.split(".")[-1]
        for test in tests:
            if "@" in test and test not in subtests:
                yield f"{name}: there is no {test}"
            elif "@" not in test and not re.search(rf"\b{word}\b", source(test)):
                yield f"{name}: {test} does not have {word}"


def missing_errors(table):
    for name, (_, errors, tests) in table.items():
        text = "".join(map(source, tests))
        for error in errors:
            if not re.search(rf"\b{error}\b", text):
                yield f"{name}: none of its tests wants {error}"


def fields_of(header, struct, prefix):
    """Every field of a structure, those of structures within by their whole names."""
    for field, kind in header.structs[struct].items():
        name = f"{prefix}-{field}"
        if kind.startswith("struct "):
            yield from fields_of(header, kind.split()[1], name)
        else:
            yield name


def all_fields(header):
    """What asahi_uapi has to have; structures within others are there with those."""
    within = {kind.split()[1] for fields in header.structs.values()
              for kind in fields.values() if kind.startswith("struct ")}
    for struct in header.structs:
        if struct not in within:
            yield from fields_of(header, struct, struct.removeprefix("drm_asahi_"))


def main():
    header = Header(sys.argv[1])
    table, complaints = rows(Path(sys.argv[2]))
    subtests = {line for path in sys.argv[3:] for line in Path(path).read_text().splitlines()}
    wanted = list(names(header))
    tap = Tap()

    tap.result("table: each row is one", complaints)
    tap.result("table: every name of the header has a row",
               [name for name in wanted if name not in table])
    tap.result("table: every row is of a name in the header",
               [name for name in table if name not in wanted])
    tap.result("table: the tests are there", list(missing_tests(table, subtests)))
    tap.result("table: the tests want the errors", list(missing_errors(table)))
    fields = {VALUES + field for field in all_fields(header)}
    given = {name for name in subtests if name.startswith(VALUES)}
    tap.result("values: every field of the header is given three", sorted(fields - given))
    tap.result("values: every row is of a field in the header", sorted(given - fields))
    print(f"1..{tap.count}")
    sys.exit(tap.failed > 0)


main()
