"""`larq-engine place` makes a placed model of a model and its profile."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from larq_engine.command_line.files import check_destination, check_is_tflite
from larq_engine.command_line.names import split_names
from larq_engine.python import units
from larq_engine.python.text_table import printable
from larq_engine.python.whole_files import write_files

if TYPE_CHECKING:
    from larq_engine.placing.api import PlacedModel
    from larq_engine.placing.profile import Profile


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "place",
        help="choose a device for each operator of a model",
        description="Chooses a device and a kernel for each operator, so that the whole model "
        "takes the least time or energy. Reads from a profile what the operators take, and the "
        "moves between memories. Where it saves time, the CPU and the GPU share a binarized "
        "convolution: each computes some of its channels, at the same time.",
    )
    parser.set_defaults(run=_run, usage_error=parser.error)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    parser.add_argument(
        "--profile",
        type=Path,
        required=True,
        metavar="FILE",
        help="the profile of MODEL, which `larq-engine profile` or larq_benchmark_model wrote",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="OUT.tflite",
        help="the placed model to write; beside it OUT.placement.json, which says what was chosen "
        "and why",
    )
    parser.add_argument(
        "--objective",
        choices=("latency", "throughput", "energy", "edp"),
        default="latency",
        help="what is to be least. latency (default) or throughput: seconds, both mean the same; "
        "energy: joules; edp: joules times seconds. energy and edp need a profile with joules",
    )
    parser.add_argument(
        "--batch",
        metavar="N|auto",
        help="samples at once, one of the profile's numbers (default: the smallest); auto: the one "
        "that costs least for each sample",
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads, one of the profile's numbers (default: the best)",
    )
    parser.add_argument(
        "--max-energy",
        type=float,
        metavar="J",
        help="with latency or throughput: choose among placements that take at most J joules a "
        "batch (default: no limit)",
    )
    parser.add_argument(
        "--devices",
        type=split_names,
        metavar="NAME,...",
        help="devices that may be used, such as cpu,host (default: all of the profile and of the "
        "device files); one GPU at most",
    )
    parser.add_argument(
        "--device-file",
        action="append",
        default=[],
        metavar="FILE",
        help="plan with a device that is not at hand, too. FILE describes it: a path, or the "
        "name of a file that comes with the package, such as pi5; may be repeated",
    )
    parser.add_argument(
        "--fallback",
        action="store_true",
        help="if a device or kernel is missing when the model runs, its operators run where the "
        "plug-in's options say (default: an error)",
    )
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        help="run the placed model in turns with the same model without a placement, and print "
        "what is gained, and each operator's time beside the predicted one (default: if the "
        "profile is of this machine)",
    )


def _run(arguments: argparse.Namespace) -> None:
    model, output = arguments.model, arguments.output
    check_is_tflite(model)
    report = output.with_suffix(".placement.json")
    check_destination("output", output, model, arguments.profile)
    check_destination("placement", report, model, arguments.profile, output)
    batch: int | str | None = arguments.batch
    if batch not in (None, "auto"):
        if not arguments.batch.isdecimal():
            arguments.usage_error(f"--batch: expected a number or auto, got {arguments.batch}")
        batch = int(arguments.batch)
    from larq_engine.placing.api import place
    from larq_engine.placing.profile_source import as_profile

    profile = as_profile(arguments.profile, model)
    placed = place(
        model,
        profile,
        objective=arguments.objective,
        batch=batch,
        threads=arguments.threads,
        max_energy=arguments.max_energy,
        devices=arguments.devices,
        device_files=arguments.device_file,
        fallback=arguments.fallback,
    )
    # This comes before anything is written, as the placed model may not run here.
    placed, steps = _verify(placed, profile, arguments.verify)
    tables = [str(placed.placement), *steps]
    write_files({output: placed, report: placed.placement.to_json().encode()})
    print("\n\n".join(tables))
    for path in (output, report):
        print(printable(f"wrote {path}: {units.size(path.stat().st_size)}"))


def _verify(
    placed: "PlacedModel", profile: "Profile", asked: bool | None
) -> tuple["PlacedModel", list[str]]:
    """Returns the model with what it was measured to gain, and the texts to print about it.

    Args:
        placed: The placed model.
        profile: The profile that it was placed with.
        asked: True: it must run; False: it must not; None: it runs if the profile is of this
            machine.
    """
    if asked is False:
        return placed, []
    nowhere = placed.placement.not_at_hand
    reason = f"expected devices that run models, got {', '.join(nowhere)}, of a device file"
    if asked and nowhere:
        raise ValueError(f"verify: {reason}; leave --verify out")
    from larq_engine.command_line.quiet_host import quiet_host
    from larq_engine.command_line.verify_placement import run_in_turns, verify, why_not_here

    if not asked:
        reason = reason if nowhere else why_not_here(profile)
        if reason:
            return placed, [printable(f"not verified by running it: {reason}")]
    quiet_host()
    found = placed.verified(run_in_turns(placed, placed.placement))
    return found, [verify(found, found.placement)]
