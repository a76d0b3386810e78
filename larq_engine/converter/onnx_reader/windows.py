"""Windows of convolutions and poolings with their padding; a sequence is an image of one line."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Tensor
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.graph_builder import GraphBuilder
from larq_engine.converter.onnx_reader.layout import Shape, Value, channels_last
from larq_engine.converter.padding import is_size_free, same_pads

Pair = tuple[int, int]

# The largest number that a .tflite file can hold.
_MOST = (1 << 31) - 1


@dataclass(frozen=True)
class Axis:
    """A window along one direction of an image."""

    size: int
    taps: int
    stride: int
    dilation: int
    pads: Pair
    result: int

    @property
    def is_same(self) -> bool:
        """Tells whether the pads are those of SAME."""
        return self.pads == same_pads(self.size, self.taps, self.stride, self.dilation)

    @property
    def missing(self) -> int:
        """Number of pixels by which the last window reaches beyond the padded image."""
        extent = (self.taps - 1) * self.dilation + 1
        return max(0, (self.result - 1) * self.stride + extent - self.size - sum(self.pads))

    def taps_inside(self, before: int, behind: int) -> Array:
        """Returns how many taps of each window, not dilated, are in an image with margins."""
        starts = np.arange(self.result) * self.stride - self.pads[0]
        ends = np.minimum(starts + self.taps, self.size + behind)
        return np.asarray(ends - np.maximum(starts, -before))


@dataclass(frozen=True)
class Windows:
    """The windows of an operator; a sequence is an image of one line."""

    axes: tuple[Axis, Axis]
    follows_size: bool

    @property
    def is_same(self) -> bool:
        """Tells whether SAME gives the model's pads, for every image size if the pads are fixed."""
        return all(
            axis.is_same and (self.follows_size or is_size_free(axis.taps, axis.stride))
            for axis in self.axes
        )

    @property
    def is_padded(self) -> bool:
        return any(any(axis.pads) or axis.missing for axis in self.axes)

    @property
    def pads(self) -> list[Pair]:
        """Pads of all dimensions, with those that the last windows need."""
        sides = [(axis.pads[0], axis.pads[1] + axis.missing) for axis in self.axes]
        return [(0, 0), *sides, (0, 0)]

    @property
    def result(self) -> Pair:
        return self.axes[0].result, self.axes[1].result

    def shape(self, batch: int, channels: int) -> Shape:
        return (batch, *self.result, channels)

    @property
    def stride(self) -> dict[str, int]:
        """The strides as options of the schema."""
        return {"strideH": self.axes[0].stride, "strideW": self.axes[1].stride}


def read_windows(call: Call, sizes: Shape, taps: Sequence[int]) -> Windows:
    """Reads the windows of an operator; `sizes` are those of the image."""
    rank = len(sizes)
    strides = _per_axis(call, "strides", rank, 1)
    dilations = _per_axis(call, "dilations", rank, 1)
    mode = call.text("auto_pad", "NOTSET")
    flat = call.integers("pads") or [0] * 2 * rank
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise call.error("auto_pad to be one of ONNX's four", mode, "export it again")
    fits = len(taps) == rank and len(flat) == 2 * rank and max(*taps, *flat) <= _MOST
    if not fits or min(flat) < 0 or min(taps) < 1:
        raise call.error(
            f"a window and pads of 0 or more for {rank} dimensions", [taps, flat], "export it again"
        )
    rounds_up = bool(call.integer("ceil_mode"))
    axes = [Axis(1, 1, 1, 1, (0, 0), 1)] * (2 - rank)
    for n, (size, count, stride, gap) in enumerate(
        zip(sizes, taps, strides, dilations, strict=True)
    ):
        if size < 0:
            raise call.error("an image of known size", "an open one", "export it with fixed sizes")
        pads = (flat[n], flat[n + rank]) if mode == "NOTSET" else (0, 0)
        if mode.startswith("SAME"):
            less, more = same_pads(size, count, stride, gap)
            pads = (less, more) if mode == "SAME_UPPER" else (more, less)
        room = size + sum(pads) - (count - 1) * gap - 1
        if room < 0:
            raise call.error(
                "a window in the padded image",
                f"{count} taps, a side of {size}",
                "use a smaller window",
            )
        result = room // stride + 1
        if rounds_up and room % stride and result * stride < size + pads[0]:
            result += 1  # There is a last window that begins in the image.
        axes.append(Axis(size, count, stride, gap, pads, result))
    return Windows((axes[0], axes[1]), mode.startswith("SAME"))


def _per_axis(call: Call, name: str, rank: int, default: int) -> list[int]:
    found = call.integers(name) or [default] * rank
    if len(found) != rank or min(found) < 1 or max(found) > _MOST:
        raise call.error(f"{rank} {name} of 1 or more", found, "export it again")
    return found


def as_image(net: GraphBuilder, value: Value) -> Tensor:
    """Returns a value with channels at dimension 1 as an image with channels last."""
    rank = len(value.shape)
    last = net.ordered(value, channels_last(rank))
    if rank == 4:
        return last.tensor
    batch, length, channels = last.stored_shape
    return net.reshape(last.tensor, (batch, 1, length, channels))


def from_image(net: GraphBuilder, image: Tensor, shape: Shape) -> Value:
    """Returns an image as a value of ONNX's shape, the inverse of `as_image`."""
    order = channels_last(len(shape))
    if len(shape) != 4:
        image = net.reshape(image, tuple(shape[axis] for axis in order))
    return Value(shape, image, order)


def padded(
    net: GraphBuilder, image: Tensor, shape: Shape, windows: Windows, value: float
) -> Tensor:
    """Returns an image of this shape with the windows' pads around it."""
    pads = windows.pads
    larger = tuple(
        size + sum(pair) if any(pair) else size for size, pair in zip(shape, pads, strict=True)
    )
    inputs = [image, net.constant(np.array(pads, np.int32))]
    if value == 0:
        return net.op("PAD", inputs, larger)
    return net.op("PADV2", [*inputs, net.constant(value)], larger)
