"""Times PyTorch on this GPU, on the layers and products that the engine is measured on.

    python -m benchmarks.gpu.torch_peers
    python -m benchmarks.gpu.torch_peers --products=1024,8192

The first form runs convolutions A to D by cuDNN in float16, channels last. The second form runs
products of N x N x N in bfloat16 and int8, and of N x N x N / 16 in float16, in turns. The last one
moves as many bytes, and takes as many clocks of the tensor cores, as N x N x N bits. Prints lines
of JSON.
"""

import argparse
import functools
import json
import statistics
from collections.abc import Callable

import torch

LAYERS = {"A": (56, 64), "B": (28, 128), "C": (14, 256), "D": (7, 512)}
BATCHES = (1, 8, 64, 256)
_REPETITIONS = 7
_BYTES_THAT_MISS = 256 << 20


class _Graph:
    """A graph of calls, which take turns, each on buffers of its own."""

    def __init__(self, calls: list[Callable[[], object]], count: int) -> None:
        for call in calls:
            call()
        torch.cuda.synchronize()
        self._calls = calls  # keeps their buffers alive: a graph has only the addresses
        self._count = count
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            for i in range(count):
                calls[i % len(calls)]()

    def run(self) -> float:
        """Replays the graph, and returns the seconds of one call."""
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        self._graph.replay()
        end.record()
        torch.cuda.synchronize()
        return float(begin.elapsed_time(end)) * 1e-3 / self._count


def _medians(graphs: list[_Graph]) -> list[float]:
    """Returns the median time of each graph; the graphs take turns."""
    rounds = [[graph.run() for graph in graphs] for _ in range(_REPETITIONS + 1)]
    return [statistics.median(times) for times in zip(*rounds[1:], strict=True)]


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
    return _medians([_Graph([functools.partial(conv, x) for x in images], max(len(images), 16))])[0]


def _product(size: int, depth: int, dtype: torch.dtype) -> Callable[[], object]:
    if dtype == torch.int8:
        a = torch.randint(-1, 2, (size, depth), device="cuda", dtype=dtype)
        b = torch.randint(-1, 2, (size, depth), device="cuda", dtype=dtype).t()
        return lambda: torch._int_mm(a, b)
    a = torch.randn(size, depth, device="cuda", dtype=dtype)
    b = torch.randn(depth, size, device="cuda", dtype=dtype)
    return lambda: a @ b


def _products(size: int) -> None:
    kinds = [(size, torch.bfloat16), (size, torch.int8), (size // 16, torch.float16)]
    count = max(1, min(64, 4 * 10**12 // size**3))
    graphs = [_Graph([_product(size, depth, dtype)], count) for depth, dtype in kinds]
    for (depth, dtype), seconds in zip(kinds, _medians(graphs), strict=True):
        record = {"product": f"{size}x{size}x{depth}", "type": str(dtype).removeprefix("torch.")}
        print(json.dumps(record | {"median_s": seconds}), flush=True)


def _convolutions() -> None:
    for name, (size, channels) in LAYERS.items():
        for batch in BATCHES:
            record = {"layer": name, "batch": batch, "type": "float16"}
            seconds = _convolution(size, channels, batch)
            print(json.dumps(record | {"median_s": seconds}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.torch_peers", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--products",
        default="",
        metavar="N,...",
        help="products of NxN matrices in place of the convolutions",
    )
    args = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    with torch.inference_mode():
        if not args.products:
            _convolutions()
        for size in map(int, filter(None, args.products.split(","))):
            _products(size)


if __name__ == "__main__":
    main()
