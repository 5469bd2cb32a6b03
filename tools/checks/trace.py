# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Whether a trace of vagx's is what Perfetto reads, and has work of the named kinds.

usage: trace.py [--agree] FILE KIND ...

With --agree it has the driver's tracepoints, too (tools/trace_merge.py): each piece of
work that vagx's units did lies within one that the driver was told of.
"""

import json
import sys
from collections import defaultdict


def check_nesting(track, spans):
    """Spans of a track lie within each other or beside each other."""
    open_ends = []
    for begin, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        if open_ends and end > open_ends[-1]:
            sys.exit(f"track {track}: {name} at {begin} ns ends after what it is part of")
        open_ends.append(end)


def check_agreement(events):
    work = ("vertex", "fragment", "compute")
    told = [event for event in events if event["pid"] == 0 and event["name"] in work]
    for event in events:
        if event["pid"] == 0 or event["name"] not in work:
            continue
        begin, end = event["ts"], event["ts"] + event["dur"]
        # A partial render is part of the vertex work that has no more room.
        kinds = ("fragment", "vertex") if event["name"] == "fragment" else (event["name"],)
        if not any(other["name"] in kinds and other["ts"] <= begin and
                   end <= other["ts"] + other["dur"] for other in told):
            sys.exit(f"the driver was told of no {event['name']} around {begin} us")


def main():
    agree = sys.argv[1] == "--agree"
    path, *wanted = sys.argv[1 + agree:]
    with open(path, encoding="utf-8") as file:
        events = json.load(file)
    if agree:
        check_agreement(events)
    tracks, named, kinds = defaultdict(list), set(), defaultdict(int)
    for event in events:
        if event["ph"] == "M":
            named.add((event["pid"], event.get("tid")))
            continue
        if event["ph"] == "i":
            kinds[event["name"]] += 1
            continue
        begin, length = (round(event[key] * 1000) for key in ("ts", "dur"))
        tracks[event["pid"], event["tid"]].append((begin, begin + length, event["name"]))
        kinds[event["name"]] += 1
        if event["name"] in wanted and not event["args"]["job"]:
            sys.exit(f"{event['name']} at {begin} ns has no job")
    for track, spans in tracks.items():
        if track not in named:
            sys.exit(f"track {track} has no name")
        check_nesting(track, spans)
    missing = [kind for kind in wanted if not kinds[kind]]
    if missing:
        sys.exit(f"no work of {' and '.join(missing)}; there is {dict(kinds)}")


main()
