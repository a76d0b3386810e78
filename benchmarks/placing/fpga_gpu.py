"""What the FPGA-GPU paper's Table I lacks: `python -m benchmarks.placing.fpga_gpu`.

The paper's table has the gain of two boards over the GPU alone for one module of each of three
networks. With costs in the device files this would place them; the ratios alone decide nothing.
"""

from larq_engine.placing.device_file import read_device
from larq_engine.python.text_table import align_columns

FILES = ("fpga_gpu_jetson_tx2", "fpga_gpu_cyclone10gx")

# Module: (energy of the GPU alone / both, latency of the GPU alone / both), as published.
PUBLISHED = {
    "SqueezeNet, Fire": (1.34, 1.01),
    "MobileNetV2, bottleneck": (1.55, 1.26),
    "ShuffleNetV2, stage": (1.39, 1.35),
}


def main() -> None:
    """Prints the published ratios and what is missing to compute them."""
    rows = [[name, f"{energy}", f"{latency}"] for name, (energy, latency) in PUBLISHED.items()]
    titles = ["module", "energy, times less", "latency, times less"]
    print("\n".join(align_columns(titles, rows, titles[1:])))
    for name in FILES:
        device = read_device(name)
        print(f"\n{device.device.title}: {len(device.classes)} classes of operators have costs")
        for link in device.links:
            print(f"  {link.source} to {link.target}: {link.bytes_per_second / 1e9} GB/s")
        for missing in device.missing:
            print(f"  missing: {missing}")


if __name__ == "__main__":
    main()
