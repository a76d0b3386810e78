"""Makers of operators that resize images."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import OPEN, Value, channels_last
from larq_engine.converter.onnx_reader.moving import OPEN_SIZE, pick
from larq_engine.converter.onnx_reader.windows import as_image, from_image

# Ways to resize that hosts have: (alignCorners, halfPixelCenters).
_HOSTS = ((False, False), (False, True), (True, False))

# The host's way for each of ONNX's, if values between pixels are interpolated.
_LINEAR = {
    "asymmetric": (False, False),
    "half_pixel": (False, True),
    "pytorch_half_pixel": (False, True),
    "align_corners": (True, False),
}


def resize(call: Call) -> Value:
    x = call.value()
    call.rank(x, 3, 4)
    sizes, scales = _sizes(call, x)
    if sizes == list(x.shape[2:]):
        return x
    is_old = call.opset < 11
    way = call.text("coordinate_transformation_mode", "asymmetric" if is_old else "half_pixel")
    mode, is_smooth = call.text("mode", "nearest"), call.integer("antialias")
    if mode == "nearest" and not is_smooth:
        rounding = call.text("nearest_mode", "floor" if is_old else "round_prefer_floor")
        sides = zip(x.shape[2:], sizes, scales, strict=True)
        places = [_nearest(call, way, rounding, *side) for side in sides]
        return _picked(call, x, places)
    is_whole = all(
        math.isclose(scale * size, new, rel_tol=1e-6) and (new > 1 or way == "asymmetric")
        for size, new, scale in zip(x.shape[2:], sizes, scales, strict=True)
    )
    if mode != "linear" or is_smooth or way not in _LINEAR or not is_whole:
        raise call.error(
            f"the nearest pixel, or linear interpolation by one of {', '.join(_LINEAR)} to sizes "
            "that are the scales times what is there",
            f"{mode}, {way}, {list(x.shape[2:])} times {scales}, antialias={is_smooth}",
            "resize in one of these ways",
        )
    return _resized(call, "RESIZE_BILINEAR", x, sizes, _LINEAR[way])


def _sizes(call: Call, x: Value) -> tuple[list[int], list[float]]:
    """Returns the sizes of the new image, and their ratios to the old ones."""
    rank = len(x.shape)
    axes = call.integers("axes")
    axes = [*range(rank)] if axes is None else [call.axis(axis, rank) for axis in axes]
    if call.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise call.error("sizes as given", "an aspect ratio to keep", "export it with fixed sizes")
    number = 1 if call.opset < 11 else 2
    given = call.input(number)
    is_scaled = given is not None and 0 not in given.shape
    if is_scaled:
        numbers = call.weights(number, "its scales").reshape(-1).tolist()
    else:
        numbers = call.numbers(number + 1, "its sizes") or []
    if len(numbers) != len(axes):
        raise call.error(f"{len(axes)} scales or sizes", numbers, "it is damaged: export it again")
    sizes = scales = dict(zip(axes, numbers, strict=True))
    if is_scaled:
        sizes = {axis: math.floor(x.shape[axis] * scale) for axis, scale in scales.items()}
    else:
        scales = {axis: size / x.shape[axis] for axis, size in sizes.items()}
    kept = [axis for axis in (0, 1) if sizes.get(axis, x.shape[axis]) != x.shape[axis]]
    is_batch = kept == [0] and x.shape[0] == OPEN and sizes[0] == OPEN_SIZE
    new = [sizes.get(axis, x.shape[axis]) for axis in range(2, rank)]
    if (kept and not is_batch) or min(new) < 1:
        raise call.error(
            f"sizes of 1 or more, and batch and channels of {list(x.shape)} as they are",
            sizes,
            "resize images only",
        )
    return new, [scales.get(axis, 1.0) for axis in range(2, rank)]


def _nearest(call: Call, way: str, rounding: str, size: int, new: int, scale: float) -> Array:
    """Returns for each new pixel the nearest old one, along one direction."""
    pixels = np.arange(new)
    middles = (pixels + 0.5) / scale - 0.5
    ways = {
        "half_pixel": middles,
        "pytorch_half_pixel": middles if new > 1 else np.zeros(1),
        "tf_half_pixel_for_nn": (pixels + 0.5) / scale,
        "asymmetric": pixels / scale,
        "align_corners": pixels * ((size - 1) / max(new - 1, 1)),
    }
    roundings: dict[str, Callable[[Array], Array]] = {
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    if way not in ways or rounding not in roundings:
        raise call.error(
            f"one of {', '.join(ways)}, rounded by one of {', '.join(roundings)}",
            f"{way}, {rounding}",
            "resize in one of these ways",
        )
    return np.asarray(roundings[rounding](ways[way])).clip(0, size - 1).astype(np.int32)


def _picked(call: Call, x: Value, places: Sequence[Array]) -> Value:
    """Picks pixels, with the host's own operator if that picks the same."""
    sizes = [len(places_of) for places_of in places]
    for way in _HOSTS:
        taken = [
            _host_nearest(*way, size, new) for size, new in zip(x.shape[2:], sizes, strict=True)
        ]
        if all(map(np.array_equal, taken, places)):
            return _resized(call, "RESIZE_NEAREST_NEIGHBOR", x, sizes, way)
    for axis, places_of in enumerate(places, 2):
        x = pick(call, x, axis, places_of)
    return x


def _host_nearest(aligns: bool, halves: bool, size: int, new: int) -> Array:
    ends = (size - 1, new - 1) if aligns and new > 1 else (size, new)
    scale = np.float32(ends[0]) / np.float32(ends[1])
    found = (np.arange(new, dtype=np.float32) + np.float32(0.5 if halves else 0)) * scale
    return np.asarray(np.floor(found + 0.5 * aligns)).clip(0, size - 1).astype(np.int32)


def _resized(
    call: Call, kind: str, x: Value, sizes: Sequence[int], way: tuple[bool, bool]
) -> Value:
    image, channels = as_image(call.net, x), x.shape[1]
    whole = [1] * (2 - len(sizes)) + [*sizes]
    name = {"RESIZE_BILINEAR": "ResizeBilinearOptions"}.get(kind, "ResizeNearestNeighborOptions")
    options = schema.make_options(name, alignCorners=way[0], halfPixelCenters=way[1])
    inputs = [image, call.net.constant(whole)]
    made = call.net.op(kind, inputs, (x.shape[0], *whole, channels), options=options)
    return from_image(call.net, made, (x.shape[0], channels, *sizes))


def depth_to_space(call: Call) -> Value:
    x, block = call.value(), call.integer("blocksize")
    call.rank(x, 4)
    batch, channels, height, width = x.shape
    count = block * block
    if block < 1 or channels % count:
        raise call.error(f"channels for blocks of {block}", channels, "it is damaged: export it")
    left = channels // count
    if call.text("mode", "DCR") == "CRD":
        # Hosts have the places in a block before the channels.
        x = pick(call, x, 1, np.arange(channels).reshape(left, count).T.reshape(-1))
    stored_shape = (batch, height * block, width * block, left)
    return _blocks(call, "DEPTH_TO_SPACE", x, block, stored_shape)


def space_to_depth(call: Call) -> Value:
    x, block = call.value(), call.integer("blocksize")
    call.rank(x, 4)
    batch, channels, height, width = x.shape
    if block < 1 or height % block or width % block:
        raise call.error(f"blocks of {block} in the image", [height, width], "pad the image")
    stored_shape = (batch, height // block, width // block, channels * block * block)
    return _blocks(call, "SPACE_TO_DEPTH", x, block, stored_shape)


def _blocks(call: Call, kind: str, x: Value, block: int, stored_shape: tuple[int, ...]) -> Value:
    image = call.net.ordered(x, channels_last(4)).tensor
    name = {"DEPTH_TO_SPACE": "DepthToSpaceOptions"}.get(kind, "SpaceToDepthOptions")
    made = call.net.op(
        kind, [image], stored_shape, options=schema.make_options(name, blockSize=block)
    )
    return from_image(
        call.net, made, (stored_shape[0], stored_shape[3], stored_shape[1], stored_shape[2])
    )
