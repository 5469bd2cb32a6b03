# SPDX-License-Identifier: MIT
# Copyright (C) 2026 The asahi driver authors
"""
A tiny language model of random weights on ggml's Vulkan and processor back ends, a line of TAP
for each type of weights.

usage: model.py [TYPE ...]

Types are f32, f16, q8_0 and q4_0; all of them if none is named. The model has the operations of
Llama's: embeddings, attention with rotated positions and a causal mask, a gated feed-forward
part, norms. Both back ends get the same weights, and their logits have to agree.
"""
import array
import ctypes
import random
import sys

TYPES = {"f32": 0, "f16": 1, "q8_0": 8, "q4_0": 2}
I32 = 26

# Tokens of the vocabulary and of the text; sizes of the model
WORDS, LENGTH = 96, 24
WIDTH, HEADS, HIDDEN, LAYERS = 64, 4, 128, 2
# Greatest sum of squared differences, by the sum of squares
TOLERANCE = 1e-3

BASE = ctypes.CDLL("libggml-base.so.0", mode=ctypes.RTLD_GLOBAL)
GGML = ctypes.CDLL("libggml.so.0")


class InitParams(ctypes.Structure):
    """struct ggml_init_params"""
    _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool)]


def call(name, *values, library=BASE, result=ctypes.c_void_p):
    """Call a function of ggml's. Integers are 64 bits; int and enum arguments take the low half."""
    function = getattr(library, name)
    function.restype = result
    return function(*(ctypes.c_int64(value) if isinstance(value, int) else value
                      for value in values))


def pointer(value):
    """A pointer that call() has returned, as an argument"""
    return ctypes.c_void_p(value)


class Graph:
    """A context with tensors, and the operations on them"""

    def __init__(self):
        self.context = pointer(call("ggml_init", InitParams(1 << 22, None, True)))
        # tensors that are set: (tensor, bytes)
        self.inputs = []

    def __getattr__(self, name):
        def operation(*values):
            return pointer(call(f"ggml_{name}", self.context, *values))
        return operation

    def give(self, kind, shape, data):
        """Return: a tensor of up to two dimensions with this data."""
        tensor = (self.new_tensor_1d if len(shape) == 1 else self.new_tensor_2d)(kind, *shape)
        self.inputs.append((tensor, data))
        return tensor

    def compute(self, backend, out, count):
        """Return: the floats of the tensor @out."""
        graph = self.new_graph()
        call("ggml_build_forward_expand", graph, out, result=None)
        if not call("ggml_backend_alloc_ctx_tensors", self.context, backend):
            sys.exit("no memory for tensors")
        for tensor, data in self.inputs:
            call("ggml_backend_tensor_set", tensor, data, 0, len(data), result=None)
        status = call("ggml_backend_graph_compute", backend, graph, result=ctypes.c_int)
        if status:
            sys.exit(f"ggml_backend_graph_compute: {status}")
        result = (ctypes.c_float * count)()
        call("ggml_backend_tensor_get", out, result, 0, ctypes.sizeof(result), result=None)
        return list(result)


class Weights:
    """Random weights, the same each time"""

    def __init__(self, kind):
        self.random = random.Random(27)
        self.kind = kind

    def floats(self, count, scale):
        """Return: bytes of random floats."""
        return array.array("f", (self.random.gauss(0, scale) for _ in range(count))).tobytes()

    def matrix(self, graph, columns, rows):
        """Return: a tensor of the model's type."""
        data = self.floats(columns * rows, columns ** -0.5)
        if self.kind:
            packed = ctypes.create_string_buffer(len(data))
            size = call("ggml_quantize_chunk", self.kind, data, packed, 0, rows, columns, None,
                        result=ctypes.c_size_t)
            data = packed.raw[:size]
        return graph.give(self.kind, (columns, rows), data)

    def vector(self, graph):
        """Return: a tensor for a norm."""
        return graph.give(TYPES["f32"], (WIDTH,), self.floats(WIDTH, 1))


def norm(graph, weights, value):
    """A norm with weights"""
    return graph.mul(graph.rms_norm(value, ctypes.c_float(1e-5)), weights.vector(graph))


def attention(graph, weights, value, positions):
    """Attention of all heads, each of which sees the tokens before it"""
    size = WIDTH // HEADS
    heads = []
    for rotated in (True, True, False):
        head = graph.mul_mat(weights.matrix(graph, WIDTH, WIDTH), value)
        head = graph.reshape_3d(head, size, HEADS, LENGTH)
        heads.append(graph.rope(head, positions, size, 0) if rotated else head)
    query, key = (graph.permute(head, 0, 2, 1, 3) for head in heads[:2])
    scores = graph.diag_mask_inf(graph.mul_mat(key, query), 0)
    scores = graph.soft_max_ext(scores, None, ctypes.c_float(size ** -0.5), ctypes.c_float(0))
    values = graph.cont(graph.permute(heads[2], 1, 2, 0, 3))
    mixed = graph.permute(graph.mul_mat(values, scores), 0, 2, 1, 3)
    return graph.mul_mat(weights.matrix(graph, WIDTH, WIDTH), graph.cont_2d(mixed, WIDTH, LENGTH))


def feed_forward(graph, weights, value):
    """The gated part"""
    gate = graph.silu(graph.mul_mat(weights.matrix(graph, WIDTH, HIDDEN), value))
    up = graph.mul_mat(weights.matrix(graph, WIDTH, HIDDEN), value)
    return graph.mul_mat(weights.matrix(graph, HIDDEN, WIDTH), graph.mul(gate, up))


def logits(backend, kind):
    """Return: what the model makes of a text."""
    graph, weights = Graph(), Weights(kind)
    tokens = array.array("i", (7 * i * i % WORDS for i in range(LENGTH))).tobytes()
    positions = graph.give(I32, (LENGTH,), array.array("i", range(LENGTH)).tobytes())
    value = graph.get_rows(weights.matrix(graph, WIDTH, WORDS), graph.give(I32, (LENGTH,), tokens))
    for _ in range(LAYERS):
        value = graph.add(value, attention(graph, weights, norm(graph, weights, value), positions))
        value = graph.add(value, feed_forward(graph, weights, norm(graph, weights, value)))
    value = graph.mul_mat(weights.matrix(graph, WIDTH, WORDS), norm(graph, weights, value))
    return graph.compute(backend, value, WORDS * LENGTH)


def open_backend(name):
    """Return: a back end by its device's name."""
    device = call("ggml_backend_dev_by_name", name, library=GGML)
    backend = device and call("ggml_backend_dev_init", pointer(device), None)
    if not backend:
        sys.exit(f"ggml has no device {name.decode()}")
    return pointer(backend)


def main(names):
    """Return: the exit status."""
    call("ggml_backend_load_all", library=GGML, result=None)
    vulkan, processor = (open_backend(name) for name in (b"Vulkan0", b"CPU"))
    failed = False
    for name in names or TYPES:
        got, want = (logits(backend, TYPES[name]) for backend in (vulkan, processor))
        square = sum(value * value for value in want)
        error = sum((a - b) ** 2 for a, b in zip(got, want)) / square if square else 1
        good = error <= TOLERANCE
        print(f"{'ok' if good else 'not ok'} - model: {name}", flush=True)
        print(f"# the error is {error:.2g}, at most {TOLERANCE} may be")
        failed |= not good
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
