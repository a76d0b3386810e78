"""Writes a file with every option that the engine reads: `python -m tests.model_file.file_values`.

Beside it goes what LiteRT's own schema module reads in it, with which `file_values_test.cc`
compares what the engine reads. Each option has a value other than its default in an operator
where all others have theirs, so that swapped fields are seen.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flatbuffers
from ai_edge_litert import schema_py_generated as schema

from tests.model_builder import OPTIONS, ModelBuilder

FILE = Path(__file__).with_name("file_values.tflite")
GOLDEN = Path(__file__).with_name("file_values.golden")

_CONTROL_FLOW_AND_STATES = {"CALL_ONCE", "IF", "WHILE", "UNIDIRECTIONAL_SEQUENCE_RNN"}
_RANDOM = {"RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM"}
READ = sorted(OPTIONS.keys() - _CONTROL_FLOW_AND_STATES - _RANDOM)

# The engine's names of the schema's fields; None for those with which it computes nothing.
NAMES: dict[str, str | None] = {
    "adjX": "transpose_left",
    "adjY": "transpose_right",
    "alignCorners": "align_corners",
    "alpha": "alpha",
    "approximate": "approximate",
    "asymmetricQuantizeInputs": "asymmetric_inputs",
    "axis": "axis",
    "batchDim": "batch_dimension",
    "batchDims": "batch_dims",
    "beginMask": "begin_mask",
    "beta": "beta",
    "bias": "bias",
    "blockSize": "block_size",
    "depthMultiplier": "depth_multiplier",
    "dilationHFactor": "dilation_height",
    "dilationWFactor": "dilation_width",
    "ellipsisMask": "ellipsis_mask",
    "endMask": "end_mask",
    "exclusive": "exclusive",
    "filterHeight": "filter_height",
    "filterWidth": "filter_width",
    "fusedActivationFunction": "activation",
    "halfPixelCenters": "half_pixel_centers",
    "inDataType": "input_type",
    "keepDims": "keep_dims",
    "keepNumDims": "keep_dims",
    "mode": "pad_mode",
    "newAxisMask": "new_axis_mask",
    "newShape": "new_shape",
    "num": "parts",
    "numSplits": "parts",
    "offset": "offset",
    "outDataType": "output_type",
    "outType": "output_type",
    "outputType": "output_type",
    "padding": "padding",
    "potScaleInt16": "pot_scale_int16",
    "quantSpec": None,
    "quantizedBiasType": None,  # the bias's tensor has it
    "radius": "radius",
    "reverse": "reverse",
    "seqDim": "sequence_dimension",
    "shrinkAxisMask": "shrink_axis_mask",
    "squeezeDims": "squeeze_dims",
    "strideH": "stride_height",
    "strideW": "stride_width",
    "valuesCount": "parts",
    "weightsFormat": "weights_format",
}


def _options_of(operator: str) -> Any:
    return getattr(schema, OPTIONS[operator] + "T")


def _fits(options: Any) -> bool:
    try:
        options.Pack(flatbuffers.Builder())
    except TypeError:
        return False
    return True


def _values(operator: str) -> Iterator[tuple[str, Any]]:
    """Yields a value for each option. Numbers are negative, and fill 32 bits where they may."""
    for number, (name, default) in enumerate(vars(_options_of(operator)()).items(), 1):
        if isinstance(default, bool):
            yield name, not default
        elif isinstance(default, int):
            options = _options_of(operator)()
            setattr(options, name, -70000 - number)
            yield name, -70000 - number if _fits(options) else -number
        elif isinstance(default, float):
            yield name, -number - 0.5
        elif name in ("container", "sharedName"):
            yield name, f"the {name}"
        else:
            yield name, [-1, 70000, number] if name != "quantSpec" else [number]


def model() -> bytes:
    """Builds the file: each operator with an option, with none, and with those of another."""
    builder = ModelBuilder()
    x, y = builder.tensor((1,), name="x"), builder.tensor((1,), name="y")
    for operator in READ:
        for name, value in _values(operator):
            builder.builtin(operator, [x], [y], **{name: value})
        builder.builtin(operator, [x], [y])
        for options, content in (("NONE", None), ("ExpOptions", schema.ExpOptionsT())):
            builder.builtin(operator, [x], [y])
            last = builder.graph.operators[-1]
            last.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            last.builtinOptions = content
    other = builder.subgraph()
    other.interface([], [other.tensor((1,), name="z")])
    builder.signature({"images": x}, {"labels": y})
    builder.signature({}, {"two words": 0, "": 0})
    builder.model.signatureDefs[1].subgraphIndex = 1
    builder.model.metadata = []
    for name in ("first", "larq_engine.placement"):
        entry = schema.MetadataT()
        entry.name = name
        entry.buffer = len(builder.model.buffers)
        builder.model.buffers.append(schema.BufferT())
        builder.model.metadata.append(entry)
    return builder.finish([x], [y])


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bool | int):
        return str(int(value))
    return "[" + ", ".join(str(number) for number in ([] if value is None else value)) + "]"


def _fields(options: Any) -> dict[str, str]:
    """Returns the options as text, by the engine's names."""
    if isinstance(options, schema.VarHandleOptionsT):
        names = (options.container or b"", options.sharedName or b"")
        return {"state": "/".join(name.decode() for name in names)}
    named = {NAMES[name]: _text(value) for name, value in vars(options).items()}
    return {name: value for name, value in named.items() if name is not None}


def _defaults() -> dict[str, str]:
    """Returns the schema's defaults. A name has the same one in all operators."""
    defaults = {"state": ""}
    for operator in READ:
        if operator == "VAR_HANDLE":
            continue
        for name, value in _fields(_options_of(operator)()).items():
            assert defaults.setdefault(name, value) == value, (operator, name)
    return defaults


def _joined(head: str, values: dict[str, str]) -> str:
    return " ".join([head, *(f"{name}={values[name]}" for name in sorted(values))])


def describe(content: bytes) -> Iterator[str]:
    """Returns what the schema's module reads in a file, of which defaults are left out."""
    operators = {number: name for name, number in vars(schema.BuiltinOperator).items()}
    file = schema.ModelT.InitFromPackedBuf(content, 0)
    defaults = _defaults()
    yield _joined("defaults", defaults)
    for operator in file.subgraphs[0].operators:
        name = operators[file.operatorCodes[operator.opcodeIndex].builtinCode]
        options = operator.builtinOptions
        if not isinstance(options, _options_of(name)):
            yield f"{name} has no options"
            continue
        fields = _fields(options)
        yield _joined(name, {k: v for k, v in fields.items() if v != defaults[k]})
    for signature in file.signatureDefs:
        yield f"signature {signature.signatureKey.decode()} of graph {signature.subgraphIndex}"
        for kind, entries in (("input", signature.inputs), ("output", signature.outputs)):
            for entry in entries or ():
                yield f"{kind} {entry.name.decode()}: {entry.tensorIndex}"
    for entry in file.metadata:
        yield f"metadata {entry.name.decode()}: {entry.buffer}"


def main() -> None:
    FILE.write_bytes(model())
    GOLDEN.write_text("".join(line + "\n" for line in describe(FILE.read_bytes())))


if __name__ == "__main__":
    main()
