# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Look whether anything still writes to the memory of a machine that has halted.

usage: halted.py PID SECONDS

PID is the process whose child is QEMU, with a memfd for the machine's memory. A processor
that has halted writes nothing, nor do QEMU's devices, which nobody asks for anything. So
what differs after so many seconds was written by the GPU or its firmware. Prints how many
pages there are and how many of them have changed, and where those are.
"""

import os
import pathlib
import sys
import time
import zlib

BASE = 0x40000000
PAGE = 16384
BLOCK = 64 * PAGE
SHOWN = 8


def open_memory(parent):
    children = pathlib.Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    for link in pathlib.Path(f"/proc/{children.split()[0]}/fd").iterdir():
        if os.readlink(link).startswith("/memfd:memory-backend-memfd"):
            return os.open(link, os.O_RDONLY)
    sys.exit("halted: the machine's memory is not there")


def extents(memory):
    """What was ever touched: the rest reads as zeros, and to read it takes long."""
    end = os.fstat(memory).st_size
    first = 0
    while first < end:
        try:
            first = os.lseek(memory, first, os.SEEK_DATA)
        except OSError:
            return
        last = os.lseek(memory, first, os.SEEK_HOLE)
        yield first // PAGE * PAGE, last
        first = last


def read_sums(memory):
    sums = {}
    for first, last in extents(memory):
        for start in range(first, last, BLOCK):
            block = os.pread(memory, BLOCK, start)
            for offset in range(0, len(block), PAGE):
                sums[start + offset] = zlib.crc32(block[offset:offset + PAGE])
    return sums


def main():
    memory = open_memory(int(sys.argv[1]))
    before = read_sums(memory)
    time.sleep(float(sys.argv[2]))
    after = read_sums(memory)
    changed = sorted(page for page in after if after[page] != before.get(page))
    print(f"pages {len(after)} changed {len(changed)}")
    for page in changed[:SHOWN]:
        print(f"{BASE + page:#x}")


main()
