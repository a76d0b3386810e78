"""Makes profiles for tests."""

import hashlib
import json
from typing import Any

from larq_engine.converter import schema
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import parse_profile


def fields() -> dict[str, Any]:
    """Returns a small whole profile: two operators, one after the other, on a host and a device."""

    def measured(ops: list[int], device: str, median: float) -> dict[str, Any]:
        return {
            "ops": ops,
            "batch": 1,
            "device": device,
            "threads": 1,
            "kernel": f"of {device}",
            "seconds": {"median": median, "q1": median / 2, "q3": median * 2, "runs": 9},
            "joules": None,
            "limit_seconds": median / 10,
        }

    return {
        "larq_engine_profile": 1,
        "engine": "1.2.3",
        "model": {"name": "small.tflite", "sha256": "ab" * 32, "bytes": 1000},
        "machine": {"cpu": "a CPU", "cores": 2},
        "values": [
            {"id": 0, "name": "in", "bytes": {"1": 1000}, "kind": "input"},
            {"id": 1, "name": "mid", "bytes": {"1": 500}, "kind": "inner"},
            {"id": 2, "name": "out", "bytes": {"1": 40}, "kind": "output"},
        ],
        "ops": [
            {
                "id": number,
                "node": number + 3,
                "op": kind,
                "layer": f"layer{number}",
                "name": f"value{number + 1}",
                "macs": {"1": 1000},
                "inputs": [number],
                "outputs": [number + 1],
            }
            for number, kind in enumerate(("LceQuantize", "LceBconv2d"))
        ],
        "devices": [
            {"name": "cpu", "title": "larq_engine", "memory": "host"},
            {"name": "cuda", "title": "a GPU", "memory": "cuda"},
        ],
        "links": [
            {
                "from": source,
                "to": target,
                "seconds": 1e-6,
                "bytes_per_second": 1e9,
                "joules_per_byte": None,
            }
            for source, target in (("host", "cuda"), ("cuda", "host"))
        ],
        "measurements": [
            measured([0], "cpu", 1e-5),
            measured([1], "cpu", 2e-4),
            measured([0, 1], "cpu", 2e-4),
            measured([1], "cuda", 1e-5),
        ],
        "totals": [{"batch": 1, "device": "cpu", "threads": 1, "seconds": {"median": 2.1e-4}}],
        "energy": "not available: no counters",
    }


def encoded(content: Any) -> bytes:
    """Returns the bytes of a file with these fields."""
    return json.dumps(content).encode()


def profile() -> Profile:
    """Reads the small profile."""
    return parse_profile(encoded(fields()))


def profile_of(model: bytes) -> dict[str, Any]:
    """Makes up costs of each operator of the model's main graph."""
    graph = schema.read(model).graphs[0]
    ids: dict[Any, int] = {}
    ops: list[dict[str, Any]] = []
    for tensor in graph.inputs:
        ids[tensor] = len(ids)
    for node, op in enumerate(graph.ops):
        read = [ids[tensor] for tensor in op.inputs if tensor in ids]
        for tensor in op.outputs:
            ids[tensor] = len(ids)
        made = [ids[tensor] for tensor in op.outputs]
        ops.append(
            {"id": node, "node": node, "op": op.kind, "inputs": read, "outputs": made}
            | {"macs": {"1": 1000}, "layer": "", "name": op.outputs[0].name}
        )
    kinds = dict.fromkeys(graph.inputs, "input") | dict.fromkeys(graph.outputs, "output")
    return {
        "larq_engine_profile": 1,
        "engine": "1",
        "model": {"name": "m", "sha256": hashlib.sha256(model).hexdigest(), "bytes": len(model)},
        "values": [
            {"id": number, "name": t.name, "bytes": {"1": 100}, "kind": kinds.get(t, "inner")}
            for t, number in ids.items()
        ],
        "ops": ops,
        "devices": [
            {"name": "cpu", "title": "a", "memory": "host"},
            {"name": "host", "title": "b", "memory": "host"},
        ],
        "links": [],
        "measurements": [
            {"ops": [op["id"]], "batch": 1, "device": device, "threads": 1}
            | {"kernel": "reference", "seconds": {"median": 1e-6 * (1 + (op["id"] + n) % 2)}}
            for op in ops
            for n, device in enumerate(("cpu", "host"))
            if device == "cpu" or not op["op"].startswith("Lce")
        ],
    }


# Kernels of binarized convolutions, by device.
KERNELS = {"cpu": "reference", "cuda": "bconv2d_popc", "host": None}


def profile_with_gpu(model: bytes, seconds: dict[str, float]) -> dict[str, Any]:
    """Makes up costs with a GPU: `seconds` of convolutions by device; others are cheap on one."""
    content = profile_of(model)
    content["devices"].append({"name": "cuda", "title": "c", "memory": "cuda"})
    content["links"] = [
        {"from": a, "to": b, "seconds": 1e-6, "bytes_per_second": 1e9}
        for a, b in (("host", "cuda"), ("cuda", "host"))
    ]
    content["measurements"] = [
        {"ops": [op["id"]], "batch": 1, "device": device, "threads": 1}
        | {"kernel": KERNELS[device], "seconds": {"median": median}}
        for op in content["ops"]
        for device, median in (
            seconds if op["op"] == "LceBconv2d" else {_only(op["op"]): 1e-6}
        ).items()
    ]
    return content


def _only(kind: str) -> str:
    return "cpu" if kind.startswith("Lce") else "host"
