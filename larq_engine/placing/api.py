"""Turns a model and its profile into a placed model: `larq_engine.place`."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from larq_engine import __version__
from larq_engine.placing.device_file import apply_device, read_device
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.placement import Placement
from larq_engine.placing.profile_source import ProfileSource, as_profile
from larq_engine.placing.unplaced import Verified
from larq_engine.python.whole_files import content_of

_Path: TypeAlias = str | os.PathLike[str]


class PlacedModel(bytes):
    """The bytes of a .tflite file, with the placement that is in its metadata."""

    placement: Placement

    def __new__(cls, content: bytes, placement: Placement) -> "PlacedModel":
        model = super().__new__(cls, content)
        model.placement = placement
        return model

    def __repr__(self) -> str:
        return f"<PlacedModel of {len(self)} bytes, {self.placement.summarize()}>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return PlacedModel, (bytes(self), self.placement)

    def verified(self, found: Verified) -> "PlacedModel":
        """Returns the same model with what it was measured to gain."""
        from larq_engine.converter import schema
        from larq_engine.placing import placed_file

        placement = replace(self.placement, verified=found)
        return PlacedModel(
            placed_file.with_placement(schema.read(bytes(self)), placement), placement
        )


def place(
    model: bytes | _Path,
    profile: ProfileSource,
    *,
    objective: str = "latency",
    batch: int | str | None = None,
    threads: int | None = None,
    max_energy: float | None = None,
    devices: Sequence[str] | None = None,
    device_files: Iterable[_Path] = (),
    fallback: bool = False,
) -> PlacedModel:
    """Chooses a device and a kernel for each operator: the best of all assignments.

    Binarized convolutions are computed by the CPU and the GPU at the same time where that pays.

    Args:
        model: A .tflite file, as bytes or as a path.
        profile: What `larq_engine.profile` made of it, or the path of its file; or the path of what
            larq_benchmark_model measured.
        objective: "latency" or "throughput": least seconds; "energy": least joules; "edp": least
            product of both.
        batch: A batch of the profile; "auto": the batch with the least cost for each image; None:
            the smallest.
        threads: A number of threads of the profile; None: the best.
        max_energy: The most joules a batch may take; for "latency" and "throughput" only.
        devices: Names of the devices that may be used; None: all.
        device_files: Devices to plan with that are not in the profile: names of files that come
            with the package, or paths.
        fallback: What happens if an operator's device or kernel is not there when the model runs:
            if True, it is computed where the plug-in's options say; if False, that is an error.

    Returns:
        The bytes of the placed model; the attribute `placement` says what it costs, why each
        operator is where it is, and what other placements would cost.

    Raises:
        ValueError: The profile is of another model, or lacks what is asked for.
    """
    # Reading model files needs packages that profiles do without.
    from larq_engine.converter import schema
    from larq_engine.placing import placed_file

    content = content_of(model)
    known = as_profile(profile, content)
    parsed = schema.read(content)
    sha256 = placed_file.check_model(known, content, parsed)
    known = replace(known, model=replace(known.model, sha256=sha256))
    for path in device_files:
        known = apply_device(known, read_device(path))
    channels = placed_file.output_channels(parsed)
    placement = place_profile(
        known,
        objective=objective,
        batch=batch,
        threads=threads,
        max_energy=max_energy,
        devices=devices,
        channels={op.id: channels[op.node] for op in known.ops if op.node in channels},
        engine=__version__,
        falls_back=fallback,
    )
    return PlacedModel(placed_file.with_placement(parsed, placement), placement)
