# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
OpenCL kernels against numpy, with pyopencl, a line of TAP for each comparison.

usage: opencl.py [GROUP ...]

Groups are integers, floats, images, shared, control; all of them if none is named. Values are
random, by a fixed seed. Integers have to be equal. Floats may differ by so many units in the
last place as OpenCL allows for the function.
"""
import sys

import numpy as np
import pyopencl as cl

COUNT = 4096
LOW_GROUP = 64

failed = 0


def tell(name, good, explanation=""):
    """A line of TAP."""
    global failed
    print(f"{'ok' if good else 'not ok'} - {name}")
    if not good:
        failed += 1
        print(f"# {explanation}")


class Device:
    """A GPU with a queue."""

    def __init__(self):
        devices = [device for platform in cl.get_platforms()
                   for device in platform.get_devices()]
        if len(devices) != 1:
            sys.exit(f"there are {len(devices)} devices: {devices}")
        print(f"# {devices[0].name}, {devices[0].version}")
        self.context = cl.Context(devices)
        self.queue = cl.CommandQueue(self.context)

    def build(self, text):
        """Return: the only kernel of a program."""
        return cl.Program(self.context, text).build().all_kernels()[0]

    def to(self, array):
        """Return: a buffer with an array's contents."""
        flags = cl.mem_flags
        return cl.Buffer(self.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=array)

    def back(self, buffer, like):
        """Return: a buffer's contents."""
        result = np.empty_like(like)
        cl.enqueue_copy(self.queue, result, buffer)
        return result

    def run(self, text, out, *inputs, group=None):
        """Execute a kernel of one dimension: (out, inputs ...). Return: what is in out."""
        kernel = self.build(text)
        buffers = [self.to(array) for array in (out, *inputs)]
        kernel(self.queue, (out.size,), group and (group,), *buffers)
        return self.back(buffers[0], out)


def same(name, got, want):
    """Compare integers."""
    wrong = np.flatnonzero(got != want)
    tell(name, not wrong.size,
         wrong.size and f"{wrong.size} differ, [{wrong[0]}] is {got[wrong[0]]}, "
         f"expected {want[wrong[0]]}")


def near(name, got, want, ulps):
    """Compare floats with numbers of double precision."""
    step = np.spacing(np.abs(want).astype(np.float32)).astype(np.float64)
    off = np.abs(got.astype(np.float64) - want) / step
    off[np.isnan(got) & np.isnan(want)] = 0
    off[np.isinf(want) & (got == want)] = 0
    worst = int(np.nanargmax(np.where(np.isnan(off), np.inf, off)))
    tell(name, off[worst] <= ulps,
         f"[{worst}] is {got[worst]!r}, expected {want[worst]!r}: {off[worst]} units, {ulps} may")


INTEGERS = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
    "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64,
}


def integer_results(a, b):
    """The operations of two arrays of one type: (expression of C, result)."""
    bits = a.dtype.itemsize * 8
    kind = a.dtype.type
    shift = (b & kind(bits - 1)).astype(a.dtype)
    wide = np.clip(a.astype(object) + b.astype(object),
                   int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    high = np.array([(int(x) * int(y)) >> bits for x, y in zip(a, b)], dtype=object)
    return {
        "a + b": a + b, "a - b": a - b, "a * b": a * b,
        "a & b": a & b, "a | ~b": a | ~b, "a ^ b": a ^ b,
        f"a << (b & {bits - 1})": a << shift, f"a >> (b & {bits - 1})": a >> shift,
        "min(a, b)": np.minimum(a, b), "max(a, b)": np.maximum(a, b),
        "add_sat(a, b)": wide.astype(a.dtype), "mul_hi(a, b)": high.astype(a.dtype),
        "popcount(a)": np.array([bin(int(x) & (1 << bits) - 1).count("1") for x in a], a.dtype),
    }


def integers(device, random):
    """All types, and the operations of integer_results()."""
    for name, kind in INTEGERS.items():
        limits = np.iinfo(kind)
        a, b = (random.integers(limits.min, limits.max, COUNT, kind, endpoint=True)
                for _ in range(2))
        with np.errstate(over="ignore"):
            wanted = integer_results(a, b)
        for expression, want in wanted.items():
            text = f"""kernel void f(global {name} *out, global {name} *x, global {name} *y) {{
                size_t i = get_global_id(0);
                {name} a = x[i], b = y[i];
                out[i] = {expression}; }}"""
            same(f"integers: {name} {expression}", device.run(text, a, a, b), want)


# Function: (numpy's, least and greatest argument, units in the last place)
FLOATS = {
    "sqrt(a)": (np.sqrt, 0, 1e6, 3), "exp(a)": (np.exp, -80, 80, 3), "log(a)": (np.log, 1e-6, 1e6, 3),
    "exp2(a)": (np.exp2, -120, 120, 3), "log2(a)": (np.log2, 1e-6, 1e6, 3),
    "sin(a)": (np.sin, -100, 100, 4), "cos(a)": (np.cos, -100, 100, 4),
    "tan(a)": (np.tan, -1.5, 1.5, 5), "atan(a)": (np.arctan, -100, 100, 5),
    "asin(a)": (np.arcsin, -1, 1, 4), "acos(a)": (np.arccos, -1, 1, 4),
    "sinh(a)": (np.sinh, -80, 80, 4), "tanh(a)": (np.tanh, -8, 8, 5),
    "floor(a)": (np.floor, -1e4, 1e4, 0), "ceil(a)": (np.ceil, -1e4, 1e4, 0),
    "trunc(a)": (np.trunc, -1e4, 1e4, 0), "rint(a)": (np.rint, -1e4, 1e4, 0),
    "fabs(a)": (np.abs, -1e4, 1e4, 0), "cbrt(a)": (np.cbrt, -1e6, 1e6, 2),
    "1 / a": (lambda a: 1 / a, 1, 1e6, 3), "a * a + 1": (None, -100, 100, 2),
}


def floats(device, random):
    """Functions of one argument, and some of half precision."""
    for expression, (function, low, high, ulps) in FLOATS.items():
        a = random.uniform(low, high, COUNT).astype(np.float32)
        exact = a.astype(np.float64)
        want = function(exact) if function else exact * exact + 1
        text = f"""kernel void f(global float *out, global float *x) {{
            size_t i = get_global_id(0);
            float a = x[i];
            out[i] = {expression}; }}"""
        near(f"floats: {expression}", device.run(text, a, a), want, ulps)
    a, b = (random.uniform(-8, 8, COUNT).astype(np.float32) for _ in range(2))
    text = """kernel void f(global float *out, global float *x, global float *y) {
        size_t i = get_global_id(0);
        out[i] = fma(x[i], y[i], 1.5f); }"""
    near("floats: fma", device.run(text, a, a, b), a.astype(np.float64) * b + 1.5, 0.51)
    half = a.astype(np.float16)
    text = """kernel void f(global ushort *out, global float *x) {
        vstore_half(x[get_global_id(0)], get_global_id(0), (global half *)out); }"""
    same("floats: vstore_half", device.run(text, half.view(np.uint16), a), half.view(np.uint16))


def images(device, random):
    """Read and write images, with and without a sampler."""
    width, height = 61, 37
    pixels = random.integers(0, 256, (height, width, 4), np.uint8)
    image = cl.image_from_array(device.context, pixels, 4, norm_int=True)
    out = np.empty((height, width, 4), np.float32)
    buffer = device.to(out)
    nearest = """constant sampler_t s = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
        kernel void f(read_only image2d_t image, global float4 *out) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            out[at.y * get_image_width(image) + at.x] = read_imagef(image, s, at + (int2)(1, 0)); }"""
    device.build(nearest)(device.queue, (width, height), None, image, buffer)
    want = np.concatenate([pixels[:, 1:], pixels[:, -1:]], axis=1) / 255
    got = device.back(buffer, out)
    tell("images: nearest texel", np.abs(got - want).max() < 1e-6, "a texel is wrong")
    linear = """constant sampler_t s = CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
        kernel void f(read_only image2d_t image, global float4 *out) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            out[at.y * get_image_width(image) + at.x] =
                read_imagef(image, s, convert_float2(at) + (float2)(1.0f, 0.5f)); }"""
    device.build(linear)(device.queue, (width, height), None, image, buffer)
    want = (pixels / 255 + np.concatenate([pixels[:, 1:], pixels[:, -1:]], axis=1) / 255) / 2
    got = device.back(buffer, out)
    tell("images: linear filter", np.abs(got - want).max() < 1 / 128, "a value is wrong")
    target = cl.Image(device.context, cl.mem_flags.WRITE_ONLY,
                      cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.UNSIGNED_INT32),
                      shape=(width, height))
    text = """kernel void f(write_only image2d_t image) {
        uint x = get_global_id(0), y = get_global_id(1);
        write_imageui(image, (int2)(x, y), (uint4)(x, y, x * y, ~x)); }"""
    device.build(text)(device.queue, (width, height), None, target)
    got = np.empty((height, width, 4), np.uint32)
    cl.enqueue_copy(device.queue, got, target, origin=(0, 0), region=(width, height))
    y, x = np.mgrid[:height, :width].astype(np.uint32)
    same("images: write of integers", got.ravel(), np.stack([x, y, x * y, ~x], axis=2).ravel())


def shared(device, random):
    """Local memory, barriers, atomics."""
    a = random.integers(0, 1000, COUNT, np.uint32)
    text = f"""kernel void f(global uint *out, global uint *x) {{
        local uint part[{LOW_GROUP}];
        uint i = get_local_id(0), n = get_global_id(0);
        part[i] = x[n];
        for (uint step = 1; step < {LOW_GROUP}; step *= 2) {{
            barrier(CLK_LOCAL_MEM_FENCE);
            uint other = i >= step ? part[i - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            part[i] += other;
        }}
        out[n] = part[i]; }}"""
    want = np.cumsum(a.reshape(-1, LOW_GROUP), axis=1, dtype=np.uint32).ravel()
    same("shared: prefix sums", device.run(text, np.zeros_like(a), a, group=LOW_GROUP), want)
    # The kernel has as many threads as out has elements.
    text = """kernel void f(global uint *out, global uint *x) {
        atomic_add(out + x[get_global_id(0)] % 97, 1u);
        atomic_max(out + 100, x[get_global_id(0)]); }"""
    want = np.zeros_like(a)
    want[:97] = np.bincount(a % 97, minlength=97)
    want[100] = a.max()
    same("shared: atomics", device.run(text, np.zeros_like(a), a), want)


def control(device, random):
    """Loops and branches that differ from thread to thread; private arrays."""
    a = random.integers(1, 10000, COUNT, np.uint32)
    text = """kernel void f(global uint *out, global uint *x) {
        ulong n = x[get_global_id(0)];
        uint steps = 0;
        while (n != 1) {
            n = n & 1 ? 3 * n + 1 : n / 2;
            steps++;
        }
        out[get_global_id(0)] = steps; }"""
    want = []
    for start in a.tolist():
        steps = 0
        while start != 1:
            start = 3 * start + 1 if start & 1 else start // 2
            steps += 1
        want.append(steps)
    same("control: loops", device.run(text, a, a), np.array(want, np.uint32))
    text = """kernel void f(global uint *out, global uint *x) {
        uint digits[16], n = x[get_global_id(0)], count = 0, sum = 0;
        do
            digits[count++] = n % 7;
        while (n /= 7);
        for (uint i = 0; i < count; i++)
            sum = sum * 10 + digits[i];
        out[get_global_id(0)] = sum; }"""
    want = [int(np.base_repr(n, 7)[::-1]) for n in a.tolist()]
    same("control: private array", device.run(text, a, a), np.array(want, np.uint32))


GROUPS = {"integers": integers, "floats": floats, "images": images, "shared": shared,
          "control": control}


def main(names):
    """Return: the exit status."""
    device = Device()
    for name in names or GROUPS:
        # a group's values do not depend on the groups before it
        GROUPS[name](device, np.random.default_rng(27))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
