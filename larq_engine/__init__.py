"""larq_engine: converts binarized networks and runs them in stock LiteRT and TensorFlow Lite.

Importing this package imports NumPy and the standard library only; the host (LiteRT,
TensorFlow or tflite_runtime) is imported when the first interpreter or delegate is made, and the
converter, the profiler, the placing and the report when one of their names is first used.
"""

import difflib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from larq_engine import testing, tflite
from larq_engine.python.about import about
from larq_engine.python.accelerator import environment
from larq_engine.python.hosts import load_delegate
from larq_engine.python.interpreter import Interpreter
from larq_engine.python.library import delegate_path

if TYPE_CHECKING:
    from larq_engine.converter.api import (
        conversion_report,
        convert_keras_model,
        convert_onnx,
        convert_saved_model,
        convert_tflite,
        convert_torch,
    )
    from larq_engine.converter.converted_model import ConvertedModel
    from larq_engine.converter.errors import ConversionError
    from larq_engine.converter.exported_weights import export_weights
    from larq_engine.converter.io_types import (
        modify_integer_quantized_model_io_type,
        strip_lcedequantize_ops,
    )
    from larq_engine.converter.report import ConversionReport
    from larq_engine.fpga.api import ExportedVerilog, export_verilog
    from larq_engine.micro.api import ExportedC, export_c
    from larq_engine.placing.api import place
    from larq_engine.profiling.profiler import profile
    from larq_engine.profiling.result import ProfileResult
    from larq_engine.reporting.api import report
    from larq_engine.web_export.api import ExportedWeb, export_web

__version__ = Path(__file__).with_name("version.txt").read_text(encoding="utf-8").strip()

# Modules of names that few programs use.
_ON_DEMAND = {
    "ConversionError": "converter.errors",
    "ConversionReport": "converter.report",
    "ConvertedModel": "converter.converted_model",
    "ExportedC": "micro.api",
    "ExportedVerilog": "fpga.api",
    "ExportedWeb": "web_export.api",
    "ProfileResult": "profiling.result",
    "conversion_report": "converter.api",
    "convert_keras_model": "converter.api",
    "convert_onnx": "converter.api",
    "convert_saved_model": "converter.api",
    "convert_tflite": "converter.api",
    "convert_torch": "converter.api",
    "export_c": "micro.api",
    "export_verilog": "fpga.api",
    "export_web": "web_export.api",
    "export_weights": "converter.exported_weights",
    "modify_integer_quantized_model_io_type": "converter.io_types",
    "place": "placing.api",
    "profile": "profiling.profiler",
    "report": "reporting.api",
    "strip_lcedequantize_ops": "converter.io_types",
}

__all__ = [
    "ConversionError",
    "ConversionReport",
    "ConvertedModel",
    "ExportedC",
    "ExportedVerilog",
    "ExportedWeb",
    "Interpreter",
    "ProfileResult",
    "__version__",
    "about",
    "conversion_report",
    "convert_keras_model",
    "convert_onnx",
    "convert_saved_model",
    "convert_tflite",
    "convert_torch",
    "delegate_path",
    "environment",
    "export_c",
    "export_verilog",
    "export_web",
    "export_weights",
    "load_delegate",
    "modify_integer_quantized_model_io_type",
    "place",
    "profile",
    "report",
    "strip_lcedequantize_ops",
    "testing",
    "tflite",
]


def __dir__() -> list[str]:
    return __all__  # the names on demand too, and not what this file imports for itself


def __getattr__(name: str) -> Any:
    if name not in _ON_DEMAND:
        raise AttributeError(f"module 'larq_engine' has no attribute {name!r}{_advise(name)}")
    module = importlib.import_module(f"larq_engine.{_ON_DEMAND[name]}")
    return getattr(module, name)


def _advise(name: str) -> str:
    """Returns the names that a user may have meant; "" if there is none."""
    if name.startswith("_"):  # Python itself asks for such names.
        return ""
    near = [known for known in __all__ if known.startswith(name)]
    near = near or difflib.get_close_matches(name, __all__)
    return f"; did you mean {', '.join(near)}?" if near else ""
