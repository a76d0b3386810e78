"""Trains networks of earlier engines briefly, converts them, and compares with Keras and float.

python examples/networks.py                   all of them
python examples/networks.py lenet resnet18    these
python examples/networks.py --untrained       only sizes and times, which need no training
"""

import argparse
import json
import multiprocessing
import os
import platform
import subprocess
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

# TensorFlow reads these when it is imported. larq needs Keras 2; the other two stop remarks on how
# TensorFlow computes.
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import tensorflow as tf
from published import alexnet, bmxnet, comparing, digits, espresso, hep_bnn, keywords, residual


@dataclass(frozen=True)
class Network:
    """A network: its function of a width, its data, and its training.

    Some networks that take images of any size learn from smaller images than those they are timed
    with.
    """

    build: Callable[..., Any]
    load: Callable[[int, int], tuple[digits.Part, digits.Part]] = digits.load
    epochs: int = 6
    rate: float = 3e-3
    timed_size: int | None = None


# Stages of ResNet-18, by number, that may also stay in float.
_IN_FLOAT = ((1,), (2,), (3,), (4,), (1, 2), (1, 2, 3, 4))

NETWORKS: Mapping[str, Network] = {
    "lenet": Network(bmxnet.lenet),
    "resnet18": Network(partial(bmxnet.resnet18, size=8), timed_size=32),
    **{
        f"resnet18-float{''.join(map(str, stages))}": Network(
            partial(bmxnet.resnet18, size=8, in_float=stages), timed_size=32
        )
        for stages in _IN_FLOAT
    },
    "espresso-mlp": Network(espresso.mlp, epochs=2),
    "espresso-cnn": Network(espresso.cnn, epochs=2),
    "hep-fashion": Network(hep_bnn.fashion, epochs=4),
    "hep-cifar": Network(hep_bnn.cifar, epochs=2),
    "quicknet": Network(residual.quicknet),
    "bireal-net": Network(residual.bireal_net),
    "melius-net": Network(residual.melius_net),
    "keywords": Network(keywords.network, keywords.load, epochs=16),
    "dorefa-net": Network(partial(alexnet.dorefa_net, size=64, classes=10)),
    "xnor-net": Network(partial(alexnet.xnor_net, size=64, classes=10)),
}


_FILES = ("float", "int8", "ours", "our int8")  # TensorFlow's two, then ours


def main(names: list[str], trained: bool, threads: int, results: Path | None) -> None:
    columns = ("Keras", *_FILES[1:], "as Keras")
    print(f"{'':18}{'% right of held-out images':>50}{'size, MB':>36}{'ms an image':>36}")
    titles = [f"{title:>10}" for title in columns] + [f"{title:>9}" for title in 2 * _FILES]
    print(f"{'network':18}" + "".join(titles))
    for name in names:
        # Each network has a process of its own, as TensorFlow keeps the memory of deleted models.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            result = process.submit(run, name, trained, threads).result()
        right = result.get("accuracy", {}).values()
        cells = [f"{100 * share:10.2f}" for share in right] or [" " * 50]
        cells += [f"{size / 1e6:9.3f}" for size in result["bytes"].values()]
        cells += [f"{each:9.3f}" for each in result["ms"].values()]
        print(f"{name:18}" + "".join(cells), flush=True)
        if results:
            machine = {"cpu": cpu(), "commit": commit(), "threads": threads}
            add_to(results, name, {**machine, **result})


def add_to(results: Path, name: str, result: dict[str, Any]) -> None:
    """Adds a result to the file; keeps other networks, and an old accuracy if none is new.

    Each network has a line, so that a change of one is a change of a line.
    """
    found = json.loads(results.read_text()) if results.exists() else {}
    found[name] = {**found.get(name, {}), **result}
    written = results.with_name(f"{results.name}.part")
    lines = [f" {json.dumps(network)}: {json.dumps(each)}" for network, each in found.items()]
    written.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    written.replace(results)


def cpu() -> str:
    """Returns the system's name of the CPU."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def commit() -> str:
    """Returns the commit of the folder with this program."""
    command = ("git", "describe", "--always", "--dirty")
    here = Path(__file__).parent
    found = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def run(name: str, trained: bool, threads: int) -> dict[str, Any]:
    """Trains a network or makes up its norms, then converts, compares and measures it."""
    network = NETWORKS[name]
    if trained:
        model, training, held_out = learn(network)
    else:
        model, training, held_out = prepare(network)
        comparing.make_up_norms(model)
    files = comparing.convert(model, training.images)
    size, channels = model.input_shape[-2:]
    image = network.load(network.timed_size or size, channels)[1].images[:1]
    result = {
        "bytes": dict(zip(_FILES, files.sizes(), strict=True)),
        "ms": dict(zip(_FILES, files.milliseconds(image, threads), strict=True)),
    }
    if trained:
        result["accuracy"] = asdict(comparing.judge(model, files, held_out))
    return result


def learn(network: Network, seed: int = 1) -> tuple[Any, digits.Part, digits.Part]:
    """Returns the trained model, its training data, and the held-out data."""
    model, training, held_out = prepare(network, seed)
    comparing.train(model, training, network.epochs, network.rate)
    return model, training, held_out


def prepare(network: Network, seed: int = 1) -> tuple[Any, digits.Part, digits.Part]:
    """Returns the same before the training."""
    tf.keras.utils.set_random_seed(seed)
    model = network.build()
    return (model, *network.load(*model.input_shape[-2:]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}")
    parser.add_argument("--untrained", action="store_true", help="sizes and times alone")
    parser.add_argument("--threads", type=int, default=1, help="threads for one run (default 1)")
    parser.add_argument("--results", type=Path, help="a JSON file to add results to")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(NETWORKS)
    if unknown:
        parser.error(f"expected names of {', '.join(NETWORKS)}, got {', '.join(sorted(unknown))}")
    main(
        arguments.names or list(NETWORKS),
        not arguments.untrained,
        arguments.threads,
        arguments.results,
    )
