# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Compare what the driver writes into commands with a reviewed list.

usage: golden.py compare LIST MACHINE DUMP
       golden.py make LIST MACHINE=DUMP ...
       golden.py unexplained LIST PAGE

A dump is what vagx's --dump-commands writes while asahi-fields runs once.
"""
import fnmatch
import pathlib
import re
import sys

HEAD = """\
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
#
# Every field of one compute and one render command, as the driver writes it for
# asahi-fields: see Documentation/project/testing-reference.rst. Letters say on which machines
# a row holds; a field that has another value elsewhere has a row for each. Names are
# those of vagx's tables: who owns it, structure and field. "-> x" leads to x; in
# parentheses is a kind of memory, where addresses differ from run to run.
# Made by "tools/golden.sh accept", and read by people before that is committed.
#
"""


def read_dump(path):
    """What is in a dump: {name: value}, in order, by whose it is.

    Work on several rings is dumped as it comes; what belongs to one owner has an
    order. A structure that comes again has a number.
    """
    owners = {}
    for block in pathlib.Path(path).read_text().split("\n\n"):
        lines = block.split("\n")
        if lines == [""]:
            continue
        title = lines[0].split(".")[0]
        fields = owners.setdefault(title.split(":")[0], {})
        seen = sum(1 for name in fields if name == lines[0].split(" ")[0]
                   or re.match(re.escape(title) + r"#\d+\." +
                               re.escape(lines[0].split(" ")[0].split(".", 1)[1]) + "$", name))
        number = f"#{seen + 1}" if seen else ""
        for line in filter(None, lines):
            name, value = line.split(" ", 1)
            head, rest = name.split(".", 1)
            fields[f"{head}{number}.{rest}"] = value
    return {name: value for owner in sorted(owners) for name, value in owners[owner].items()}


def read_list(path):
    """The machines, and rows of machines, name and value"""
    machines, rows = [], []
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("machine "):
            machines.append(line.split()[2])
        elif line and not line.startswith("#"):
            where, name, value = line.split(" ", 2)
            rows.append(([m for m, c in zip(machines, where) if c != "-"], name, value))
    return machines, rows


def compare(path, machine, dump):
    machines, rows = read_list(path)
    expected = {name: value for where, name, value in rows if machine in where}
    found = read_dump(dump)
    if machine not in machines:
        return [f"{machine} is not in {path}"]
    wrong = []
    for name, value in expected.items():
        if name not in found:
            wrong.append(f"{name}: expected {value}, but it is not there")
        elif found[name] != value:
            wrong.append(f"{name}: expected {value}, found {found[name]}")
    return wrong + [f"{name}: not expected, found {found[name]}"
                    for name in found if name not in expected]


def merge(orders):
    """One order of names for all machines: what only some have follows what it follows there"""
    merged = []
    for order in orders:
        at = 0
        for name in order:
            if name in merged:
                at = merged.index(name) + 1
            else:
                merged.insert(at, name)
                at += 1
    return merged


def make(path, arguments):
    dumps = dict(argument.split("=", 1) for argument in arguments)
    found = {machine: read_dump(dump) for machine, dump in dumps.items()}
    letters = "abcdefghijklmnopqrstuvwxyz"[:len(found)]
    text = HEAD
    for letter, machine in zip(letters, found):
        text += f"machine {letter} {machine}\n"
    for name in merge(found.values()):
        values = list(dict.fromkeys(f[name] for f in found.values() if name in f))
        for value in values:
            where = "".join(letter if f.get(name) == value else "-"
                            for letter, f in zip(letters, found.values()))
            text += f"{where} {name} {value}\n"
    pathlib.Path(path).write_text(text)
    return []


def unknown_name(name):
    return re.match(r"(unk|iogpu|pad|UNK|IOGPU)", name.split(".")[-1]) or ".UNK_" in name


def is_nothing(value):
    return re.fullmatch(r"0( \* \d+)?", value)


def unexplained(path, page):
    """Fields without a name that are set, and rows of the page's tables"""
    machines, rows = read_list(path)
    text = pathlib.Path(page).read_text()
    known = re.findall(r"^   \* - ``([^`]+)``\n     - ([^\n]+)\n     - ``([^`]+)``$", text, re.M)
    wrong, used = [], set()
    for where, name, value in rows:
        place = "all" if len(where) == len([m for w, n, _ in rows if n == name for m in w]) \
            else ", ".join(where)
        fits = [row for row in known if fnmatch.fnmatchcase(name, row[0])
                and row[1:] in ((place, value), ("all", "*"))]
        used.update(fits)
        if unknown_name(name) and not is_nothing(value) and not fits:
            wrong.append(f"{page} does not explain: {name} | {place} | {value}")
    for row in known:
        if row not in used:
            wrong.append(f"{page}: there is no such field: {' | '.join(row)}")
    return wrong + ([] if known else [f"{page} has no table"])


def main(arguments):
    command = arguments[0] if arguments else ""
    if command == "compare" and len(arguments) == 4:
        wrong = compare(*arguments[1:])
    elif command == "make" and len(arguments) > 2:
        wrong = make(arguments[1], arguments[2:])
    elif command == "unexplained" and len(arguments) == 3:
        wrong = unexplained(*arguments[1:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
