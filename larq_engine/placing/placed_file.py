"""Reads and writes placements in model files; no other module here knows what a model file is."""

import hashlib
import json
from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.placing.placement import Placement
from larq_engine.placing.profile import Profile

# Name of the metadata that the plug-in reads: the text of its option `placement`.
OPTION_METADATA = "larq_engine.placement"
# Name of the metadata with the whole placement, as JSON.
METADATA = "larq_engine.placement.json"


def identity(content: bytes) -> str:
    """Returns the SHA-256 of a model; for a placed model, that of the file it was placed from."""
    return identity_of(content, schema.read(content))


def identity_of(content: bytes, model: Any) -> str:
    """Returns the `identity` of a model that was read from these bytes."""
    placement = _placement_of(model)
    if placement is None:
        return hashlib.sha256(content).hexdigest()
    try:
        return str(placement["model"]["sha256"])
    except (KeyError, TypeError):
        raise ValueError(
            f"metadata '{METADATA}': expected a placement with the model's sha256, got another; "
            "place the model that it was made of again"
        ) from None


def check_model(profile: Profile, content: bytes, model: Any = None) -> str:
    """Returns the `identity` of a model; `model` is what was read from its bytes, if it was.

    Raises:
        ValueError: The profile is of another model, or the bytes are no model.
    """
    sha256 = identity_of(content, schema.read(content) if model is None else model)
    # The profiled file may have been a placed one.
    if profile.model.sha256 not in (sha256, hashlib.sha256(content).hexdigest()):
        raise ValueError(
            f"profile of '{profile.model.name}': expected the profile of this model, whose sha256 "
            f"is {sha256}, got that of {profile.model.sha256}; profile this model"
        )
    return sha256


def option_of(model: Any) -> str:
    """Returns the plug-in's option `placement` of a model that was read; empty if there is none."""
    for name, data in model.extra.metadata:
        if _text(name) == OPTION_METADATA:
            return "" if data is None else _text(bytes(data))
    return ""


def read_placement(content: bytes) -> dict[str, Any] | None:
    """Returns the placement in a model file, or None."""
    return _placement_of(schema.read(content))


def _placement_of(model: Any) -> dict[str, Any] | None:
    for name, data in model.extra.metadata:
        if _text(name) == METADATA:
            try:
                placement = json.loads(b"" if data is None else bytes(data))
            except (RecursionError, ValueError) as error:
                raise ValueError(
                    f"metadata '{METADATA}': expected JSON, got something else ({error}); place "
                    "the model that it was made of again"
                ) from None
            return placement if isinstance(placement, dict) else {}
    return None


def _text(name: Any) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)


def output_channels(model: Any) -> dict[int, int]:
    """Returns the output channels of the binarized convolutions that can be split, by node."""
    found = {}
    for node, op in enumerate(model.graphs[0].ops):
        shapes = [tensor.shape for tensor in op.inputs[:2] if tensor is not None]
        # A convolution of several groups cannot be split: its filters have only a group's input
        # words.
        if (
            op.kind == "LceBconv2d"
            and [*map(len, shapes)] == [4, 4]
            and (shapes[0][3] == shapes[1][3])
        ):
            found[node] = int(shapes[1][0])
    return found


def unplaced(content: bytes) -> bytes:
    """Returns the file that a placed model was made of, if it can be made again; else `content`."""
    model = schema.read(content)
    if _placement_of(model) is None:
        return content
    model.extra.metadata = [
        entry
        for entry in model.extra.metadata
        if _text(entry[0]) not in (METADATA, OPTION_METADATA)
    ]
    made = schema.write(model)
    is_same = hashlib.sha256(made).hexdigest() == identity(content)
    return made if is_same else content


def with_placement(model: Any, placement: Placement) -> bytes:
    """Returns the file with the placement, which replaces one that the file has."""
    entries = {METADATA: placement.to_json(), OPTION_METADATA: placement.option}
    kept = [entry for entry in model.extra.metadata if _text(entry[0]) not in entries]
    added = [
        (name, np.frombuffer(text.encode(), np.uint8)) for name, text in entries.items() if text
    ]
    model.extra.metadata = [*kept, *added]
    return schema.write(model)
