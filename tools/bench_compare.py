# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Compare two results of tools/bench.sh, row by row: the second divided by the first.

The arguments are their names, for messages; they are open as descriptors 3 and 4.
"""

import json
import sys


def rows(path, descriptor):
    """Value and unit by name; a message that says what is wrong ends the program."""
    try:
        with open(descriptor, encoding="utf-8") as file:
            entries = json.load(file)
        return {entry["name"]: (float(entry["value"]), entry["unit"]) for entry in entries}
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    except json.JSONDecodeError as error:
        sys.exit(f"{path}:{error.lineno}: {error.msg}; a result of 'make bench' was expected")
    except (KeyError, TypeError, ValueError):
        sys.exit(f"{path}: not a list of rows with name, value and unit, as 'make bench' makes")


def ratio(first, second):
    """How many times the first the second is, as text."""
    if first is None or second is None:
        return "only in one"
    if first[1] != second[1]:
        return f"{first[1]}, then {second[1]}"
    if not first[0]:
        return "the same" if not second[0] else "from nothing"
    return f"{second[0] / first[0]:.2f} x"


def main():
    before, after = (rows(path, 3 + i) for i, path in enumerate(sys.argv[1:]))
    for name in list(before) + [name for name in after if name not in before]:
        first, second = before.get(name), after.get(name)
        shown = [f"{row[0]:12.1f}" if row else f"{'-':>12}" for row in (first, second)]
        print(f"{name:58} {shown[0]} {shown[1]} {(first or second)[1]:12} {ratio(first, second)}")


main()
