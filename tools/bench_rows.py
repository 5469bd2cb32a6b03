# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Rows of results that tools/bench_gpu.py and tools/bench_programs.py have in common:
times on the virtual GPU beside those of a software driver, in ms."""

import json
import os
from dataclasses import dataclass


@dataclass
class Row:
    name: str
    here: float
    there: float
    # the software driver
    reference: str

    @property
    def ratio(self):
        return self.here / max(self.there, 1e-3)


def core_counts():
    there = os.cpu_count() or 1
    return sorted({1, min(2, there), there})


def name_of(work, cores, kind):
    return f"vagx: {work}, {cores} core{'s' * (cores > 1)}, {kind}"


def show_header():
    print(f"{'':99} {'vagx':>10} {'software':>10}")


def show(rows):
    for row in rows:
        print(f"{row.name:99} {row.here:10.1f} {row.there:10.1f} ms {row.ratio:8.1f} x "
              f"{row.reference}", flush=True)


def add(rows, result):
    """Add to what is in the file, which may not be there yet."""
    result.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(result.read_text()) if result.exists() else []
    kept += [{"name": row.name, "value": round(row.here, 3), "unit": "ms",
              f"times_{row.reference}": round(row.ratio, 2)} for row in rows]
    result.write_text(json.dumps(kept, indent=1) + "\n")
