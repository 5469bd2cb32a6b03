# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Who calls whom among the object files of a room, and where that is circular.

usage: blocks.py NM CIRCLES_TOML COUNT, the number of results that stand before these

An edge is a symbol that one file uses and another one defines. Calls through tables of
functions that are handed over at run time are no edges: that is how a lower file calls
upwards. What may be circular is in circles.toml, and no more than there is: the lane
fails for a circle that has grown, and for a reason that nothing needs any more. Prints
TAP, and the layers of each room as comments.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

# Whoever calls this decides that the firmware is lost.
GIVE_UP = "asahi_state_fail"

# A room with fewer files was not found, or not built.
FEWEST = 5

count = int(sys.argv[3])


def report(good, name, lines=()):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    for line in () if good else lines:
        print(f"#   {line}")
    return good


def symbols(nm, path):
    """The global symbols that an object file defines, and those that it uses.

    A function that is compiled for several processors has the kind "i": the loader chooses.
    """
    defined, used = set(), set()
    for line in subprocess.run([nm, "--format=posix", "--extern-only", path], check=True,
                               text=True, capture_output=True).stdout.splitlines():
        name, kind = line.split()[:2]
        (used if kind in "Uwv" else defined).add(name)
    return defined, used


def all_symbols(nm, room):
    """A dictionary: name of a file without prefix -> symbols that it defines, and uses."""
    prefix = room.get("prefix", "")
    files = {}
    for pattern in room["objects"]:
        for path in sorted(Path().glob(pattern + "/*.o")):
            # meson writes folders into the names, kbuild does not.
            name = path.name.removesuffix(".o").removesuffix(".c").rsplit("_.._")[-1]
            if name.startswith(prefix):
                files[name.removeprefix(prefix)] = symbols(nm, path)
    return files


def call_graph(files):
    """A dictionary: name of a file without prefix -> names of those that it uses."""
    home = {symbol: name for name, (defined, _) in files.items() for symbol in defined}
    return {name: {home[symbol] for symbol in used if symbol in home} - {name}
            for name, (_, used) in files.items()}


def components(graph):
    """Strongly connected components, those without outgoing edges first (Tarjan)."""
    index, low, stack, result = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            result.append(frozenset(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return result


def arrows(graph, part):
    return {f"{name} -> {other}" for name in part for other in graph[name] & part}


def show_circle(files, graph, part):
    """Each arrow of a circle, with the symbols that make it."""
    home = {symbol: name for name, (defined, _) in files.items() for symbol in defined}
    for name in sorted(part):
        for other in sorted(graph[name] & part):
            yield f"{name} -> {other}: " + " ".join(
                sorted(symbol for symbol in files[name][1] if home.get(symbol) == other))


def layers(graph, parts):
    """Lists of components: each uses only what is in earlier lists."""
    part_of = {name: part for part in parts for name in part}
    depth = {}
    for part in parts:
        below = {part_of[other] for name in part for other in graph[name]} - {part}
        depth[part] = 1 + max((depth[other] for other in below), default=-1)
    rows = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for part in parts:
        rows[depth[part]].append(part)
    return rows


def check_circle(name, circle, graph, part):
    """What is wrong with the reasons for a circle that there is."""
    if "arrows" not in circle:
        return
    found = arrows(graph, part)
    for arrow in sorted(found - set(circle["arrows"])):
        yield f"{arrow} has no reason in circles.toml"
    for arrow in sorted(set(circle["arrows"]) - found):
        yield f"{arrow} is in circles.toml, and there is no such call any more"


def check_room(nm, room):
    name = room["name"]
    files = all_symbols(nm, room)
    graph = call_graph(files)
    parts = components(graph)
    good = report(len(files) >= FEWEST, f"{name}: files are found ({len(files)})")
    known = {frozenset(circle["files"]): circle for circle in room.get("circle", [])}
    found = {part for part in parts if len(part) > 1}
    lines = []
    for part in found - set(known):
        lines += [f"a circle that is not in circles.toml: {' '.join(sorted(part))}"]
        lines += show_circle(files, graph, part)
    good &= report(not lines, f"{name}: no circle but the known ones", lines)
    gone = [f"no such circle any more: {' '.join(sorted(part))}; lower the lid in circles.toml"
            for part in set(known) - found]
    good &= report(not gone, f"{name}: the known circles are there", gone)
    wrong = [line for part in found & set(known)
             for line in check_circle(name, known[part], graph, part)]
    good &= report(not wrong, f"{name}: each arrow of a circle has its reason", wrong)
    for depth, row in enumerate(layers(graph, parts)):
        print(f"# {name}, layer {depth}: " + ", ".join(
            " ".join(sorted(part)) if len(part) == 1 else "{" + " ".join(sorted(part)) + "}"
            for part in row))
    if name == "driver":
        users = {file for file, (_, used) in files.items() if GIVE_UP in used}
        good &= report(users == {"watchdog"}, "the watchdog alone gives the firmware up",
                       [f"{GIVE_UP}() is called by {' '.join(sorted(users)) or 'nobody'}"])
    return good


def main():
    nm, path = sys.argv[1:3]
    with open(path, "rb") as file:
        rooms = tomllib.load(file)["room"]
    good = all([check_room(nm, room) for room in rooms])
    print(f"1..{count}")
    return 0 if good else 1


sys.exit(main())
