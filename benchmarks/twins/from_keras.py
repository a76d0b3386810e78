"""Files of the Keras twins: `.venv/bin/python -m benchmarks.twins.from_keras FOLDER`."""

import argparse
from pathlib import Path

import larq_engine
from tests.converter.keras_twins import TWINS, with_random_statistics


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.twins.from_keras", description=__doc__
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write the files")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in TWINS.items():
        print(f"{name} ...", flush=True)
        converted = larq_engine.convert_keras_model(with_random_statistics(make), check=False)
        (folder / f"{name}.keras.tflite").write_bytes(converted)


if __name__ == "__main__":
    main()
