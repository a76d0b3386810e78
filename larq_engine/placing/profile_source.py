"""Takes a profile in each form that users have it in."""

import os
import re
from typing import Protocol, TypeAlias

from larq_engine.placing.json_fields import load_object
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_checks import check_profile
from larq_engine.placing.profile_file import ADVICE, parse_profile
from larq_engine.python.whole_files import content_of, read_file

# Files of larq_benchmark_model begin with this key, whose value is the version.
_MEASURED = "larq_engine_measurements"
_MEASURED_VERSION = 1
_MEASURED_ADVICE = "write one with `larq_benchmark_model --graph=MODEL --profile_out=FILE`"


class HasProfile(Protocol):
    """A result that has a profile, as that of `larq_engine.profile`."""

    @property
    def profile(self) -> Profile: ...


_Path: TypeAlias = str | os.PathLike[str]
ProfileSource: TypeAlias = Profile | HasProfile | _Path


def as_profile(source: ProfileSource, model: bytes | _Path | None = None) -> Profile:
    """Returns the source's profile.

    Args:
        source: A profile, what has one, or the path of a file: a profile, or what
            larq_benchmark_model measured.
        model: The model, as bytes or as a path; read only if the file has measurements, which do
            not say what the model is.

    Raises:
        TypeError: The source is none of these.
        OSError: There is no such file, or it cannot be read.
        ValueError: It is no profile, one whose parts do not fit, or measurements without their
            model or of another one.
    """
    if isinstance(source, Profile):
        return source
    if not isinstance(source, (str, os.PathLike)):
        profile = getattr(source, "profile", None)
        if not isinstance(profile, Profile):
            raise TypeError(
                "profile: expected what larq_engine.profile returned, or the path of its file, "
                f"got {type(source).__name__}"
            )
        return profile
    name = f"profile '{os.fspath(source)}'"
    content = read_file(source, name, ADVICE)
    if not re.match(rb'\s*\{\s*"' + _MEASURED.encode() + rb'"', content):
        return parse_profile(content, name)
    if model is None:
        raise ValueError(
            f"{name}: expected a profile, got what larq_benchmark_model measured, without the "
            "model that it measured; name that .tflite file as `model` (`report --model`)"
        )
    made = _profile_of(content, name, content_of(model))
    check_profile(made, name)
    return made


def _profile_of(content: bytes, name: str, model: bytes) -> Profile:
    # Reading model files needs packages that profiles do without.
    from larq_engine.placing.placed_file import unplaced
    from larq_engine.profiling.measured_file import read_measured

    fields = load_object(content, name, _MEASURED, _MEASURED_VERSION, _MEASURED_ADVICE)
    measured = read_measured(fields)
    # The model may have been placed after it was measured.
    candidates = (model, unplaced(model)) if not measured.is_of(model) else (model,)
    for candidate in candidates:
        if measured.is_of(candidate):
            return measured.profile_of(candidate)
    raise ValueError(
        f"{name}: expected the model that was measured, '{measured.name}' of {measured.size} "
        f"bytes, got another one of {len(model)} bytes; name that model, or measure this one"
    )
