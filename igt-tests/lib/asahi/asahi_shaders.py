#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Write asahi_shaders.c from assembled shaders, or see whether it is up to date.

usage: asahi_shaders.py [--check] ASSEMBLER OUTPUT SHADER...

IGT has no assembler for this GPU: the tests have the code as bytes, and the
texts as comments.
"""

import pathlib
import re
import subprocess
import sys

HEADER = """// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Written by asahi_shaders.py from the texts in the comments.
 */
#include "asahi_shaders.h"
"""


def registers(lines):
    """Registers of 16 bits up to the last one that is named."""
    halves = [1]
    for line in lines:
        code = line.split("#")[0]
        for number, half in re.findall(r"\br(\d+)([lh]?)\b", code):
            halves.append(2 * int(number) + (1 if half == "l" else 2))
    return max(halves)


def array(name, lines, code):
    text = "\n/*\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"
    text += f"static const uint8_t shaders_{name}[] = {{\n"
    for start in range(0, len(code), 12):
        row = ", ".join(f"0x{byte:02x}" for byte in code[start:start + 12])
        text += f"\t{row},\n"
    return text + "};\n"


def main():
    args = sys.argv[1:]
    check = args[0] == "--check"
    assembler, output, *files = args[check:]
    arrays = table = ""
    for path in map(pathlib.Path, files):
        code = subprocess.run([assembler, "-o", "-", path], check=True, stdout=subprocess.PIPE).stdout
        lines = path.read_text(encoding="ascii").expandtabs().splitlines()
        lines = [line.removeprefix("# ") for line in lines if "SPDX" not in line]
        arrays += array(path.stem, lines, code)
        name = f"shaders_{path.stem}"
        table += f"\t[IGT_ASAHI_SHADER_{path.stem.upper()}] = {{ {name}, sizeof({name}), "
        table += f"{registers(lines)} }},\n"
    text = f"{HEADER}{arrays}\nconst struct igt_asahi_code igt_asahi_shaders[] = {{\n{table}}};\n"
    if not check:
        pathlib.Path(output).write_text(text, encoding="ascii")
    elif text != pathlib.Path(output).read_text(encoding="ascii"):
        sys.exit(f"{output} is not what the shaders assemble to")


main()
