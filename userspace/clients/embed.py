#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Write shader texts as a C array (see shaders.h).

usage: embed.py OUTPUT SHADER...
"""

import pathlib
import sys


def c_string(line):
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'\t\t"{escaped}\\n"\n'


def main():
    output, *files = sys.argv[1:]
    with open(output, "w", encoding="ascii") as out:
        out.write('#include <stddef.h>\n#include "shaders.h"\n\n')
        out.write("const struct shader shaders[] = {\n")
        for path in map(pathlib.Path, files):
            lines = path.read_text(encoding="ascii").splitlines()
            out.write(f'\t{{ "{path.stem}", "{path.name}",\n')
            out.write("".join(map(c_string, lines)) or '\t\t""\n')
            out.write("\t},\n")
        out.write("\t{ NULL, NULL, NULL },\n};\n")


main()
