#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""Random compute shaders on the virtual GPU and on lavapipe.

usage: random-shaders.py [--seed=N] [--count=N] GLSLANG RUNNER SHIM

Writes shaders in GLSL, expressions over random words, compiles them and has
vulkan-random run each on both. What differs is printed with its expression. With the
shader number n of a seed, --seed=N+n --count=1 is that one alone.

Left out is what Mesa 26.1 compiles wrongly, whoever executes it: in "x >> (y & 31u)" with
a mask of low bits the 31 is lost, and the instruction looks at 7 bits of y; "~" of 16 bits,
and a "^" by ones; a sign of 16 bits in products of 64 bits and in saturated sums, hence in
quotients. And what lavapipe makes 8 in the place of 7: findMSB(int(float(-256))).
"""

import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

# As in vulkan-random.c: rows that have to be equal, and those that may be close
EXACT, CLOSE = 52, 12

HEAD = """#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_quad : require
#include "common.glsl"

uint high(uint a, uint b) { uint h, l; umulExtended(a, b, h, l); return h; }
uint ihigh(int a, int b) { int h, l; imulExtended(a, b, h, l); return uint(h); }
uint carry(uint a, uint b) { uint c; uint s = uaddCarry(a, b, c); return s ^ c << 31; }
uint borrow(uint a, uint b) { uint c; uint s = usubBorrow(a, b, c); return s ^ c << 31; }
uint folded(uint64_t a) { return uint(a) ^ uint(a >> 32) * 3u; }
float near(uint a) { return uintBitsToFloat(0x3e000000u + (a & 0x03ffffffu)); }
"""

WORDS = ["w0", "w1", "w2", "w3", "w4", "s0", "s1"]
CONSTANTS = [0, 1, 2, 3, 7, 8, 31, 32, 127, 128, 255, 0x7fff, 0x8000, 0xffff, 0x10000,
             0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x55555555, 1000003]


class Expressions:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, *choices):
        return self.random.choice(choices)

    def leaf(self):
        if self.random.random() < 0.8:
            return self.one(*WORDS)
        return f"{self.one(*CONSTANTS)}u"

    def field(self):
        first = self.random.randrange(32)
        return f"{first}, {self.random.randint(1, 32 - first)}"

    def unsigned(self, depth):
        if depth <= 0:
            return self.leaf()
        u = lambda: self.unsigned(depth - 1 - self.random.randrange(2))
        i = lambda: self.signed(depth - 1 - self.random.randrange(2))
        h = lambda: f"uint16_t({u()})"
        w = lambda: self.wide(depth - 1)
        kind = self.random.randrange(26)
        if kind < 5:
            return f"({u()} {self.one('+', '-', '*', '^', '|')} {u()})"
        return [
            lambda: f"({u()} & {self.one(*WORDS)})",
            lambda: f"(~{u()})",
            lambda: f"({u()} << ({self.one(*WORDS)} & 31u))",
            lambda: f"({u()} >> ({self.one(*WORDS)} >> 27))",
            lambda: f"({u()} >> {self.random.randrange(32)})",
            lambda: f"({self.boolean(depth - 1)} ? {u()} : {u()})",
            lambda: f"{self.one('min', 'max')}({u()}, {u()})",
            lambda: f"clamp({u()}, min(w0, w1), max(w0, w1))",
            lambda: f"bitfieldExtract({u()}, {self.field()})",
            lambda: f"bitfieldInsert({u()}, {u()}, {self.field()})",
            lambda: f"bitfieldReverse({u()})",
            lambda: f"uint({self.one('bitCount', 'findLSB', 'findMSB')}({u()}))",
            lambda: f"{self.one('high', 'carry', 'borrow')}({u()}, {u()})",
            lambda: f"({self.one(*WORDS)} {self.one('/', '%')} ({self.one(*WORDS)} | 1u))",
            lambda: f"uint({i()})",
            lambda: f"uint({i()})",
            lambda: f"ihigh({i()}, {i()})",
            lambda: f"uint(uint16_t({h()} {self.one('+', '-', '*', '|')} {h()}))",
            lambda: f"uint({self.one('min', 'max')}({h()}, {h()}))",
            lambda: f"folded({w()})",
            lambda: f"uint(float({u()} >> 8))",
        ][kind - 5]()

    def signed(self, depth):
        if depth <= 0:
            return f"int({self.leaf()})"
        u = lambda: self.unsigned(depth - 1)
        i = lambda: self.signed(depth - 1)
        return [
            lambda: f"({i()} {self.one('+', '-', '*')} {i()})",
            lambda: f"(-{i()})",
            lambda: f"{self.one('abs', 'sign')}({i()})",
            lambda: f"{self.one('min', 'max')}({i()}, {i()})",
            lambda: f"({i()} >> ({self.one(*WORDS)} >> 27))",
            lambda: f"({i()} / int(({self.one(*WORDS)} & 0xffu) + 1u))",
            lambda: f"bitfieldExtract({i()}, {self.field()})",
            lambda: f"findMSB(int({self.one(*WORDS)}))",
            lambda: f"({self.boolean(depth - 1)} ? {i()} : {i()})",
            lambda: f"int(int16_t({i()}))",
            lambda: f"int(float({i()} >> 8))",
        ][self.random.randrange(11)]()

    def wide(self, depth):
        u = lambda: self.unsigned(depth - 1)
        if depth <= 0:
            return f"(uint64_t({u()}) | uint64_t({u()}) << 32)"
        w = lambda: self.wide(depth - 1)
        return [
            lambda: f"({w()} {self.one('+', '-', '*', '&', '|', '^')} {w()})",
            lambda: f"({w()} {self.one('<<', '>>')} ({self.one(*WORDS)} >> 26))",
            lambda: f"{self.one('min', 'max')}({w()}, {w()})",
            lambda: f"uint64_t(int64_t(int({u()})))",
        ][self.random.randrange(4)]()

    def boolean(self, depth):
        u = lambda: self.unsigned(depth - 1)
        i = lambda: self.signed(depth - 1)
        compare = self.one("==", "!=", "<", "<=", ">", ">=")
        if depth <= 0 or self.random.random() < 0.7:
            left, right = self.one((u, u), (i, i))
            return f"({left()} {compare} {right()})"
        return self.one(f"({self.boolean(depth - 1)} {self.one('&&', '||')} "
                        f"{self.boolean(depth - 1)})", f"(!{self.boolean(depth - 1)})")

    def real(self, depth):
        """What Vulkan wants to be rounded correctly, in the range of normal numbers"""
        if depth <= 0:
            return f"near({self.one(*WORDS)})"
        f = lambda: self.real(depth - 1)
        return [
            lambda: f"({f()} {self.one('+', '-', '*')} {f()})",
            lambda: f"{self.one('floor', 'ceil', 'trunc', 'abs', 'sign', 'roundEven')}({f()})",
            lambda: f"{self.one('min', 'max')}({f()}, {f()})",
            lambda: f"clamp({f()}, 0.5, 2.0)",
            lambda: f"({self.boolean(1)} ? {f()} : {f()})",
            lambda: f"(-{f()})",
        ][self.random.randrange(6)]()

    def function(self):
        """Positive numbers from 1/8 to 32, results that are not far from one"""
        f = lambda: self.one(*[f"near({w})" for w in WORDS])
        return self.one(
            f"fma({f()}, {f()}, {f()})", f"({f()} / {f()})", f"sqrt({f()})",
            f"inversesqrt({f()})", f"exp2({f()} * 0.25)", f"log2({f()} + 2.0)",
            f"mix({f()}, {f()}, fract({f()}))", f"dot(vec2({f()}, {f()}), vec2({f()}, {f()}))",
            f"length(vec3({f()}, {f()}, {f()}))", f"pow({f()} + 1.0, 1.5)",
            f"unpackUnorm4x8({self.one(*WORDS)}).{self.one(*'xyzw')}",
            f"unpackSnorm2x16({self.one(*WORDS)}).{self.one(*'xy')}")


def shader(seed):
    """Return: the text, and the expression of each row"""
    make = Expressions(seed)
    rows = [make.unsigned(4) for _ in range(EXACT - 12)]
    rows += [f"uint({make.boolean(3)})" for _ in range(4)]
    reals = [make.real(3) for _ in range(8)]
    lines = [f"\tuint w{i} = word({i * 7}u);" for i in range(5)]
    lines += [f"\tuint s0 = subgroupShuffleXor({make.unsigned(1).replace('s0', 'w0').replace('s1', 'w1')}, "
              f"{make.random.randint(1, 3)}u);",
              f"\tuint s1 = {make.one('subgroupQuadSwapHorizontal', 'subgroupQuadSwapVertical', 'subgroupQuadSwapDiagonal')}(w1);"]
    lines += [f"\tput({row});" for row in rows]
    for i, row in enumerate(reals):
        lines += [f"\tprecise float r{i} = {row};", f"\tput(r{i});"]
    close = [make.function() for _ in range(CLOSE)]
    lines += [f"\tput(float({row}));" for row in close]
    return HEAD + "\nvoid main()\n{\n" + "\n".join(lines) + "\n}\n", rows + reals + close


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SHADER_SEED", "1")))
    parser.add_argument("--count", type=int, default=int(os.environ.get("SHADER_COUNT", "24")))
    parser.add_argument("glslang")
    parser.add_argument("runner")
    parser.add_argument("shim")
    options = parser.parse_args()
    glsl = pathlib.Path(__file__).parent / "glsl"

    with tempfile.TemporaryDirectory() as folder:
        files, rows = [], {}
        for seed in range(options.seed, options.seed + options.count):
            path = pathlib.Path(folder, f"seed-{seed}.comp")
            text, rows[path.stem] = shader(seed)
            path.write_text(text, encoding="ascii")
            run = subprocess.run([options.glslang, "-V", "--target-env", "vulkan1.2", f"-I{glsl}",
                                  str(path), "-o", str(path.with_suffix(".spv"))],
                                 capture_output=True, text=True, check=False)
            if run.returncode:
                sys.exit(run.stdout + run.stderr)
            files.append(str(path.with_suffix(".spv")))
        run = subprocess.run([options.runner, *files], stdout=subprocess.PIPE, text=True, check=False,
                             env=os.environ | {"LD_PRELOAD": options.shim})
        for line in run.stdout.splitlines():
            print(line)
            found = re.match(r"# (seed-\d+): row (\d+)", line)
            if found:
                print(f"#   {rows[found[1]][int(found[2])]}")
    sys.exit(run.returncode)


main()
