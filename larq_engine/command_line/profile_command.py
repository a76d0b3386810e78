"""`larq-engine profile`: what each operator of a model takes, on each device."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import ModelKind, check_destination, find_kind


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "profile",
        help="measure each operator of a .tflite file on each device",
        description="Measures each operator of a .tflite file, and those that run together, on "
        "each device with each kernel that is asked for.",
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    parser.add_argument(
        "--devices",
        type=_names,
        metavar="NAME,...",
        help="of cpu (this engine), host (the host's own operators, always there), cuda and "
        "cuda:N; by default all that there are",
    )
    parser.add_argument(
        "--threads",
        type=_numbers,
        default=[1],
        metavar="N,...",
        help="numbers of threads, each measured (default: 1)",
    )
    parser.add_argument(
        "--kernels",
        type=_names,
        default=["auto"],
        metavar="NAME,...",
        help="kernels to measure beside the one that the engine chooses, of those that "
        "`larq-engine about` lists; all measures every one",
    )
    parser.add_argument(
        "--batch",
        type=_numbers,
        metavar="N,...",
        help="samples at once; by default as the model declares",
    )
    parser.add_argument(
        "--rounds",
        type=_number,
        default=20,
        metavar="N",
        help="rounds of a few samples each (default: 20)",
    )
    parser.add_argument(
        "--energy",
        type=Path,
        metavar="SENSOR",
        help="a sensor's file, such as /sys/class/hwmon/hwmon1/power1_input; by default RAPL",
    )
    parser.add_argument(
        "--runtime",
        metavar="NAME",
        help="ai_edge_litert, tensorflow or tflite_runtime (default: the first installed)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the profile to this file"
    )


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _number(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _numbers(text: str) -> list[int]:
    return [_number(part) for part in text.split(",")]


def _run(arguments: argparse.Namespace) -> None:
    model = arguments.model
    if find_kind(model) is not ModelKind.TFLITE:
        raise ValueError(
            f"model '{model}': expected a .tflite file; make one with "
            f"`larq-engine convert {model} -o OUT.tflite`"
        )
    if arguments.output is not None:
        check_destination("output", arguments.output, model)
    from larq_engine.profiling.profiler import profile

    kernels = arguments.kernels
    result = profile(
        model,
        devices=arguments.devices,
        threads=arguments.threads,
        kernels=kernels[0] if len(kernels) == 1 else kernels,
        batch=arguments.batch,
        rounds=arguments.rounds,
        energy_sensor=arguments.energy,
        runtime=arguments.runtime,
        verbose=1,
    )
    # Before anything is printed: who reads may have seen enough, and the file is to be there.
    if arguments.output is not None:
        result.save(arguments.output)
    print(result)
    if arguments.output is not None:
        print(f"wrote {arguments.output}")
    if result.wrong:
        raise ValueError(f"{len(result.wrong)} candidates computed wrong results; see above")
