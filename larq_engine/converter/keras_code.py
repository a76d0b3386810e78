"""Finds parts of a Keras file's configuration that would run code, before Keras reads it.

Keras imports the module and calls the class or function that a configuration names, and a Lambda
contains Python's bytecode. So only names in Keras, larq and larq_engine.keras are accepted. Layers
must be on a list, and functions must be in modules that contain nothing else.
"""

import builtins
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from larq_engine.converter.errors import ConversionError

# Layers and markers whose content Python runs: bytecode, pickles, methods by name, whole programs.
_RUN_CODE = frozenset(
    [
        *("Lambda", "__lambda__", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "TFSMLayer"),
        *("ClassMethod", "InstanceMethod", "InstanceProperty", "TensorFlowOpLayer"),
    ]
)

# Layers of Keras 2 and 3 that compute what their configuration says and call nothing else.
_LAYERS = re.compile(
    r"Functional|Model|Sequential|Layer|Input|InputLayer|InputSpec|Wrapper|Identity|Masking"
    r"|Activation|ActivityRegularization|AddLoss|AddMetric|ELU|LeakyReLU|PReLU|ReLU|Softmax|ThresholdedReLU"
    r"|Add|Subtract|Multiply|Average|Maximum|Minimum|Concatenate|Dot"
    r"|Dense|EinsumDense|(?:Reversible)?Embedding|LocallyConnected[12]D"
    r"|(?:Depthwise|Separable)?Conv(?:olution)?[123]D(?:Transpose)?"
    r"|(?:Global)?(?:Average|Max)Pooling[123]D|(?:Global)?(?:Avg|Max)Pool[123]D"
    r"|Adaptive(?:Average|Max)Pooling[123]D|Flatten|Permute|RepeatVector|Reshape"
    r"|(?:Cropping|UpSampling|ZeroPadding)[123]D"
    r"|BatchNormalization(?:V[12])?|(?:Sync|RMS|Group|Layer|Spectral|Unit)\w*Normalization"
    r"|Normalization|(?:Alpha|Gaussian)?Dropout|SpatialDropout[123]D|GaussianNoise"
    r"|(?:Additive|MultiHead|GroupQuery)?Attention"
    r"|RNN|AbstractRNNCell|StackedRNNCells|SimpleRNN(?:Cell)?|(?:GRU|LSTM)(?:Cell)?(?:V[12])?"
    r"|CuDNN(?:GRU|LSTM)|ConvLSTM[123]D|Bidirectional|TimeDistributed"
    r"|CategoryEncoding|Discretization|HashedCrossing|Hashing|(?:Integer|String)Lookup"
    r"|TextVectorization|CenterCrop|Rescaling|Resizing|Random[A-Z]\w+|AugMix|AutoContrast|CutMix"
    r"|ContrastLimitedAdaptiveHistogramEqualization|Equalization|MaxNumBoundingBoxes|MixUp"
    r"|Pipeline|RandAugment|Solarization|MelSpectrogram|STFTSpectrogram"
)

# Layers that call a function of TensorFlow, which their configuration names.
_OPS = ("TFOpLambda", "SlicingOpLambda")

# Names in the configurations of layers and optimizers, often without a module's name.
_SETTINGS = re.compile(
    r"Zeros|Ones|Constant|(?:Orthogonal|Identity|STFT)(?:Initializer)?|VarianceScaling|TruncatedNormal"
    r"|Random(?:Normal|Uniform)|(?:Glorot|He|Lecun)(?:Normal|Uniform)"
    r"|L1|L2|L1L2|OrthogonalRegularizer|MaxNorm|MinMaxNorm|NonNeg|UnitNorm|RadialConstraint"
    r"|Adadelta|Adafactor|Adagrad|Adam|Adamax|AdamW|Ftrl|Lion|Muon|Nadam|RMSprop|SGD"
    r"|Lamb|MultiOptimizer|OptimizerMap|ScheduleFreeAdamW"
    r"|LossScaleOptimizer|(?:Cosine|Exponential|InverseTime|PiecewiseConstant|Polynomial)Decay"
    r"|CosineDecayRestarts"
    r"|Policy|PolicyV1|\w*DTypePolicy(?:Map)?"
)

# Keras makes only numbers, texts and shapes of these.
_VALUES = frozenset(
    [
        *("__tensor__", "__numpy__", "__bytes__", "__slice__", "__tuple__", "__ellipsis__"),
        *("__keras_tensor__", "TensorShape", "TypeSpec", "CompositeTensor"),
    ]
)

_PART = "layers|models|engine|activations|initializers|regularizers|constraints|optimizers|losses"
_PART += "|metrics|quantizers|ops|dtype_policies"
# Keras with the PyTorch backend has its own optimizers, and names their modules in a file.
_MODULE = re.compile(
    rf"(?:tf_keras|keras|tensorflow\.keras)(?:\.src)?(?:\.(?:{_PART})(?:\.\w+)*)?"
    r"|keras\.src\.backend\.torch\.optimizers(?:\.torch_\w+)?"
    rf"|larq\.(?:{_PART})(?:\.\w+)*|larq_engine\.keras(?:\.\w+)*"
)
_LAYER_MODULES = re.compile(
    r"(?:tf_keras|keras|tensorflow\.keras)(?:\.src)?(?:\.(?:layers|models|engine)(?:\.\w+)*)?"
)
_FUNCTION_MODULES = re.compile(
    r"activations|initializers|regularizers|constraints|losses|metrics|quantizers|schedules"
    r"|larq_engine\.keras"
)

# TensorFlow's functions that compute, and neither load, save nor call anything.
_SYMBOL = re.compile(
    r"(?:compat\.v1\.)?(?:(?:math|nn|linalg|image|signal|bitwise|random|__operators__)\.\w+"
    r"|abs|add|add_n|argmax|argmin|argsort|batch_to_space|boolean_mask|broadcast_to|cast|ceil"
    r"|clip_by_norm|clip_by_value|concat|constant|convert_to_tensor|cos|cumsum|debugging\.check\w+"
    r"|depth_to_space|divide|einsum|equal|exp|expand_dims|eye|fill|floor|floordiv|gather|gather_nd"
    r"|greater|greater_equal|identity|less|less_equal|log|logical_\w+|matmul|maximum|minimum"
    r"|multiply|negative|nn|norm|not_equal|one_hot|ones|ones_like|pad|pow|quantization\.fake\w+"
    r"|range|rank|realdiv|reduce_\w+|repeat|reshape|reverse|roll|round|shape|sigmoid|sign|sin|size"
    r"|slice|sort|space_to_batch|space_to_depth|split|sqrt|square|squeeze|stack|stop_gradient"
    r"|strided_slice|subtract|tanh|tensordot|tile|transpose|truediv|unstack|where|zeros|zeros_like)"
)


def find_code(config: Any, is_registered: Callable[[str], bool]) -> Iterator[str]:
    """Yields a description of each part that would run code, with the layer that it is in.

    Args:
        config: A model's configuration, as JSON's reader returns it.
        is_registered: Tells whether this process has registered something with Keras by this name.
            Keras then takes that instead of what a module has.
    """
    waiting: list[tuple[Any, str]] = [(config, "")]
    while waiting:
        value, layer = waiting.pop()
        if isinstance(value, list):
            waiting += [(item, layer) for item in value]
        elif isinstance(value, dict):
            layer = _name(value) or layer
            if "class_name" in value and (problem := _problem(value, is_registered)):
                yield f"{problem}{f' in layer {layer!r}' if layer else ''}"
            waiting += [(item, layer) for item in value.values()]


def _name(value: dict[str, Any]) -> str:
    config = value.get("config")
    names = (holder.get("name") for holder in (config, value) if isinstance(holder, dict))
    return next((name for name in names if isinstance(name, str)), "")


def _problem(value: dict[str, Any], is_registered: Callable[[str], bool]) -> str:
    """Returns the code that Keras would run for this, other than its own; "" if none."""
    kind, module = value["class_name"], value.get("module")
    registered = value.get("registered_name", kind)
    config = value.get("config")
    if isinstance(kind, str) and kind in _VALUES:
        return ""
    if kind == "__typespec__":
        kind, is_spec = value.get("spec_name"), True
    else:
        is_spec = False
    name = config if kind == "function" else kind
    if not isinstance(name, str) or not isinstance(module, (str, type(None))):
        return f"a name that is no text ({name!r})"
    # Keras looks for the registered name in the module, too.
    names = [text for text in (name, registered) if isinstance(text, str) and text != "function"]
    for text in names:
        last = text.rpartition(">")[2]
        if last in _RUN_CODE:
            return f"{text}, which is code"
        if problem := _layer_problem(last, config):
            return problem
    unknown = f"{module or 'Keras'}.{name}, which is no part of a Keras model"
    if kind == "function" and is_registered(name):
        return ""
    if "module" not in value:
        return "" if is_registered(name) or _is_known(name) else unknown
    if kind != "function" and is_registered(str(registered)):
        # Without a module, Keras would go by the other name.
        return "" if name == str(registered).rpartition(">")[2] or _is_known(name) else unknown
    if module is None:
        is_known = kind != "function" and all(_is_known(n.rpartition(">")[2]) for n in names)
    elif is_spec:
        is_known = module.startswith("tensorflow.") and all(n.endswith("Spec") for n in names)
    elif module == "builtins":
        is_known = kind == "function" and not any(hasattr(builtins, text) for text in names)
    else:
        is_known = _MODULE.fullmatch(module) is not None and all(
            _is_in(text.rpartition(">")[2], module) for text in names
        )
    return "" if is_known else unknown


def _is_known(name: str) -> bool:
    """Tells whether the name, without a module, is one of a part of Keras that only computes."""
    return name in _OPS or any(names.fullmatch(name) for names in (_LAYERS, _SETTINGS))


def _is_in(name: str, module: str) -> bool:
    if not name.isidentifier():
        return False
    if _LAYER_MODULES.fullmatch(module):
        return _is_known(name)
    return name[:1].isupper() or _FUNCTION_MODULES.search(module) is not None


def _layer_problem(kind: str, config: Any) -> str:
    """Returns why a layer of Keras might do more than its configuration says; "" if it does not."""
    if not isinstance(config, dict):
        return ""
    if kind in _OPS and not _SYMBOL.fullmatch(str(config.get("function"))):
        return f"tf.{config.get('function')}, which may do more than compute"
    vocabulary = config.get("vocabulary")
    if isinstance(vocabulary, str):
        return f"{kind}, which reads the file {vocabulary!r}"
    return ""


_PLACES_SHOWN = 5


def refuse_code(what: str, found: Iterable[str]) -> None:
    """Raises ConversionError with the code in a file, before any of it runs."""
    places = sorted(set(found))
    if places:
        rest = len(places) - _PLACES_SHOWN
        shown = "; ".join(places[:_PLACES_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
        raise ConversionError(
            f"{what}: expected a file that holds no code, got {shown}; nothing of it was run. If "
            "you trust who made the file, allow its code with --unsafe (in Python unsafe=True); "
            "or build the model in Python and call convert_keras_model"
        )
