# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Whether a trace of vagx's is what Perfetto reads, and has work of the named kinds.

usage: trace.py FILE KIND ...
"""

import json
import sys
from collections import defaultdict


def check_nesting(tid, spans):
    """Spans of a track lie within each other or beside each other."""
    open_ends = []
    for begin, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            sys.exit(f"track {tid}: {name} at {begin} ns ends after what it is part of")
        open_ends.append(end)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)
    tracks, named, kinds = defaultdict(list), set(), defaultdict(int)
    for event in events:
        if event["ph"] == "M":
            named.add(event.get("tid"))
            continue
        begin, length = (round(event[key] * 1000) for key in ("ts", "dur"))
        tracks[event["tid"]].append((begin, begin + length, event["name"]))
        kinds[event["name"]] += 1
        if event["name"] in sys.argv[2:] and not event["args"]["job"]:
            sys.exit(f"{event['name']} at {begin} ns has no job")
    for tid, spans in tracks.items():
        if tid not in named:
            sys.exit(f"track {tid} has no name")
        check_nesting(tid, spans)
    missing = [kind for kind in sys.argv[2:] if not kinds[kind]]
    if missing:
        sys.exit(f"no work of {' and '.join(missing)}; there is {dict(kinds)}")


main()
