"""larq_engine: runs binarized TensorFlow Lite models in stock LiteRT and TensorFlow Lite.

Importing this package imports NumPy and the standard library only; the host runtime (LiteRT,
TensorFlow or tflite_runtime) is imported when the first interpreter or delegate is made.
"""

from pathlib import Path

from larq_engine import testing
from larq_engine.python.host import load_delegate
from larq_engine.python.interpreter import Interpreter
from larq_engine.python.library import delegate_path

__version__ = Path(__file__).with_name("version.txt").read_text(encoding="utf-8").strip()

__all__ = ["Interpreter", "__version__", "delegate_path", "load_delegate", "testing"]
