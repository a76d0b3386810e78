"""What in the configuration of a Keras file would run code, found before Keras reads it.

Keras imports the module and calls the class or function that a configuration names, and a Lambda
holds Python's bytecode. So names are followed into Keras, larq and larq_engine.keras only, there
not into layers that run what the file holds, and not into functions of other parts.
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
        *("ClassMethod", "InstanceMethod", "InstanceProperty"),
    ]
)

# What Keras makes of these are numbers, texts and shapes.
_VALUES = frozenset(
    [
        *("__tensor__", "__numpy__", "__bytes__", "__slice__", "__tuple__", "__ellipsis__"),
        *("__keras_tensor__", "TensorShape"),
    ]
)

_PART = "layers|models|engine|activations|initializers|regularizers|constraints|optimizers|losses"
_PART += "|metrics|quantizers|ops|dtype_policies"
_MODULE = re.compile(
    rf"(?:tf_keras|keras|tensorflow\.keras)(?:\.src)?(?:\.(?:{_PART})(?:\.\w+)*)?"
    rf"|larq\.(?:{_PART})(?:\.\w+)*|larq_engine\.keras(?:\.\w+)*"
)
_OF_FUNCTIONS = re.compile(
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
    """Yields what would run code, with the layer in which it is.

    Args:
        config: What JSON's reader makes of a model's configuration.
        is_registered: Whether this process has registered something with Keras by this name, which
            Keras then takes in place of what a module has.
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
    """What running Keras on this would execute beside Keras itself; "" if nothing."""
    kind, module = value["class_name"], value.get("module")
    registered = value.get("registered_name")
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
    runs = [text for text in names if text.rpartition(">")[2] in _RUN_CODE]
    if runs:
        return f"{runs[0]}, which is code"
    if problem := _layer_problem(name, config):
        return problem
    if module is None or is_registered(name if kind == "function" else str(registered)):
        return ""
    if is_spec:
        is_known = module.startswith("tensorflow.") and all(n.endswith("Spec") for n in names)
    elif module == "builtins":
        is_known = kind == "function" and not any(hasattr(builtins, text) for text in names)
    else:
        is_known = _MODULE.fullmatch(module) is not None and all(
            _is_class_or_listed(text.rpartition(">")[2], module) for text in names
        )
    return "" if is_known else f"{module}.{name}, which is no part of a Keras model"


def _is_class_or_listed(name: str, module: str) -> bool:
    if not name.isidentifier():
        return False
    return name[:1].isupper() or _OF_FUNCTIONS.search(module) is not None


def _layer_problem(kind: str, config: Any) -> str:
    """Layers of Keras that do what their configuration says."""
    if not isinstance(config, dict):
        return ""
    if kind == "TFOpLambda" and not _SYMBOL.fullmatch(str(config.get("function"))):
        return f"tf.{config.get('function')}, which may do more than compute"
    if kind == "TensorFlowOpLayer" and CODE_OPERATORS.search(str(config.get("node_def"))):
        return "an operator of TensorFlow that runs Python or reaches files"
    vocabulary = config.get("vocabulary")
    if isinstance(vocabulary, str):
        return f"{kind}, which reads the file {vocabulary!r}"
    return ""


# TensorFlow's operators that call Python or reach files or the network.
CODE_OPERATORS = re.compile(
    r"PyFunc|\b(?:ReadFile|WriteFile|MatchingFiles|Save\w*|MergeV2Checkpoints|Debug\w+|Rpc\w+)\b"
    r"|Dataset|Reader|Summary"
)

_PLACES_SHOWN = 5


def refuse_code(what: str, found: Iterable[str]) -> None:
    """Raises ConversionError that names the code in a file, before any of it runs."""
    places = sorted(set(found))
    if places:
        rest = len(places) - _PLACES_SHOWN
        shown = "; ".join(places[:_PLACES_SHOWN]) + (f"; and {rest} more" if rest > 0 else "")
        raise ConversionError(
            f"{what}: expected a file that holds no code, got {shown}; nothing of it was run. If "
            "you trust who made the file, allow its code with --unsafe (in Python unsafe=True); "
            "or build the model in Python and call convert_keras_model"
        )
