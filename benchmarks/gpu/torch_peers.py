"""What PyTorch takes on this GPU for the layers and products that the engine is measured on.

    python -m benchmarks.gpu.torch_peers

Convolutions A to D by cuDNN in float16, channels last; products of 8192 x 8192 x 8192 in float16,
bfloat16 and int8, and of 8192 x 8192 x 512 in float16, which moves as many bytes and takes as many
clocks of the tensor cores as 8192 x 8192 x 8192 bits. Lines of JSON.
"""

import json
import statistics
from collections.abc import Callable

import torch

LAYERS = {"A": (56, 64), "B": (28, 128), "C": (14, 256), "D": (7, 512)}
BATCHES = (1, 8, 64, 256)
_REPETITIONS = 7
_BYTES_THAT_MISS = 256 << 20


def _seconds(calls: list[Callable[[], object]]) -> float:
    """The median time of a call; they take turns, on buffers of their own, in a graph."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    count = max(len(calls), 16)
    with torch.cuda.graph(graph):
        for i in range(count):
            calls[i % len(calls)]()
    times = []
    for _ in range(_REPETITIONS + 1):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3 / count)
    return statistics.median(times[1:])


def _convolution(size: int, channels: int, batch: int) -> float:
    conv = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False, device="cuda")
    conv = conv.half().to(memory_format=torch.channels_last)
    bytes_each = 4 * batch * size * size * channels
    copies = max(1, min(16, _BYTES_THAT_MISS // bytes_each))
    images = [
        torch.randn(batch, channels, size, size, device="cuda", dtype=torch.float16).to(
            memory_format=torch.channels_last
        )
        for _ in range(copies)
    ]
    return _seconds([lambda x=x: conv(x) for x in images])


def _product(depth: int, dtype: torch.dtype) -> float:
    rows = 8192
    if dtype == torch.int8:
        a = torch.randint(-1, 2, (rows, depth), device="cuda", dtype=dtype)
        b = torch.randint(-1, 2, (rows, depth), device="cuda", dtype=dtype).t()
        return _seconds([lambda: torch._int_mm(a, b)])
    a = torch.randn(rows, depth, device="cuda", dtype=dtype)
    b = torch.randn(depth, rows, device="cuda", dtype=dtype)
    return _seconds([lambda: a @ b])


def main() -> None:
    torch.backends.cudnn.benchmark = True
    with torch.inference_mode():
        for dtype in (torch.float16, torch.bfloat16, torch.int8):
            record = {"product": "8192x8192x8192", "type": str(dtype).removeprefix("torch.")}
            print(json.dumps(record | {"median_s": _product(8192, dtype)}), flush=True)
        twin = {"product": "8192x8192x512", "type": "float16"}
        print(json.dumps(twin | {"median_s": _product(512, torch.float16)}), flush=True)
        for name, (size, channels) in LAYERS.items():
            for batch in BATCHES:
                record = {"layer": name, "batch": batch, "type": "float16"}
                seconds = _convolution(size, channels, batch)
                print(json.dumps(record | {"median_s": seconds}), flush=True)


if __name__ == "__main__":
    main()
