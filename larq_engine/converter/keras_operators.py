"""The list of TensorFlow's operators that only compute.

It lists what may run, so that an operator of a later TensorFlow is refused until somebody has
looked at it. Most operators need no entry: an operator without a state, a text or a function cannot
name a file, an address or anything in Python.
"""

import functools
import re
from typing import Any

# Names of attributes whose texts say how to compute.
_TEXTS = frozenset(
    [
        *("activation_mode", "bad_indices_policy", "config", "config_proto", "data_format"),
        *("dst_format", "equation", "executor_type", "fill", "fill_mode", "frame_name"),
        *("fused_ops", "interpolation", "kernel_type", "message", "noise", "padding"),
        *("placeholder", "row_partition_types", "src_format", "template"),
    ]
)

# Operators that have a state, call functions of the same file or work on texts.
_ALLOWED = re.compile(
    r"(?:Stateful)?PartitionedCall|(?:Stateless)?(?:If|While|Case)"
    r"|VarHandleOp|VarIsInitializedOp|ReadVariableOp|DisableCopyOnRead|DestroyResourceOp"
    r"|Assign(?:Add|Sub)?VariableOp|Variable(?:V2|Shape)?|Empty|GuaranteeConst"
    r"|Resource(?:Gather(?:Nd)?|Scatter\w+|Apply\w+|SparseApply\w+|StridedSliceAssign|CountUpTo)"
    r"|(?:Anonymous)?(?:Mutable)?(?:Dense)?HashTable(?:OfTensors)?(?:V2)?|InitializeTable(?:V2)?"
    r"|LookupTable(?:Find|Insert|Remove|Size|Export|Import)(?:V2)?"
    r"|TensorArray\w*|Stack(?:Push|Pop|Close)?(?:V2)?|Assert|CheckNumerics(?:V2)?|Print|Timestamp"
    r"|Random(?:Uniform|UniformInt|StandardNormal|Shuffle|Gamma|Poisson|PoissonV2)"
    r"|Multinomial|TruncatedNormal|ParameterizedTruncatedNormal|StatelessRandomGetAlg"
    r"|Stateful(?:Uniform|UniformInt|UniformFullInt|StandardNormal|StandardNormalV2"
    r"|TruncatedNormal|RandomBinomial)|NonDeterministicInts|Rng(?:ReadAnd)?Skip"
    r"|CudnnRNN(?:Backprop)?(?:V2|V3)?|(?:Static)?Regex(?:Replace|FullMatch)|String[A-Z]\w+|Substr|AsString"
    r"|ReduceJoin|UnsortedSegmentJoin|Unicode\w+|Fingerprint|RaggedCross|ShardedFilename"
    r"|Decode(?:Raw|PaddedRaw|Base64|Compressed|CSV|Image|Jpeg|AndCropJpeg|Png|Bmp|Gif|Wav|WebP)"
    r"|Encode(?:Base64|Jpeg)|ExtractJpegShape|ParseTensor"
    r"|Parse(?:Single)?(?:Sequence)?Example(?:V2)?"
    r"|(?:Scalar|Histogram|Image|Audio|Tensor|Merge)Summary(?:V2)?"
)
_TEXT_TYPES = ("string", "list(string)", "func", "list(func)")


def only_computes(node: Any) -> bool:
    """Tells whether a node (`NodeDef`) can only compute when it runs."""
    if node.op == "PrintV2":
        return not node.attr["output_stream"].s.startswith(b"file:")
    return _computes(node.op)


@functools.cache
def _computes(name: str) -> bool:
    from tensorflow.python.framework import dtypes, op_def_registry

    known = op_def_registry.get(name)
    # TensorFlow runs no operator that it does not know; functions of the file are checked
    # elsewhere.
    if known is None or _ALLOWED.fullmatch(name):
        return True
    has_text = any(
        attribute.type in _TEXT_TYPES
        and attribute.name not in _TEXTS
        and not attribute.allowed_values.list.s
        for attribute in known.attr
    )
    takes_text = any(given.type == dtypes.string.as_datatype_enum for given in known.input_arg)
    return not (known.is_stateful or has_text or takes_text)
