"""`larq-engine profile` measures each operator of a model on each device."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_destination, check_is_tflite
from larq_engine.command_line.names import split_names
from larq_engine.python.text_table import printable


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "profile",
        help="measure each operator of a .tflite file on each device",
        description="Measures the time of each operator of a .tflite file on each device, and its "
        "energy where the machine has counters. Operators that a device computes together are "
        "measured one by one and together. Prints a table.",
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    parser.add_argument(
        "--devices",
        type=split_names,
        metavar="NAME,...",
        help="cpu (the plug-in on the CPU), host (the host's own operators; always measured), cuda "
        "or cuda:N (the plug-in on the first GPU, or on GPU N); default: cpu, host, and cuda if "
        "there is a GPU",
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
        type=split_names,
        default=["auto"],
        metavar="NAME,...",
        help="kernels to measure beside the engine's own choice, or all; `larq-engine about` lists "
        "the CPU's (default: auto, the engine's choice alone)",
    )
    parser.add_argument(
        "--batch",
        type=_numbers,
        metavar="N,...",
        help="numbers of samples at once, each measured (default: the number that the model "
        "declares)",
    )
    parser.add_argument(
        "--rounds",
        type=_number,
        default=20,
        metavar="N",
        help="rounds, each of a few runs of everything (default: 20); fewer, but at least 3, where "
        "they take more than 2 seconds",
    )
    parser.add_argument(
        "--energy",
        type=Path,
        metavar="SENSOR",
        help="the file of a sensor of the CPU's or board's energy or power, such as "
        "/sys/class/hwmon/hwmon1/power1_input (default: RAPL, the counters of Intel's and AMD's "
        "CPUs)",
    )
    parser.add_argument(
        "--host",
        metavar="NAME",
        help="the host: litert, tensorflow or tflite_runtime (default: the first of these "
        "that is installed)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the profile to this file, for `larq-engine place` and `report`",
    )


def _number(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _numbers(text: str) -> list[int]:
    return [_number(part) for part in text.split(",")]


def _run(arguments: argparse.Namespace) -> None:
    model = arguments.model
    check_is_tflite(model)
    if arguments.output is not None:
        check_destination("output", arguments.output, model)
    from larq_engine.command_line.quiet_host import quiet_host
    from larq_engine.profiling.profiler import profile

    quiet_host(arguments.host)
    kernels = arguments.kernels
    result = profile(
        model,
        devices=arguments.devices,
        threads=arguments.threads,
        kernels=kernels[0] if len(kernels) == 1 else kernels,
        batch=arguments.batch,
        rounds=arguments.rounds,
        energy_sensor=arguments.energy,
        host=arguments.host,
        verbose=1,
    )
    # Saving comes before printing: the output may be a pipe that its reader closes early.
    if arguments.output is not None:
        result.save(arguments.output)
    print(result)
    if arguments.output is not None:
        print(printable(f"wrote {arguments.output}"))
    if result.wrong:
        raise ValueError(f"{len(result.wrong)} candidates computed wrong results; see above")
