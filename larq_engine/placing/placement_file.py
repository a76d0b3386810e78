"""Reads a placement from the JSON file that `larq-engine place` wrote, or from the placed model."""

import json
import os
from collections.abc import Mapping

from larq_engine.placing.json_fields import Fields, load_object
from larq_engine.placing.placement import (
    VERSION,
    Alternative,
    Elsewhere,
    Move,
    PlacedOp,
    Placement,
    SecondHalf,
)
from larq_engine.placing.profile import ModelIdentity, Op, Profile
from larq_engine.placing.unplaced import Unplaced, Verified
from larq_engine.python.whole_files import is_tflite, read_file

_ADVICE = "write one with `larq-engine place MODEL --profile FILE -o OUT.tflite`"


def read_placement(path: str | os.PathLike[str], profile: Profile) -> Placement:
    """Reads the placement of a profile's model: its JSON file, or the placed model.

    Raises:
        TypeError: `path` is no path.
        OSError: There is no such file, or it cannot be read.
        ValueError: It is no placement, or one that does not fit the profile.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            "placement: expected the `placement` of what larq_engine.place returned, or a path, "
            f"got {type(path).__name__}"
        )
    name = f"placement '{os.fspath(path)}'"
    content = read_file(path, name, _ADVICE)
    if is_tflite(content):
        # Reading model files needs packages that JSON does without.
        from larq_engine.placing import placed_file

        found = placed_file.read_placement(content)
        if found is None:
            raise ValueError(
                f"{name}: expected a placed model, got one without a placement; {_ADVICE}"
            )
        content = json.dumps(found).encode()
    return _parse(content, profile, name)


def _parse(content: bytes, profile: Profile, name: str) -> Placement:
    """Reads the bytes of a file, which does not tell whether the placement may fall back."""
    fields = load_object(content, name, "larq_engine_placement", VERSION, _ADVICE)
    model = fields.part("model")
    threads = fields.count("threads", least=1)
    known = {op.node: op for op in profile.ops}
    placement = Placement(
        engine=fields.optional_text("engine") or "",
        model=ModelIdentity(model.optional_text("name") or "", model.optional_text("sha256")),
        batch=fields.count("batch", least=1),
        threads=threads,
        objective=fields.text("objective"),
        max_energy=fields.optional_amount("max_energy"),
        ops=tuple(_read_op(part, known, profile) for part in fields.parts("ops")),
        moves=tuple(_read_move(part) for part in fields.parts("moves", required=False)),
        seconds=fields.amount("seconds"),
        joules=fields.optional_amount("joules"),
        bound=fields.optional_amount("bound"),
        way=fields.optional_text("way") or "",
        alternatives=tuple(
            _read_alternative(part, threads)
            for part in fields.parts("alternatives", required=False)
        ),
        unplaced=_read_unplaced(fields.part("unplaced")) if fields.has("unplaced") else None,
        verified=_read_verified(fields.part("verified")) if fields.has("verified") else None,
        area=fields.optional_count("area"),
        most_area=fields.optional_count("most_area"),
    )
    if len({op.node for op in placement.ops}) < len(placement.ops):
        raise ValueError(f"{name}: ops: expected each node once, got one of them twice")
    check_placement(placement, profile, name)
    return placement


def _read_op(fields: Fields, known: Mapping[int, Op], profile: Profile) -> PlacedOp:
    node, device = fields.count("node"), fields.text("device")
    op = known.get(node)
    return PlacedOp(
        node=node,
        op="" if op is None else op.op,
        layer="" if op is None else op.layer,
        device=device,
        kernel=fields.optional_text("kernel"),
        seconds=fields.optional_amount("seconds"),
        joules=fields.optional_amount("joules"),
        elsewhere=tuple(
            _read_elsewhere(part, profile) for part in fields.parts("elsewhere", required=False)
        ),
        title=profile.called(device),
        split=_read_split(fields.part("split")) if fields.has("split") else None,
        told_reason=fields.optional_text("reason") or "",
    )


def _read_elsewhere(fields: Fields, profile: Profile) -> Elsewhere:
    device, has_more = fields.text("device"), fields.has("more")
    return Elsewhere(
        device,
        profile.called(device),
        fields.optional_amount("seconds"),
        fields.optional_amount("joules"),
        fields.number("more") if has_more else None,
        fields.text("unit") if has_more else fields.optional_text("unit") or "",
    )


def _read_split(fields: Fields) -> SecondHalf:
    of = fields.count("of", least=2)
    channels = fields.count("channels", least=1)
    if channels >= of:
        fields.refuse("channels", f"fewer than the {of} of both devices")
    return SecondHalf(
        fields.text("device"), fields.optional_text("kernel"), channels, of, fields.amount("saved")
    )


def _read_move(fields: Fields) -> Move:
    return Move(
        fields.text("value"),
        fields.text("source"),
        fields.text("target"),
        fields.count("bytes"),
        fields.amount("seconds"),
    )


def _read_alternative(fields: Fields, threads: int) -> Alternative:
    return Alternative(
        fields.text("name"),
        fields.optional_amount("seconds"),
        fields.optional_amount("joules"),
        fields.count("batch", least=1),
        fields.optional_count("threads", least=1) or threads,
    )


def _read_unplaced(fields: Fields) -> Unplaced:
    return Unplaced(fields.text("device"), fields.positive("rows"), fields.positive("seconds"))


def _read_verified(fields: Fields) -> Verified:
    return Verified(
        fields.positive("seconds"),
        fields.positive("unplaced_seconds"),
        fields.positive("lowest"),
        fields.positive("highest"),
    )


def check_placement(placement: Placement, profile: Profile, name: str = "placement") -> None:
    """Checks that a placement is of this profile's model and devices.

    Raises:
        ValueError: It is not; the message begins with `name`.
    """
    ours, theirs = placement.model.sha256, profile.model.sha256
    if ours is not None and theirs is not None and ours != theirs:
        raise ValueError(
            f"{name}: expected a placement of the profile's model, sha256 {theirs}, got one of "
            f"{ours}; place that model with this profile"
        )
    devices = {device.name for device in profile.devices}
    for op in placement.ops:
        for device in [op.device] + ([] if op.split is None else [op.split.device]):
            if device not in devices:
                raise ValueError(
                    f"{name}: node {op.node}: expected one of the profile's devices "
                    f"({', '.join(sorted(devices))}), got '{device}'; take the profile and "
                    "the device files that the placement was made of"
                )
    nodes = {op.node for op in profile.ops}
    placed = {op.node for op in placement.ops}
    missing, unknown = nodes - placed, placed - nodes
    if missing or unknown:
        raise ValueError(
            f"{name}: expected a device for each of the profile's {len(nodes)} nodes, got "
            + (f"none for {sorted(missing)[:5]}" if missing else f"others: {sorted(unknown)[:5]}")
            + "; take the profile that the placement was made of"
        )
