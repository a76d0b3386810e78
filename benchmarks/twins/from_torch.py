"""Files of PyTorch's networks: `.venv-torch/bin/python -m benchmarks.twins.from_torch FOLDER`.

Their inputs have channels last, as those of Keras have.
"""

import argparse
from pathlib import Path

import torch

import larq_engine
from tests.torch.cases import CASES
from tests.torch.networks import with_random_statistics


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.twins.from_torch", description=__doc__
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write the files")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, case in CASES.items():
        print(f"{name} ...", flush=True)
        converted = larq_engine.convert_torch(
            with_random_statistics(case.make),
            torch.randn(1, *case.shape),
            check=False,  # the tests do
            **{**dict(case.options), "channels_last": True},
        )
        (folder / f"{name}.torch.tflite").write_bytes(converted)


if __name__ == "__main__":
    main()
