"""The engines that run in the page.

`runtime` of a contender is the name of a module in page/engines.
"""

from __future__ import annotations

from benchmarks.contenders import OURS, Contender

OURS_IN_PAGE = Contender("larq_engine in the page", "larq_engine_in_page", "binary")
LITERT_FLOAT32 = Contender("LiteRT.js f32", "litert", "float32")
LITERT_INT8 = Contender("LiteRT.js int8", "litert", "int8")
ONNX_FLOAT32 = Contender("ONNX Runtime Web f32", "onnxruntime", "onnx_float32")
ONNX_INT8 = Contender("ONNX Runtime Web int8", "onnxruntime", "onnx_int8")

PEERS = (LITERT_FLOAT32, LITERT_INT8, ONNX_FLOAT32, ONNX_INT8)


def contenders(threads: int) -> tuple[Contender, ...]:
    """Returns the contenders for a number of threads; the page's own thread can have no others."""
    return (OURS, *((OURS_IN_PAGE,) if threads == 1 else ()), *PEERS)
