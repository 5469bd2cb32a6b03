# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Whether names begin as emulator/README.md says: prints those that do not.

Statics begin with their file's word, and functions of vagx with their room's prefix.

The word is the file's name, or its end from a "_" or "-" on: astc_bits() and
image_astc_bits() may stand in image_astc.c. A folder's own prefix may come first:
fw_, gpu_, shim_, vagx_, asahi_. Tests and the fuzzers of emulator/fuzz are programs of
one file and go by other rules, so they are left out.
"""

import re
import subprocess
import sys

FOLDERS = ("emulator", "igt-tests", "userspace/clients", "userspace/fuzz", "userspace/libdrm_asahi",
           "userspace/shim")
LEFT_OUT = re.compile(r"emulator/fuzz/|/tests(?!/asahi)/|_test\.c$")
PREFIXES = ("asahi_", "vagx_", "shim_", "agx_", "fw_", "gpu_", "uat_")
# What functions of a room that are not static begin with
ROOMS = {"emulator": ("vagx_", "uat_"), "emulator/firmware": ("fw_", "vagx_fw_")}
GLOBAL = re.compile(r"^(?!static|INLINE|typedef|struct \w+ \{)[a-z][^=;({#]*?\b(\w+)\([^;{]*\)\n\{", re.M)
# Functions and objects, and objects whose type stands with them.
STATIC = re.compile(r"^(?:static|INLINE)\s[^=;({]*?\b(\w+)(?:\(|\s*(?:\[[^=;]*\])?\s*(?:=|;))", re.M)
UNNAMED = re.compile(r"^static [^=;(]*\{\n(?:\t.*\n|\n)*\}\s*(\w+)", re.M)
MACROS = re.compile(r"^[A-Z_0-9]+$|^(DEFINE|DECLARE|_)_|^main$")


def words(path):
    """Each prefix that a static of this file may have."""
    parts = re.split("[-_]", path.rsplit("/", 1)[1].removesuffix(".c"))
    return tuple("_".join(parts[n:]) for n in range(len(parts)))


def fits(name, starts):
    bare = [name] + [name.removeprefix(prefix) for prefix in PREFIXES]
    return any(it == start or it.startswith(start + "_") for it in bare for start in starts)


def main():
    files = subprocess.run(["git", "ls-files", "--", *(f"{folder}/*.c" for folder in FOLDERS)],
                           check=True, text=True, capture_output=True).stdout.split()
    for path in files:
        if LEFT_OUT.search(path):
            continue
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), file.read(), flags=re.S)
        room = ROOMS.get(path.rsplit("/", 1)[0])
        for found in GLOBAL.finditer(text) if room else ():
            if not found[1].startswith(room) and found[1] != "main":
                print(f"{path}:{text.count(chr(10), 0, found.start(1)) + 1}: {found[1]}: "
                      f"begin it with {' or '.join(room)}")
        for found in (*STATIC.finditer(text), *UNNAMED.finditer(text)):
            name = found[1]
            if not MACROS.search(name) and not fits(name, words(path)):
                print(f"{path}:{text.count(chr(10), 0, found.start(1)) + 1}: {name}: "
                      f"begin it with {words(path)[0]}_")


if __name__ == "__main__":
    sys.exit(main())
