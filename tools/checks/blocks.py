# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Who calls whom among the driver's object files, and where that is circular.

An edge is a symbol that one file uses and another one defines. Calls through
tables of functions that are handed over at run time are no edges: that is how a
lower file calls upwards. Prints TAP, and the layers as comments.
"""

import subprocess
import sys
from pathlib import Path

# Files that may form a circle, and why.
NATURAL = {
    frozenset({"channel", "heap", "heap_kernel", "heaps", "rtkit", "uat", "aspace"}):
        "the firmware's memory is mapped by the page tables' code, which the firmware "
        "has to be told of through a channel in that memory",
    frozenset({"gem", "vm", "vm_bind"}):
        "an address space maps objects, and an object that is closed leaves its "
        "address spaces",
    frozenset({"queue", "job", "work", "workqueue", "render", "tvb", "timeline", "sched",
               "event", "growth", "recovery", "coredump"}):
        "a job is handed to its queue's ring, with the queue's vertex buffer, and its end "
        "comes back through events and recovery",
}

PREFIX = "asahi_"


def symbols(nm, path):
    """The global symbols that an object file defines, and those that it uses."""
    defined, used = set(), set()
    for line in subprocess.run([nm, "--format=posix", path], check=True, text=True,
                               capture_output=True).stdout.splitlines():
        name, kind = line.split()[:2]
        if kind in "Uw":
            used.add(name)
        elif kind.isupper():
            defined.add(name)
    return defined, used


def call_graph(nm, folder):
    """A dictionary: name of a file without prefix -> names of those that it uses."""
    files = {path.stem.removeprefix(PREFIX): symbols(nm, path)
             for path in sorted(folder.glob(f"{PREFIX}*.o"))}
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


def circle_edges(graph, members):
    return ", ".join(f"{name} -> {' '.join(sorted(graph[name] & members))}"
                     for name in sorted(members))


def layers(graph, parts):
    """Lists of components: each uses only what is in earlier lists."""
    part_of = {name: part for part in parts for name in part}
    depth = {}
    for part in parts:
        below = {part_of[other] for name in part for other in graph[name]} - {part}
        depth[part] = 1 + max((depth[other] for other in below), default=-1)
    rows = [[] for _ in range(max(depth.values()) + 1)]
    for part in parts:
        rows[depth[part]].append(part)
    return rows


def main():
    graph = call_graph(sys.argv[1], Path(sys.argv[2]))
    parts = components(graph)
    print(("ok" if len(graph) > 20 else "not ok") +
          f" 2 - the driver's files are found ({len(graph)})")
    bad = [part for part in parts if len(part) > 1 and
           not any(part <= natural for natural in NATURAL)]
    print(("not ok" if bad else "ok") + " 3 - no circle but the natural ones")
    for part in bad:
        print(f"#   {' '.join(sorted(part))}")
        print(f"#   by {circle_edges(graph, part)}")
    known = set().union(*NATURAL)
    unknown = sorted(known - set(graph))
    print(("not ok" if unknown else "ok") + " 4 - each file of the natural circles is there")
    if unknown:
        print(f"#   {' '.join(unknown)}")
    print("1..4")
    for depth, row in enumerate(layers(graph, parts)):
        print(f"# layer {depth}: " + ", ".join(
            " ".join(sorted(part)) if len(part) == 1 else "{" + " ".join(sorted(part)) + "}"
            for part in row))
    return 1 if bad or unknown else 0


sys.exit(main())
