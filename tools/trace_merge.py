# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Add the driver's tracepoints to a trace of vagx's.

usage: trace_merge.py VAGX.json TRACEPOINTS MERGED.json

TRACEPOINTS is what tracefs's file "trace" had. asahi_work_done says what the GPU's
clock, which vagx's spans are on, was when it was written: the difference between it
and the kernel's clock is the same for all lines.
"""

import json
import re
import statistics
import sys

LINE = re.compile(r"\s*(?P<task>.+)-\d+\s+\[\d+\]\s+\S+\s+(?P<time>\d+\.\d+): "
                  r"(?P<event>asahi_\w+): (?P<text>.*)")
VALUE = re.compile(r"(\w+)=(\S+)")
PROCESS = 0


def number(text):
    try:
        return int(text, 0)
    except ValueError:
        return text


def read_tracepoints(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = LINE.match(line)
            if match:
                values = {key: number(value) for key, value in VALUE.findall(match["text"])}
                pipe = re.search(r" (compute|vertex|fragment) ", match["text"])
                if pipe:
                    values["pipe"] = pipe[1]
                yield match["event"], round(float(match["time"]) * 1e9), values


class Tracks:
    """Numbers of the driver's tracks, by what is on them"""

    def __init__(self):
        self.numbers = {}

    def of(self, *what):
        return self.numbers.setdefault(" ".join(map(str, what)), len(self.numbers) + 1)

    def names(self):
        yield {"ph": "M", "pid": PROCESS, "name": "process_name",
               "args": {"name": "asahi, the driver"}}
        for name, tid in self.numbers.items():
            yield {"ph": "M", "pid": PROCESS, "tid": tid, "name": "thread_name",
                   "args": {"name": name}}


def main():
    vagx, tracepoints, merged = sys.argv[1:]
    with open(vagx, encoding="utf-8") as file:
        events = json.load(file)
    points = list(read_tracepoints(tracepoints))
    differences = [time - values["now"] for event, time, values in points
                   if event == "asahi_work_done"]
    if not differences:
        sys.exit(f"{tracepoints}: no asahi_work_done, so there is no common clock")
    # A task can be interrupted between the two readings.
    difference = statistics.median_low(differences)
    tracks = Tracks()
    for event, time, values in points:
        events.append({"ph": "i", "s": "t", "pid": PROCESS, "tid": tracks.of(event),
                       "ts": (time - difference) / 1000, "name": event, "args": values})
        if event == "asahi_work_done" and values["start"]:
            tid = tracks.of(values["pipe"], "of queue", values["queue"], "of client",
                            values["client"])
            events.append({"ph": "X", "pid": PROCESS, "tid": tid, "ts": values["start"] / 1000,
                           "dur": (values["end"] - values["start"]) / 1000,
                           "name": values["pipe"], "args": values})
    events.extend(tracks.names())
    with open(merged, "w", encoding="utf-8") as file:
        json.dump(events, file)


main()
