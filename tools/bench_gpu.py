# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""How fast the virtual GPU is: the same work on it, through the shim, and on Mesa's
software drivers, one after the other on the same machine.

usage: bench_gpu.py BUILD RESULT [--quick]

BUILD is the folder of a build for the host; RESULT gets rows in the form of
tools/bench.py's. Each piece of work has a row for each number of cores. It is an error if a
result is not lavapipe's, a driver lacks a piece of work, or a program fails.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import bench_rows

REPEATS = 2


def run(build, quick, driver, cores=None):
    env = os.environ | {"MESA_SHADER_CACHE_DISABLE": "true"}
    if cores:
        env |= {"LD_PRELOAD": str(build / "userspace/shim/libasahi_shim.so"),
                "ASAHI_SHIM_BACKEND": "vagx", "ASAHI_SHIM_CORES": str(cores)}
    command = [build / "userspace/tests/vulkan-bench", *(["--quick"] if quick else []), driver]
    return json.loads(subprocess.run(command, env=env, check=True, capture_output=True,
                                     text=True).stdout)


def best(results):
    """The least of several runs: what else the machine does makes all longer, never shorter."""
    rows = {}
    for result in results:
        for row in result:
            kept = rows.setdefault(row["name"], row)
            if kept["sum"] != row["sum"]:
                raise SystemExit(f"{row['name']}: not the same result each time")
            for key in ("cold_ns", "ns", "cpu_ns"):
                kept[key] = min(kept[key], row[key])
    return rows


def agrees(row, reference):
    """Equal results, or, where drivers round differently, means that are close enough."""
    if "tolerance" not in row:
        return row["sum"] == reference["sum"]
    # Not a number is not close to anything.
    return all(abs(here - there) <= row["tolerance"]
               for here, there in zip(row["means"], reference["means"], strict=True))


def main():
    build, result = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    quick = "--quick" in sys.argv[3:]
    columns = [("lavapipe", None)] + [("asahi", cores) for cores in bench_rows.core_counts()]
    runs = {column: [] for column in columns}
    # What disturbs one of them is to disturb all.
    for _ in range(REPEATS):
        for column in columns:
            runs[column].append(run(build, quick, *column))
    times = {column: best(results) for column, results in runs.items()}

    lavapipe = times[columns[0]]
    rows = []
    for (_, cores), there in list(times.items())[1:]:
        if there.keys() != lavapipe.keys():
            raise SystemExit(f"{sorted(there.keys() ^ lavapipe.keys())}: not of both drivers")
        for name, row in there.items():
            if not agrees(row, lavapipe[name]):
                raise SystemExit(f"{name}: the result is not lavapipe's")
            rows += [bench_rows.Row(bench_rows.name_of(name, cores, kind), row[key] / 1e6,
                                    lavapipe[name][key] / 1e6, "lavapipe")
                     for key, kind in (("cold_ns", "cold"), ("ns", "warm"),
                                       ("cpu_ns", "warm, processor time"))]
    bench_rows.show_header()
    bench_rows.show(rows)
    bench_rows.add(rows, result)


main()
