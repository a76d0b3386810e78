"""Operators that only move elements make LiteRT's results without a host."""

import numpy as np
import pytest

from larq_engine.python import no_host
from tests.model_builder import ModelBuilder
from tests.no_host import check_equal, run_alone

_TYPES = [np.float32, np.int8, np.int32, np.int64, np.bool_, np.uint8]


def _data(rng, shape, dtype=np.float32):
    if dtype == np.float32:
        return rng.standard_normal(shape).astype(np.float32)
    return rng.integers(0, 2 if dtype == np.bool_ else 100, shape).astype(dtype)


def _model(kind, x, constants=(), outputs=1, **options) -> bytes:
    """Returns a model of one operator; the file's output shapes have only their rank."""
    builder = ModelBuilder()
    declared = builder.tensor(x.shape, x.dtype)
    numbers = [builder.constant(np.array(constant)) for constant in constants]
    rank = options.pop("rank", x.ndim)
    made = [builder.tensor((1,) * rank, x.dtype) for _ in range(outputs)]
    builder.builtin(kind, [declared, *numbers], made, **options)
    return builder.finish([declared], made)


def _ints(*values):
    return np.array(values, np.int32)


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((3, 5), (1, 0)),
        ((2, 3, 4), (2, 0, 1)),
        ((1, 5, 6, 7), (0, 3, 1, 2)),
        ((3, 4, 5, 6), (0, 2, 1, 3)),
        ((2, 2, 4, 5), (1, 0, 2, 3)),
        ((2, 3, 1, 4, 2), (4, 3, 2, 1, 0)),
        ((0, 3, 4), (1, 0, 2)),
    ],
)
def test_transpose(rng, shape, order, dtype):
    x = _data(rng, shape, dtype)
    if x.size == 0 or dtype == np.bool_:
        got = run_alone(_model("TRANSPOSE", x, [_ints(*order)]), [x])[0]
        np.testing.assert_array_equal(got, x.transpose(order))
    else:
        check_equal(_model("TRANSPOSE", x, [_ints(*order)]), [x])


@pytest.mark.parametrize(
    ("kind", "constants", "options"),
    [
        # The first ones only change the shape, which is no work between two operators.
        ("SQUEEZE", [], {"rank": 2}),
        ("EXPAND_DIMS", [_ints(2)], {"rank": 4}),
        ("RESHAPE", [_ints(7, 5)], {"rank": 2}),
        ("TRANSPOSE", [_ints(1, 0, 2)], {}),
        ("TRANSPOSE", [_ints(0, 2, 1)], {}),
        ("STRIDED_SLICE", [_ints(0, 1, 0), _ints(1, 5, 7), _ints(1, 1, 1)], {}),
        ("STRIDED_SLICE", [_ints(0, 0, 0), _ints(1, 4, 7), _ints(1, 1, 1)], {}),
        ("REVERSE_V2", [_ints(1)], {}),
        ("GATHER", [_ints(4, 3, 2, 1, 0)], {"axis": 1}),
        ("TILE", [_ints(2, 1, 1)], {}),
        ("BROADCAST_TO", [_ints(3, 5, 7)], {}),
    ],
)
def test_moves_between_two_operators(rng, kind, constants, options):
    builder = ModelBuilder()
    rank = options.pop("rank", 3)
    x, opposite = (builder.tensor((1, 5, 7)) for _ in range(2))
    moved, y = (builder.tensor((1,) * rank) for _ in range(2))
    builder.builtin("NEG", [x], [opposite])
    operands = [opposite, *(builder.constant(np.array(constant)) for constant in constants)]
    builder.builtin(kind, operands, [moved], **options)
    builder.builtin("NEG", [moved], [y])
    check_equal(builder.finish([x], [y]), [_data(rng, (1, 5, 7))])


def test_samples_that_a_transpose_exchanges(rng):
    """A batch is not computed in parts if an operator moves samples to other places."""
    x = _data(rng, (64, 64, 20, 20))
    check_equal(_model("TRANSPOSE", x, [_ints(1, 0, 2, 3)]), [x])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_expand_dims(rng, axis):
    x = _data(rng, (3, 5))
    check_equal(_model("EXPAND_DIMS", x, [_ints(axis)], rank=3), [x])


@pytest.mark.parametrize("axes", [[], [1], [0, 3], [-3]])
def test_squeeze(rng, axes):
    x = _data(rng, (1, 1, 5, 1))
    rank = np.squeeze(x, tuple(axes) or None).ndim
    check_equal(_model("SQUEEZE", x, rank=rank, squeezeDims=axes), [x])


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("shape", [(6, 4), (-1, 2, 6), (2, 3, 4, 1, 1)])
def test_reshape(rng, shape, dtype):
    x = _data(rng, (2, 3, 4), dtype)
    for content in (
        _model("RESHAPE", x, [_ints(*shape)], rank=len(shape)),
        _model("RESHAPE", x, rank=len(shape), newShape=list(shape)),
    ):
        np.testing.assert_array_equal(run_alone(content, [x])[0], x.reshape(shape))


def test_shapes_with_two_open_sizes_are_refused(rng):
    x = _data(rng, (2, 3, 4))
    with pytest.raises(ValueError, match="computes by itself, got RESHAPE"):
        run_alone(_model("RESHAPE", x, rank=2, newShape=[-1, -1]), [x])


@pytest.mark.parametrize("shape", [(3, 5), (4, 3, 5), (2, 4, 3, 1)])
def test_broadcast_to(rng, shape):
    x = _data(rng, (3, 1))
    check_equal(_model("BROADCAST_TO", x, [_ints(*shape)], rank=len(shape)), [x])


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
@pytest.mark.parametrize("repeats", [(1, 1, 1), (2, 3, 4), (1, 5, 1), (3, 1, 2)])
def test_tile(rng, repeats, dtype):
    x = _data(rng, (2, 3, 4), dtype)
    check_equal(_model("TILE", x, [_ints(*repeats)]), [x])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_unpack(rng, axis):
    x = _data(rng, (3, 4, 5))
    parts = x.shape[axis]
    check_equal(_model("UNPACK", x, outputs=parts, rank=2, axis=axis, num=parts), [x])


_SLICES = [
    ((0, 0, 0), (2, 3, 4), (1, 1, 1), {}),
    ((1, 0, 1), (3, 4, 5), (1, 2, 3), {}),
    ((-1, -2, 4), (-9, -9, 0), (-1, -1, -2), {}),
    ((2, 3, 4), (0, 0, 0), (-1, -2, -1), {"endMask": 7}),
    ((9, 9, 9), (1, 1, 1), (1, 1, 1), {"beginMask": 7}),
    ((1, 2, 0), (0, 0, 5), (1, 1, 2), {"shrinkAxisMask": 3}),
    ((-1, 0, 0), (0, 3, 5), (1, 1, 1), {"shrinkAxisMask": 1}),
    ((0, 1), (0, 3), (1, 1), {"ellipsisMask": 1}),
    ((1, 0, 0), (2, 0, 3), (1, 1, 2), {"ellipsisMask": 2}),
    ((1, 0, 0), (3, 0, 4), (1, 1, 2), {"newAxisMask": 2}),
    ((1,), (3,), (1,), {}),
    ((5, 0, 0), (9, 4, 5), (1, 1, 1), {}),
]


@pytest.mark.parametrize(("begin", "end", "strides", "options"), _SLICES)
def test_strided_slice(rng, begin, end, strides, options):
    x = _data(rng, (3, 4, 5))
    index = []
    for i, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        has = {name: mask >> i & 1 for name, mask in options.items()}
        if has.get("ellipsisMask"):
            index.append(Ellipsis)
        elif has.get("newAxisMask"):
            index.append(None)
        elif has.get("shrinkAxisMask"):
            index.append(first)
        else:
            low = None if has.get("beginMask") else first
            high = None if has.get("endMask") else last
            index.append(slice(low, high, step))
    expected = x[tuple(index)]
    constants = [_ints(*begin), _ints(*end), _ints(*strides)]
    content = _model("STRIDED_SLICE", x, constants, rank=expected.ndim, **options)
    (got,) = run_alone(content, [x])
    np.testing.assert_array_equal(got, expected)
    if expected.size:
        check_equal(content, [x])


@pytest.mark.parametrize(
    ("begin", "options"), [(-3, {}), (2, {"beginMask": 1}), (-8, {}), (6, {}), (1, {"endMask": 1})]
)
def test_a_slice_of_a_length(rng, begin, options):
    """With `offset`, the end is a distance from where the slice begins."""
    x = _data(rng, (8,))
    content = _model("STRIDED_SLICE", x, [_ints(begin), _ints(3), _ints(1)], offset=True, **options)
    check_equal(content, [x])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("indices", [[0], [2, 0, 2, 1], 1])
def test_gather(rng, indices, axis):
    x = _data(rng, (3, 4, 5))
    rank = 3 - (np.ndim(indices) == 0)
    content = _model("GATHER", x, [np.array(indices, np.int32)], rank=rank, axis=axis)
    check_equal(content, [x])


def test_samples_that_a_gather_exchanges(rng):
    x = _data(rng, (64, 32, 20, 20))
    order = rng.permutation(64).astype(np.int32)
    check_equal(_model("GATHER", x, [order], axis=0), [x])


@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("axes", [(0,), (1,), (-1,), (1, 2), (0, 2)])
def test_reverse(rng, axes, dtype):
    x = _data(rng, (3, 4, 5), dtype)
    content = _model("REVERSE_V2", x, [np.array(axes, np.int32)])
    for threads in (1, 2):
        np.testing.assert_array_equal(run_alone(content, [x], threads)[0], np.flip(x, axes))
    if len(axes) == 1 and dtype != np.int8:
        check_equal(content, [x])


@pytest.mark.parametrize("op", ["PAD", "PADV2"])
def test_pads_of_whole_numbers(rng, op):
    value = [np.array(-7, np.int32)] if op == "PADV2" else []
    for shape in [(5,), (3, 4), (17, 3, 2, 6), (0, 4)]:
        x = _data(rng, shape, np.int32)
        pads = rng.integers(0, 4, (x.ndim, 2)).astype(np.int32)
        content = _model(op, x, [pads, *value])
        expected = np.pad(x, pads, constant_values=-7 if value else 0)
        for threads in (1, 2):
            np.testing.assert_array_equal(run_alone(content, [x], threads)[0], expected)
        if x.size:
            check_equal(content, [x])


@pytest.mark.parametrize("mode", [0, 1])
def test_mirror_pad(rng, mode):
    x = _data(rng, (2, 4, 5))
    pads = np.array([[0, 0], [3, 2], [1, 4]], np.int32)
    check_equal(_model("MIRROR_PAD", x, [pads], mode=mode), [x])


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int32])
@pytest.mark.parametrize("kind", ["DEPTH_TO_SPACE", "SPACE_TO_DEPTH"])
def test_blocks(rng, kind, dtype):
    x = _data(rng, (3, 4, 6, 12), dtype)
    check_equal(_model(kind, x, blockSize=2), [x])


@pytest.mark.parametrize(("align", "centers"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("size", [(4, 6), (9, 5), (3, 1), (8, 12)])
def test_resize_nearest(rng, size, align, centers):
    x = _data(rng, (2, 4, 6, 3))
    content = _model(
        "RESIZE_NEAREST_NEIGHBOR",
        x,
        [_ints(*size)],
        alignCorners=align,
        halfPixelCenters=centers,
    )
    check_equal(content, [x])


def _join(kind, arrays, rank, **options) -> bytes:
    builder = ModelBuilder()
    inputs = [builder.tensor(array.shape, array.dtype) for array in arrays]
    y = builder.tensor((1,) * rank, arrays[0].dtype)
    builder.builtin(kind, inputs, [y], **options)
    return builder.finish(inputs, [y])


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int32, np.int64])
@pytest.mark.parametrize("axis", [0, 1, 2, -2])
def test_concatenation(rng, axis, dtype):
    shapes = [[3, 4, 5] for _ in range(3)]
    for size, shape in zip((1, 2, 7), shapes, strict=True):
        shape[axis] = size
    arrays = [_data(rng, shape, dtype) for shape in shapes]
    check_equal(_join("CONCATENATION", arrays, 3, axis=axis), arrays)


def test_concatenation_of_many(rng):
    arrays = [_data(rng, (2, 3, 5)) for _ in range(64)]
    check_equal(_join("CONCATENATION", arrays, 3, axis=2), arrays)
    with pytest.raises(ValueError, match="got CONCATENATION"):
        run_alone(_join("CONCATENATION", [*arrays, arrays[0]], 3, axis=2), [])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_pack(rng, axis):
    arrays = [_data(rng, (3, 4)) for _ in range(5)]
    check_equal(_join("PACK", arrays, 3, axis=axis, valuesCount=5), arrays)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (lambda x: _model("TRANSPOSE", x, [_ints(0, 0, 1)]), "TRANSPOSE"),
        (lambda x: _model("TRANSPOSE", x, [_ints(0, 1)]), "TRANSPOSE"),
        (lambda x: _model("GATHER", x, [_ints(0)], batchDims=1), "GATHER"),
        (lambda x: _model("TILE", x, [_ints(-1, 1, 1)]), "TILE"),
        (lambda x: _model("PAD", x.astype(np.int32), [_ints(0, -1, 0, 0, 0, 0)]), "PAD"),
        (lambda x: _model("PADV2", x.astype(np.int32), [_ints(*[0] * 6), x[0, 0]]), "PADV2"),
        (lambda x: _model("SPACE_TO_DEPTH", x, blockSize=0), "SPACE_TO_DEPTH"),
        (lambda x: _model("STRIDED_SLICE", x, [_ints(0)] * 2 + [_ints(0)]), "STRIDED_SLICE"),
        (lambda x: _join("PACK", [x, x], 4, axis=0, valuesCount=3), "PACK"),
    ],
)
def test_forms_that_are_refused(rng, content, text):
    x = _data(rng, (2, 3, 4))
    with pytest.raises(ValueError, match=f"computes by itself, got {text} 't"):
        no_host.Interpreter(model_content=content(x))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (lambda x: _model("GATHER", x, [_ints(3)], axis=1), "an index 3 along axis 1"),
        (lambda x: _model("GATHER", x, [_ints(0)], axis=3), "an axis 3"),
        (lambda x: _model("UNPACK", x, outputs=2, rank=2, axis=1, num=2), "2 parts along axis 1"),
        (lambda x: _model("SQUEEZE", x, rank=2, squeezeDims=[0]), "dimensions of 1 to remove"),
        (
            lambda x: _model("RESIZE_NEAREST_NEIGHBOR", x[..., None], [_ints(1 << 25, 1)]),
            "at most 16777216 places along an axis, got 33554432",
        ),
        (lambda x: _model("BROADCAST_TO", x, [_ints(5, 3, 4)]), "dimensions of 1 or of"),
        (lambda x: _model("REVERSE_V2", x, [_ints(3)]), "an axis 3"),
        (
            lambda x: _model("MIRROR_PAD", x, [np.array([[2, 0], [0, 0], [0, 0]], np.int32)]),
            "a size that can be mirrored along axis 0",
        ),
        (
            lambda x: _model(
                "STRIDED_SLICE", x, [_ints(2), _ints(3), _ints(1)], rank=2, shrinkAxisMask=1
            ),
            "an index 2",
        ),
        (lambda x: _join("CONCATENATION", [x, x[:, :2]], 3, axis=0), "joined along axis 0"),
    ],
)
def test_sizes_that_are_refused(rng, content, text):
    x = _data(rng, (2, 3, 4))
    with pytest.raises(ValueError, match=text):
        no_host.Interpreter(model_content=content(x)).allocate_tensors()
