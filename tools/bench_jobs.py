# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""What a whole job takes, of what "asahi-bench jobs null" has let QEMU's plugin count:
instructions, work items, context switches, wake-ups, interrupts, and where the
instructions are spent. Prints nothing but mistakes.

Usage: bench_jobs.py FOLDER RESULT.json [KERNEL]

FOLDER is what the machine has left: jobs.json, instructions, kallsyms. RESULT gets a list
of rows, all for one job. KERNEL is the kernel's build folder, whose objects tell which
function belongs where; without it there are no rows by part.
"""

import bisect
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

# What is counted by calls of a function
EVENTS = {
    "work items": "process_one_work",
    "context switches": "cpu_switch_to",
    "wake-ups": "ttwu_do_activate",
    "interrupts": "generic_handle_domain_irq",
}
# A turn of the first that does not call the second has found nothing to run.
TURN, FOUND = "drm_sched_run_job_work", "drm_sched_entity_pop_job"
# These work items have rows of their own, if they run so often for a job.
WORKERS = re.compile(r"(asahi|drm_sched)_\w+_work$")
LEAST_TURNS = 0.01

# Objects of the kernel by the begin of their name, modules in brackets. The first that fits
# counts.
PARTS = (
    ("[asahi]", "driver"),
    ("[vagx_null]", "driver"),
    ("[vagx_carrier]", "interrupts and timers"),
    ("drivers/gpu/drm/scheduler/", "drm_sched"),
    ("drivers/gpu/drm/", "DRM"),
    ("drivers/dma-buf/", "dma-fence"),
    ("drivers/soc/apple/", "RTKit and mailbox"),
    ("drivers/mailbox/", "RTKit and mailbox"),
    ("kernel/workqueue.o", "workqueue"),
    ("kernel/sched/", "scheduler"),
    ("kernel/kthread.o", "scheduler"),
    ("arch/arm64/kernel/process.o", "scheduler"),
    ("arch/arm64/kernel/fpsimd.o", "scheduler"),
    ("arch/arm64/kernel/idle.o", "scheduler"),
    ("arch/arm64/mm/context.o", "scheduler"),
    ("arch/arm64/kernel/entry", "entry and exit"),
    ("arch/arm64/kernel/syscall.o", "entry and exit"),
    ("kernel/entry/", "entry and exit"),
    ("arch/arm64/kernel/irq.o", "interrupts and timers"),
    ("arch/arm64/kernel/smp.o", "interrupts and timers"),
    ("kernel/irq/", "interrupts and timers"),
    ("kernel/irq_work.o", "interrupts and timers"),
    ("kernel/softirq.o", "interrupts and timers"),
    ("kernel/time/", "interrupts and timers"),
    ("kernel/rcu/", "interrupts and timers"),
    ("drivers/irqchip/", "interrupts and timers"),
    ("drivers/clocksource/", "interrupts and timers"),
    ("kernel/locking/", "locks"),
    ("mm/", "memory"),
    ("lib/", "library"),
    ("arch/arm64/lib/", "library"),
)
USER = "user space"
OTHER = "other"


def read_sections(path):
    """A list of sections, each a list of (address, runs, instructions)."""
    sections = []
    for line in path.read_text().splitlines():
        if line.startswith("section "):
            sections.append([])
        else:
            address, runs, instructions = line.split()
            sections[-1].append((int(address, 16), int(runs), int(instructions)))
    return sections


def read_symbols(path):
    """Functions as (address, name, module), in order; module is "" for the kernel's."""
    symbols = []
    for line in path.read_text().splitlines():
        address, kind, name, *module = line.split()
        if kind in "tTwW":
            symbols.append((int(address, 16), name, module[0] if module else ""))
    return sorted(symbols)


def read_objects(kernel):
    """A dictionary: function of the kernel -> the objects that define one of this name."""
    paths = [path.relative_to(kernel).as_posix() for path in kernel.rglob("*.o")]
    paths = [path for path in paths if "/" in path and not path.startswith(("scripts/", "usr/"))]
    if not paths:
        sys.exit(f"{kernel} has no objects, so that nothing tells where its functions belong: "
                 "it is from an archive. Build it here (tools/kernel.sh, without ASAHI_KERNELS)")
    found = subprocess.run(["xargs", "aarch64-linux-gnu-nm", "-A", "--defined-only"], cwd=kernel,
                           input="\n".join(sorted(paths)), check=True, text=True,
                           capture_output=True).stdout
    objects = {}
    for line in found.splitlines():
        path, _, rest = line.partition(":")
        fields = rest.split()
        if len(fields) == 3 and fields[1] in "tTwW":
            objects.setdefault(fields[2], set()).add(path)
    return objects


def part_of(where):
    return next((part for begin, part in PARTS if where.startswith(begin)), OTHER)


def parts_of(symbols, objects):
    """A dictionary: address -> part. A name that several objects define is the last function's
    object's, if that is one of them: an object's functions follow each other. No object
    defines the marks of the linker, which have the addresses of functions."""
    parts, last = {}, ""
    for address, name, module in symbols:
        there = {module} if module else objects.get(name)
        if there:
            last = last if last in there else min(there)
            parts[address] = part_of(last)
    return parts


class Functions:
    """The guest's functions, by address."""

    def __init__(self, symbols, objects):
        self.symbols = symbols
        self.addresses = [symbol[0] for symbol in symbols]
        self.parts = parts_of(symbols, objects) if objects else {}
        missing = {*EVENTS.values(), TURN, FOUND} - {symbol[1] for symbol in symbols}
        if missing:
            sys.exit(f"the guest's kernel has no function {', '.join(sorted(missing))}")

    def add_up(self, section):
        """Calls by name, and instructions by part."""
        calls, parts = Counter(), Counter()
        for address, runs, instructions in section:
            if not address:
                parts[USER] += instructions
                continue
            place = bisect.bisect_right(self.addresses, address) - 1
            if self.parts:
                parts[self.parts.get(self.addresses[place], OTHER)] += instructions
            # Several names may have one address.
            while place >= 0 and self.addresses[place] == address:
                calls[self.symbols[place][1]] += runs
                place -= 1
        return calls, parts


def rows_of(name, times, section, functions):
    calls, parts = functions.add_up(section)
    rows = [(name, sum(instructions for _, _, instructions in section), "instructions")]
    if "job" in name:
        rows += [(f"{name}: {event}", calls[function], "")
                 for event, function in EVENTS.items()]
        rows += [(f"{name}: turns of {function}", count, "")
                 for function, count in sorted(calls.items())
                 if WORKERS.match(function) and count >= LEAST_TURNS * times]
        rows.append((f"{name}: turns of {TURN} without a job", calls[TURN] - calls[FOUND], ""))
        if functions.parts:
            rows += [(f"{name}: in {part}", count, "instructions")
                     for part, count in parts.most_common()]
    return [{"name": row, "value": round(value / times, 3), "unit": unit}
            for row, value, unit in rows]


def main():
    folder, result = Path(sys.argv[1]), Path(sys.argv[2])
    kernel = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    measured = json.loads((folder / "jobs.json").read_text())
    sections = read_sections(folder / "instructions")
    if len(sections) != len(measured):
        sys.exit(f"{folder}/instructions: {len(sections)} sections, and {len(measured)} in "
                 "jobs.json")
    functions = Functions(read_symbols(folder / "kallsyms"),
                          read_objects(kernel) if kernel else None)
    rows = [row for entry, section in zip(measured, sections)
            for row in rows_of(entry["name"], entry["times"], section, functions)]
    result.write_text(json.dumps(rows, indent=1) + "\n")


main()
