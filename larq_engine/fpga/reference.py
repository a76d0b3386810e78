"""Computes random images with the engine's kernels, for the test bench."""

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array, Op
from larq_engine.converter.lce_ops import constant
from larq_engine.fpga.runs import Run, ends_in
from larq_engine.fpga.streams import Stream, from_words, to_pixels, to_words
from larq_engine.python.interpreter import Interpreter


def sample(content: bytes, run: Run, images: int, seed: int) -> tuple[list[int], list[int]]:
    """Returns the pixels of random images, and those that the engine makes of them."""
    random = np.random.default_rng(seed)
    source, target = run.network.source, run.network.target
    sent: list[int] = []
    made: list[int] = []
    with Interpreter(_alone(content, run), host="none") as engine:
        for _ in range(images):
            values = random.integers(0, 1 << source.bits, (source.pixels, source.channels))
            sent += to_pixels(source, values)
            image = _tensor(source, run.source.dtype, values).reshape(run.source.shape)
            made += to_pixels(target, _values(target, np.asarray(engine.predict(image))))
    return sent, made


def _tensor(stream: Stream, dtype: str, values: Array) -> Array:
    if dtype == "INT32":
        return to_words(stream, values)
    return values.astype(np.uint8).view(np.int8 if dtype == "INT8" else np.uint8)


def _values(stream: Stream, tensor: Array) -> Array:
    if stream.kind == "int":
        return tensor.astype(np.int64).reshape(stream.pixels, stream.channels)
    return from_words(stream, tensor.reshape(stream.pixels, -1))


def _alone(content: bytes, run: Run) -> bytes:
    """Returns a model of the run alone; if the last layer makes floats, they are its sums."""
    model = schema.read(content)
    graph = model.graphs[0]
    ops = graph.ops[run.first : run.end]
    if ops[-1].output.dtype == "FLOAT32":
        _without_scales(next(op for op in reversed(ops) if op.kind == "LceBconv2d"))
    source, target = ends_in(graph, run)
    return schema.write(schema.part(model, [source], ops, [target]))


def _without_scales(op: Op) -> None:
    channels = op.output.shape[-1]
    op.inputs[2] = constant(np.ones(channels, np.float32))
    op.inputs[3] = constant(np.zeros(channels, np.float32))
