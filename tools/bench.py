# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Join what tools/bench.sh has measured: a table on standard output, and JSON."""

import json
import sys
from pathlib import Path


def observation(path):
    """The pairs that tools/vm.sh answers to "observe"."""
    return {name: int(value) for name, value in
            (line.split() for line in path.read_text().splitlines())}


def main():
    folder, result = Path(sys.argv[1]), Path(sys.argv[2])
    counts = json.loads((folder / "counts/counts.json").read_text())
    latency = [entry for name in ("latency", "recovery")
               for entry in json.loads((folder / f"times/{name}.json").read_text())]
    idle = json.loads((folder / "times/idle.json").read_text())
    core = json.loads((folder / "core.json").read_text())
    before, after = (observation(folder / "times" / name) for name in ("before", "after"))

    floor = counts[0]["ns"]
    # Every group of counts begins with the floor.
    rows = [(name, ns, "instructions", ns / floor)
            for name, ns in {entry["name"]: entry["ns"] for entry in counts}.items()]
    rows += [(row["name"], row["value"], row["unit"],
              row["value"] / floor if row["unit"] == "instructions" else None)
             for row in json.loads((folder / "jobs/rows.json").read_text())]
    rows += [(entry["name"], entry["ns"] / 1000, "us", None) for entry in latency]
    rows += [(entry["name"], entry["ns"] / 1024, "KiB", None) for entry in idle]
    times = {entry["name"]: entry["ns"] for entry in latency}
    loop = "SUBMIT of 64 commands"
    rows += [
        (f"{loop}, worst to median", times[f"{loop}, worst"] / times[f"{loop}, median"],
         "", None),
        ("vagx: Mandelbrot, thread instructions a second and core",
         core["thread_instructions_per_second"] / 1e6, "million", None),
        ("vagx: Mandelbrot, instructions a second and core",
         core["instructions_per_second"] / 1e6, "million", None),
        ("vagx: processor time while idle, in 10 s",
         (after["cpu_ns"] - before["cpu_ns"]) / 1e6, "ms", None),
        ("vagx: context switches while idle, in 10 s",
         after["switches"] - before["switches"], "", None),
        ("vagx: memory above the guest's RAM", after["own_kib"] / 1024, "MiB", None),
    ]
    for name, value, unit, ratio in rows:
        print(f"{name:58} {value:12.1f} {unit:12}", f"{ratio:8.1f} x" if ratio else "")
    # These have had a table of their own.
    gpu = json.loads((folder / "gpu.json").read_text())
    result.write_text(json.dumps(
        [{"name": name, "value": value, "unit": unit} |
         ({"times_floor": round(ratio, 2)} if ratio else {})
         for name, value, unit, ratio in rows] + gpu, indent=1) + "\n")


main()
