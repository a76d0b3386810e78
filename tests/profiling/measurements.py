"""Makes files as larq_benchmark_model writes them, for tests."""

import json
import zlib
from collections.abc import Sequence
from typing import Any


def step(node: int, group: int, micros: Sequence[int], **more: Any) -> dict[str, Any]:
    """Makes a step of the engine, whose runs took these microseconds."""
    return {
        "op": "ANY",
        "node": node,
        "absorbed": [],
        "group": group,
        "device": "cpu",
        "kernel": "",
        "bytes": 0,
        "nanoseconds": [1000 * taken for taken in micros],
    } | more


def way(
    micros: Sequence[int],
    steps: Sequence[dict[str, Any]] = (),
    host: dict[int, float] | None = None,
    refusal: str = "",
    sources: dict[int, str] | None = None,
) -> dict[str, Any]:
    """Makes a way to run the model; `host` has the seconds of LiteRT's profiler by node."""
    operators = [
        {"node": node, "seconds": seconds, "source": (sources or {}).get(node, "")}
        for node, seconds in (host or {}).items()
    ]
    return {
        "nanoseconds": [1000 * taken for taken in micros],
        "steps": list(steps),
        "host": {"refusal": refusal, "operators": operators},
    }


def measured_fields(model: bytes) -> dict[str, Any]:
    """Makes up times of `small_model`, whose last operators are the host's."""
    ours = {"kernel": "a_row", "op": "LceBconv2d"}
    return {
        "larq_engine_measurements": 1,
        "engine": "1.2.3",
        "model": {"name": "small.tflite", "bytes": len(model), "crc32": zlib.crc32(model)},
        "machine": {
            "cpu": "a CPU",
            "architecture": "x86_64",
            "system": "Linux 6",
            "processors": 2,
            "isas": ["portable"],
            "kernels": ["a_row"],
        },
        "options": {"num_threads": 2, "kernel": "auto", "fuse": True, "device": "cpu"},
        "ways": {
            "fused": way(
                [100, 120, 140],
                [
                    step(1, 1, [1, 1, 1]),
                    step(2, 1, [10, 20, 30], **ours),
                    step(3, 1, [2, 2, 2]),
                    step(5, 5, [4, 4, 4], absorbed=[4]),
                    step(6, 6, [43, 43, 43], **ours),
                ],
                {0: 3e-6, 7: 0.0, 9: 1e-6},
                sources={7: "part of another"},
            ),
            "single": way(
                [200, 200, 200],
                [
                    *(step(node, node, [node, node, node]) for node in (1, 3, 4, 5)),
                    *(step(node, node, [7, 8, 9], **ours) for node in (2, 6)),
                ],
            ),
            "host": way(
                [400, 400, 400],
                [step(node, node, [100, 100, 100], **ours) for node in (2, 6)],
                {0: 1e-6, 3: 1e-6, 4: 0.0, 7: 0.0, 9: 2e-6},
            ),
        },
    }


def encoded(fields: dict[str, Any]) -> bytes:
    """Returns the bytes of a file with these fields."""
    return json.dumps(fields, indent=2).encode()
