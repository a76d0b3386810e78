"""Makes up profiles of a network with shortcuts on three devices. Nothing was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import parse_profile

DEVICES = [
    {"name": "cpu", "title": "larq_engine on a CPU", "memory": "host"},
    {"name": "host", "title": "a host with XNNPACK", "memory": "host"},
    {"name": "cuda", "title": "larq_engine on a GPU", "memory": "cuda"},
]
# Seconds of an image on each device, by operator.
_SECONDS = {
    "CONV_2D": {"host": 400e-6, "cuda": 30e-6},
    "MEAN": {"host": 20e-6, "cuda": 8e-6},
    "FULLY_CONNECTED": {"host": 60e-6, "cuda": 12e-6},
    "ADD": {"cpu": 15e-6, "host": 25e-6, "cuda": 6e-6},
    "LceQuantize": {"cpu": 8e-6, "cuda": 5e-6},
    "LceBconv2d": {"cpu": 120e-6, "cuda": 9e-6},
}
_KERNELS = {
    "LceBconv2d": {"cpu": ["bgemm_i32_8x8x512_avx512", "bgemm_i32_4x4x256_avx2"]},
}
_SLOWER = 1.6  # for each further kernel
BATCHES = (1, 8)


def residual_fields(blocks: int = 16) -> dict[str, Any]:
    """Returns the file's fields: a float convolution, blocks of binary ones, a classifier."""
    values: list[dict[str, Any]] = []
    ops: list[dict[str, Any]] = []

    def value(name: str, size: int, kind: str = "inner") -> int:
        sizes = {str(batch): size * batch for batch in BATCHES}
        values.append({"id": len(values), "name": name, "bytes": sizes, "kind": kind})
        return len(values) - 1

    def op(kind: str, layer: str, inputs: list[int], size: int, last: str = "inner") -> int:
        output = value(f"net/{layer}", size, last)
        ops.append(
            {
                "id": len(ops),
                "node": len(ops) + 2,
                "op": kind,
                "layer": layer,
                "name": f"net/{layer}",
                "macs": {str(batch): 11_500_000 * batch for batch in BATCHES}
                if kind in ("CONV_2D", "LceBconv2d")
                else {},
                "inputs": inputs,
                "outputs": [output],
            }
        )
        return output

    x = op("CONV_2D", "stem/conv", [value("image", 602_112, "input")], 802_816)
    for block in range(blocks):
        bits = op("LceQuantize", f"block_{block}/sign", [x], 25_088)
        y = op("LceBconv2d", f"block_{block}/conv", [bits], 802_816)
        x = op("ADD", f"block_{block}/add", [x, y], 802_816)
    x = op("MEAN", "pool", [x], 2048)
    op("FULLY_CONNECTED", "classifier", [x], 4000, "output")
    measurements = [
        entry for op in ops for batch in BATCHES for entry in _measure_op(op["id"], op["op"], batch)
    ]
    for block in range(blocks):
        run = [3 * block + 1, 3 * block + 2, 3 * block + 3]
        measurements.append(_measured(run, 1, "cpu", "fused", 130e-6, 40e-6))
    return {
        "larq_engine_profile": 1,
        "engine": "1.2.3",
        "model": {"name": "made-up.tflite", "sha256": "ab" * 32, "bytes": 4_200_000},
        "machine": {"cpu": "a made-up CPU", "cores": 2},
        "values": values,
        "ops": ops,
        "devices": [dict(device) for device in DEVICES],
        "links": [
            {"from": source, "to": target, "seconds": 9e-6, "bytes_per_second": 1.2e10}
            for source, target in (("host", "cuda"), ("cuda", "host"))
        ],
        "measurements": measurements,
        "totals": [
            {"batch": batch, "device": device, "threads": 1, "seconds": _timing(seconds * part)}
            for batch, part in ((1, 1.0), (8, 7.0))
            for device, seconds in (("cpu", 2.6e-3), ("host", 6e-3), ("cuda", 0.7e-3))
        ],
        "energy": "not available: no counters",
    }


def _measure_op(op: int, kind: str, batch: int) -> list[dict[str, Any]]:
    entries = []
    for device, seconds in _SECONDS[kind].items():
        kernels = _KERNELS.get(kind, {}).get(device, [f"{kind.lower()}_{device}"])
        for number, kernel in enumerate(kernels):
            median = seconds * batch**0.95 * _SLOWER**number
            entries.append(_measured([op], batch, device, kernel, median, median / 3))
    return entries


def _measured(
    ops: list[int], batch: int, device: str, kernel: str, median: float, limit: float
) -> dict[str, Any]:
    return {
        "ops": ops,
        "batch": batch,
        "device": device,
        "threads": 1,
        "kernel": kernel,
        "seconds": _timing(median),
        "joules": None,
        "limit_seconds": limit,
    }


def _timing(median: float) -> dict[str, Any]:
    return {"median": median, "q1": 0.93 * median, "q3": 1.12 * median, "runs": 30}


def placement_fields(profile: dict[str, Any]) -> dict[str, Any]:
    """Puts the stem and the end on the GPU, and the first half of the blocks on the CPU."""
    ops = profile["ops"]
    half = len(ops) // 2

    def choose(op: dict[str, Any]) -> dict[str, Any]:
        device = "cpu" if 1 <= op["id"] < half else "cuda"
        kernel = "bgemm_i32_4x4x256_avx2" if (device, op["op"]) == ("cpu", "LceBconv2d") else None
        reason = f"the least of all with its neighbours on {device}"
        return {
            "node": op["node"],
            "device": device,
            "kernel": kernel,
            "reason": reason,
            "elsewhere": [
                {"device": "cuda", "more": 61e-6, "unit": "s"},
                {"device": "host", "more": None, "unit": "s"},
            ]
            if device == "cpu"
            else [],
        }

    return {
        "larq_engine_placement": 1,
        "engine": "1.2.3",
        "model": {"sha256": profile["model"]["sha256"], "name": profile["model"]["name"]},
        "batch": 1,
        "threads": 1,
        "objective": "latency",
        "ops": [choose(op) for op in ops],
        "seconds": 1.5e-3,
        "joules": None,
        "bound": None,
        "way": "minimum cut",
        "alternatives": [
            {"name": "all on cuda", "batch": 1, "seconds": 1.7e-3, "joules": None},
            {"name": "greedy", "batch": 1, "seconds": 2.9e-3, "joules": None},
        ],
    }


def residual_profile(blocks: int = 16) -> Profile:
    return parse_profile(json.dumps(residual_fields(blocks)).encode())


def write_pair(folder: Path, profile: dict[str, Any] | None = None) -> tuple[Path, Path]:
    """Writes a profile and its placement; returns their files."""
    fields = residual_fields() if profile is None else profile
    files = folder / "profile.json", folder / "placement.json"
    for file, content in zip(files, (fields, placement_fields(fields)), strict=True):
        file.write_text(json.dumps(content), encoding="utf-8")
    return files
