# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Where the virtual GPU's time goes: a table by unit of the emulator, and one by function.

usage: bench_profile.py BUILD REPORT

BUILD is the folder of a build for the host, whose object files say which function is in
which source file. REPORT is what "perf report -t '|' --sort dso,sym" has said.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

# Files, by how their names begin, and what they are; the first that fits
UNITS = (
    ("core_mem", "loads, stores, atomics"),
    ("core_tile", "tiles: stores of shaders, to images"),
    ("core_texture", "textures"), ("texture", "textures"),
    ("core", "instructions and control flow"), ("program_cache", "instructions and control flow"),
    ("format", "formats"), ("image", "formats"), ("agx_layout", "layouts of images"),
    ("raster", "rasteriser and fragments"), ("shade", "rasteriser and fragments"),
    ("fragment", "rasteriser and fragments"), ("setup", "rasteriser and fragments"),
    ("zs", "depth and stencil"),
    ("vertex_job", "vertices and their streams"), ("vdm", "vertices and their streams"),
    ("tvb", "vertices and their streams"), ("ppp", "vertices and their streams"),
    ("cdm", "compute streams"), ("usc", "compute streams"), ("agx_", "packets"),
    ("uat", "address translation"),
)
SHOWN = 15


def unit_of(name):
    """The unit that a source file belongs to."""
    return next((unit for begin, unit in UNITS if name.startswith(begin)), "other")


def sources(build):
    """The source file of each function of emulator and library; those of the same name in
    several files are of the first."""
    there = {}
    for path in sorted(p for part in ("emulator", "lib") for p in (build / part).rglob("*.c.o")):
        if "tests" in str(path) or "fuzz" in str(path):
            continue
        symbols = subprocess.run(["nm", "--defined-only", path], check=True,
                                 capture_output=True, text=True).stdout
        source = path.name.removesuffix(".c.o")
        for line in symbols.splitlines():
            _, kind, name = line.rsplit(" ", 2)
            if kind in "tTi":
                there.setdefault(plain(name), source)
    return there


def plain(name):
    """Without what the compiler has added for a variant."""
    return name.split(".")[0]


def read(report):
    """What each function has, and each library that is not the virtual GPU."""
    functions, others = Counter(), Counter()
    for line in report.read_text().splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) != 3 or not fields[0].endswith("%"):
            continue
        percent, library, symbol = float(fields[0][:-1]), fields[1], fields[2].split(" ", 1)[-1]
        if library == "libasahi_shim.so":
            functions[plain(symbol)] += percent
        else:
            others[library] += percent
    return functions, others


def show(title, spent):
    print(title)
    for name, percent in spent.most_common(SHOWN):
        print(f"  {name:50} {percent:5.1f} %")


def main():
    build, report = Path(sys.argv[1]), Path(sys.argv[2])
    functions, others = read(report)
    if not functions:
        raise SystemExit(f"{report}: nothing of the virtual GPU is there")
    files, units = sources(build), Counter()
    for name, percent in functions.items():
        units[unit_of(files.get(name, ""))] += percent
    show("Parts of the virtual GPU", units)
    show("Its functions", functions)
    show("What else ran", others)


main()
