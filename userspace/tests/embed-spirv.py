#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Compile GLSL to SPIR-V and write it as a C array (see vk-compute.h).

usage: embed-spirv.py GLSLANG OUTPUT HEADER TABLE COUNT SHADER...

TABLE is the name of the array, COUNT that of the variable with its length; HEADER
declares both. A shader is called as its file is, "triangle_vert" for triangle.vert;
that of a compute shader has no suffix.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile


def compile_shader(glslang, path):
    with tempfile.TemporaryDirectory() as directory:
        spirv = pathlib.Path(directory, "shader.spv")
        run = subprocess.run([glslang, "-V", "--target-env", "vulkan1.2",
                              str(path), "-o", str(spirv)],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(run.stdout + run.stderr)
        code = spirv.read_bytes()
    return struct.unpack(f"<{len(code) // 4}I", code)


def name_of(path):
    stage = path.suffix.removeprefix(".")
    return path.stem if stage == "comp" else f"{path.stem}_{stage}"


def main():
    glslang, output, header, table, count, *files = sys.argv[1:]
    shaders = [(name_of(path), compile_shader(glslang, path))
               for path in map(pathlib.Path, files)]
    with open(output, "w", encoding="ascii") as out:
        out.write(f'#include "{header}"\n\n')
        for name, words in shaders:
            out.write(f"static const uint32_t {name}[] = {{\n")
            for i in range(0, len(words), 8):
                row = ", ".join(f"0x{word:08x}" for word in words[i:i + 8])
                out.write(f"\t{row},\n")
            out.write("};\n\n")
        out.write(f"const struct shader_binary {table}[] = {{\n")
        for name, words in shaders:
            out.write(f'\t{{ "{name}", {name}, sizeof({name}) }},\n')
        out.write(f"}};\n\nconst unsigned int {count} = {len(shaders)};\n")


main()
