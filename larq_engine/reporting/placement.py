"""Reads from a placement's file what is shown of it."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from larq_engine.placing.json_fields import Fields, is_model, load_object
from larq_engine.placing.placement import SecondHalf
from larq_engine.placing.profile_file import Profile
from larq_engine.placing.unplaced import Verified
from larq_engine.python.whole_files import read_file

VERSION = 1

_ADVICE = "write one with `larq-engine place MODEL --profile FILE -o OUT.tflite`"


@dataclass(frozen=True)
class More:
    """Additional cost of the whole model if one operator were on another device."""

    amount: float
    unit: str  # s, J, or J s


@dataclass(frozen=True)
class Choice:
    """The device of an operator, and the reason for it."""

    device: str
    kernel: str | None
    reason: str
    elsewhere: Mapping[str, More]  # by device, if it is known
    split: SecondHalf | None = None


@dataclass(frozen=True)
class Alternative:
    """Another placement, and what it was predicted to cost; None if it is impossible."""

    name: str
    batch: int
    seconds: float | None
    joules: float | None


@dataclass(frozen=True)
class Placement:
    """The shown contents of the file; operators are keyed by their nodes."""

    sha256: str | None
    batch: int
    threads: int
    objective: str
    choices: Mapping[int, Choice]
    seconds: float
    joules: float | None
    bound: float | None  # None: it is proven the best
    way: str  # how it was found
    alternatives: tuple[Alternative, ...]
    verified: Verified | None = None  # by running it


def read_placement(path: str | os.PathLike[str], profile: Profile) -> Placement:
    """Reads the placement of a profile's model: its JSON file, or the placed model.

    Raises:
        OSError: There is no such file, or it cannot be read.
        ValueError: It is no placement, or one that does not fit the profile.
    """
    name = f"placement '{os.fspath(path)}'"
    content = read_file(path, name, _ADVICE)
    if is_model(content):
        # Reading model files needs packages that JSON does without.
        from larq_engine.placing import placed_file

        found = placed_file.read_placement(content)
        if found is None:
            raise ValueError(
                f"{name}: expected a placed model, got one without a placement; {_ADVICE}"
            )
        content = json.dumps(found).encode()
    return parse_placement(content, profile, name)


def parse_placement(content: bytes, profile: Profile, name: str = "placement") -> Placement:
    """Reads the bytes of a placement of a profile's model; `name` is for errors.

    Raises:
        ValueError: It is no placement, or one that does not fit the profile.
    """
    fields = load_object(
        content,
        name,
        "larq_engine_placement",
        VERSION,
        _ADVICE,
    )
    placement = Placement(
        sha256=fields.part("model").optional_text("sha256"),
        batch=fields.count("batch", least=1),
        threads=fields.count("threads", least=1),
        objective=fields.text("objective"),
        choices={part.count("node"): _read_choice(part) for part in fields.parts("ops")},
        seconds=fields.amount("seconds"),
        joules=fields.optional_amount("joules"),
        bound=fields.optional_amount("bound"),
        way=fields.optional_text("way") or "",
        alternatives=tuple(
            Alternative(
                part.text("name"),
                part.count("batch", least=1),
                part.optional_amount("seconds"),
                part.optional_amount("joules"),
            )
            for part in fields.parts("alternatives", required=False)
        ),
        verified=_read_verified(fields.part("verified")) if fields.has("verified") else None,
    )
    if len(placement.choices) < len(fields.parts("ops")):
        raise ValueError(f"{name}: ops: expected each node once, got one of them twice")
    _check(placement, profile, name)
    return placement


def _read_choice(fields: Fields) -> Choice:
    return Choice(
        fields.text("device"),
        fields.optional_text("kernel"),
        fields.optional_text("reason") or "",
        {
            part.text("device"): More(part.number("more"), part.text("unit"))
            for part in fields.parts("elsewhere", required=False)
            if part.has("more")
        },
        _read_split(fields.part("split")) if fields.has("split") else None,
    )


def _read_verified(fields: Fields) -> Verified:
    return Verified(
        fields.positive("seconds"),
        fields.positive("unplaced_seconds"),
        fields.positive("lowest"),
        fields.positive("highest"),
    )


def _read_split(fields: Fields) -> SecondHalf:
    of = fields.count("of", least=2)
    channels = fields.count("channels", least=1)
    if channels >= of:
        fields.refuse("channels", f"fewer than the {of} of both devices")
    return SecondHalf(
        fields.text("device"), fields.optional_text("kernel"), channels, of, fields.amount("saved")
    )


def _check(placement: Placement, profile: Profile, name: str) -> None:
    ours, theirs = placement.sha256, profile.model.sha256
    if ours is not None and theirs is not None and ours != theirs:
        raise ValueError(
            f"{name}: expected a placement of the profile's model, sha256 {theirs}, got one of "
            f"{ours}; place that model with this profile"
        )
    devices = {device.name for device in profile.devices}
    for node, choice in placement.choices.items():
        for device in [choice.device] + ([] if choice.split is None else [choice.split.device]):
            if device not in devices:
                raise ValueError(
                    f"{name}: node {node}: expected one of the profile's devices "
                    f"({', '.join(sorted(devices))}), got '{device}'; take the profile and "
                    "the device files that the placement was made of"
                )
    nodes = {op.node for op in profile.ops}
    missing, unknown = nodes - placement.choices.keys(), placement.choices.keys() - nodes
    if missing or unknown:
        raise ValueError(
            f"{name}: expected a device for each of the profile's {len(nodes)} nodes, got "
            + (f"none for {sorted(missing)[:5]}" if missing else f"others: {sorted(unknown)[:5]}")
            + "; take the profile that the placement was made of"
        )
