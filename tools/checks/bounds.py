# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Whether the bounds that the driver's pages name are those of its code.

Each row of BOUNDS is a file of the driver, a macro of it or a product of its macros, and
the words of a page that name its value, which is {} there. Prints what differs; nothing if
they agree.
"""

import re
import sys
from pathlib import Path

DRIVER = Path("drivers/gpu/drm/asahi")
PAGES = Path("Documentation/gpu/asahi")

# The kernel's constants that values of macros are made of
CONSTANTS = {"USEC_PER_SEC": 1000000, "USEC_PER_MSEC": 1000}
CONSTANTS |= {f"SZ_{1 << n}{unit}": 1 << (n + shift) for n in range(10)
              for unit, shift in (("K", 10), ("M", 20), ("G", 30))}


def number(value):
    return f"{value:,}"


def size(value):
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if value >= 1 << shift:
            return f"{value >> shift} {unit}"
    return f"{value} bytes"


def span(milliseconds):
    if milliseconds >= 1000:
        return f"{milliseconds // 1000} s"
    return f"{milliseconds} ms"


def micro(microseconds):
    return span(microseconds // 1000)


def word(value):
    return {5: "five", 10: "ten"}.get(value, str(value))


def seconds(milliseconds):
    return "a second" if milliseconds == 1000 else f"{word(milliseconds // 1000)} seconds"


def bytes_of_code(value):
    return "kilobyte" if value == 1024 else f"{value} bytes"


BOUNDS = (
    ("asahi_submit.c", "ASAHI_MAX_SYNCS", "uapi", number, "in and out together - {}"),
    ("asahi_submit.c", "ASAHI_MAX_CMDBUF_SIZE", "uapi", size, "commands of a SUBMIT - {}"),
    ("asahi_drv.h", "ASAHI_MAX_COMMANDS", "uapi", number, "compute commands of a SUBMIT - {}"),
    ("asahi_drv.h", "ASAHI_MAX_ATTACHMENTS", "uapi", number, "command that sets them - {}"),
    ("asahi_vm_bind.h", "ASAHI_VM_MAX_BINDS", "uapi", number, "address space holds - {}"),
    ("asahi_vm.c", "ASAHI_VM_MAX_PER_FILE", "uapi", number, "address spaces of a file - {}"),
    ("asahi_queue.c", "ASAHI_QUEUE_MAX", "uapi", number, "queues of a file - {}"),
    ("asahi_room.c", "ASAHI_ROOM_MAX_JOBS", "uapi", number, "incomplete SUBMITs of a queue - {}"),
    ("asahi_room.c", "ASAHI_ROOM_MAX_BYTES", "uapi", size,
     "memory of the incomplete SUBMITs of a queue - {}"),
    ("asahi_room.c", "ASAHI_ROOM_MAX_BYTES", "uapi", size, "needs more than {} waits"),
    ("asahi_params.h", "ASAHI_HANG_LIMIT", "uapi", number, "module parameter, {} by default"),
    ("asahi_client.h", "ASAHI_GUILT_MAX", "uapi", number, "has caused more than {} failures"),
    ("asahi_client.h", "ASAHI_GUILT_MS", "uapi", seconds, "failures within {}."),
    ("asahi_client.h", "ASAHI_GUILT_MS", "uapi", seconds, "for {} without running it"),
    ("asahi_queue.c", "ASAHI_QUEUE_DRAIN_MS", "uapi", seconds, "has not begun within {}."),
    ("asahi_render.c", "ASAHI_RENDER_MAX_SIZE", "uapi", str, "height that is not 1 to {};"),
    ("asahi_render.c", "ASAHI_RENDER_MAX_LAYERS", "uapi", str, "layers that are not 1 to {};"),
    ("asahi_scene.h", "ASAHI_SCENE_MAX_BYTES", "uapi", size, "render needs more than {}, if"),
    ("asahi_job.c", "ASAHI_JOB_MAX_BYTES", "uapi", size, "SUBMIT need more than {},"),
    ("asahi_tvb.h", "ASAHI_TVB_MAX_BLOCKS", "uapi", number, "needs more than {} blocks"),
    ("asahi_pm.c", "ASAHI_PM_AUTOSUSPEND_MS", "lifecycle", seconds, "and {} has passed"),
    ("asahi_reset.c", "ASAHI_RESET_MAX", "lifecycle", word, "After {} resets in which"),
    ("asahi_reset.c", "ASAHI_RESET_MAX", "lifecycle", word, "of the {} attempts"),
    ("asahi_uat.c", "ASAHI_UAT_ANSWER_TIMEOUT_US", "lifecycle", micro, "handoff region - {}"),
    ("asahi_uat.c", "ASAHI_UAT_FLUSH_TIMEOUT_US", "lifecycle", micro, "cached memory - {}"),
    ("asahi_halt.c", "ASAHI_HALT_WAIT_US", "lifecycle", micro, "fault or timeout - {}"),
    ("asahi_watchdog.h", "ASAHI_WATCHDOG_HALT_MS", "lifecycle", span, "for another {},"),
    ("asahi_sched.c", "ASAHI_SCHED_IDLE_MS", "lifecycle", span, "sleep and unbind - {}"),
    ("asahi_queue.c", "ASAHI_QUEUE_TRIM_TRIES", "lifecycle", word, "asked {} times"),
    ("asahi_queue.c", "ASAHI_QUEUE_DRAIN_MS", "lifecycle", span, "wait for dependencies - {}"),
    ("asahi_vm.c", "ASAHI_VM_DUMP_WAIT_MS", "lifecycle", span, "reads the address space - {}"),
    ("asahi_gem.c", "ASAHI_GEM_WAIT_MS", "lifecycle", span, "memory to do it later - {}"),
    ("asahi_power.c", "ASAHI_POWER_CUT_TRIES * ASAHI_POWER_CUT_WAIT_MS", "lifecycle", span,
     "to go off in a reset - {}"),
    ("asahi_fwlog.h", "ASAHI_FWLOG_LINES", "debugging", number, "The last {} lines of"),
    ("asahi_coredump.c", "ASAHI_COREDUMP_BYTES", "debugging", size, "longer than {}"),
    ("asahi_stream.c", "ASAHI_STREAM_CODE_BYTES", "debugging", bytes_of_code,
     "the first {} of the code"),
)


def macros(text):
    """Names and values of a file's macros that are numbers."""
    found = dict(re.findall(r"^#define[ \t]+(\w+)[ \t]+([^\n/]+)", text, re.M))
    return {name: value.strip() for name, value in found.items()}


def evaluate(text, known):
    """The value of a product of numbers, constants and macros."""
    product = 1
    for factor in text.strip("() ").split("*"):
        factor = factor.strip()
        if factor in CONSTANTS:
            product *= CONSTANTS[factor]
        elif factor in known:
            product *= evaluate(known[factor], known)
        else:
            product *= int(factor.rstrip("UL"), 0)
    return product


def main():
    """Compares each row."""
    known = {}
    for path in sorted(DRIVER.glob("*.[ch]")):
        known.update(macros(path.read_text()))
    pages = {page: re.sub(r"[\s*]+", " ", (PAGES / f"{page}.rst").read_text())
             for _, _, page, _, _ in BOUNDS}
    for source, product, page, form, words in BOUNDS:
        here = macros((DRIVER / source).read_text())
        missing = [name for name in product.split(" * ") if name not in here]
        if missing:
            print(f"{DRIVER / source}: there is no {missing[0]}")
            continue
        wanted = words.format(form(evaluate(product, known)))
        if wanted not in pages[page]:
            print(f"{PAGES}/{page}.rst: {product} has changed, so it has to say: {wanted}")


if __name__ == "__main__":
    sys.exit(main())
