"""Makes reports of profile files."""

import os
from collections.abc import Iterable
from pathlib import Path

from larq_engine.placing.device_file import apply_device, read_device
from larq_engine.placing.placement import Placement
from larq_engine.placing.placement_file import check_placement, read_placement
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_source import ProfileSource, as_profile
from larq_engine.python.text_table import printable
from larq_engine.python.whole_files import content_of, write_files
from larq_engine.reporting import card, png, svg
from larq_engine.reporting.overlay import format_overlay
from larq_engine.reporting.page import make_page
from larq_engine.reporting.plots import draw_all
from larq_engine.reporting.study import Study, make_study
from larq_engine.reporting.text import format_text
from larq_engine.reporting.trace import format_trace

AnyPath = str | os.PathLike[str]


class Report:
    """A report on a profile, with a placement or without, at one batch and number of threads."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def __repr__(self) -> str:
        study = self._study
        answers = "; ".join(f"{e.name}: {e.answer}" for e in card.entries(study))
        return printable(f"<Report on {study.profile.model.name}: {answers or 'no times'}>")

    def __str__(self) -> str:
        """Returns the report as tables for a terminal."""
        return format_text(self._study)

    def to_html(self) -> bytes:
        """Returns the report as one page of HTML, which loads nothing from elsewhere."""
        return make_page(self._study)

    def to_overlay(self) -> bytes:
        """Returns node data for Google's model-explorer."""
        return format_overlay(self._study)

    def to_trace(self) -> bytes:
        """Returns a time line made from medians, for Perfetto and chrome://tracing."""
        return format_trace(self._study)

    def to_plots(self, kind: str) -> dict[str, bytes]:
        """Returns each drawing as a file, by its name; `kind` is svg or png.

        Raises:
            ImportError: matplotlib, which PNG files need, is not installed.
        """
        write = {"svg": svg.as_file, "png": png.as_file}[kind]
        return {f"{name}.{kind}": write(drawing) for name, drawing in draw_all(self._study).items()}


def report(
    profile: ProfileSource,
    placement: Placement | AnyPath | None = None,
    output: AnyPath | None = None,
    *,
    batch: int | None = None,
    threads: int | None = None,
    device_files: Iterable[AnyPath] = (),
    model: bytes | AnyPath | None = None,
) -> Report:
    """Shows a profile, and a placement beside it.

    Args:
        profile: What `larq_engine.profile` made of a model, or the path of its file; or the path of
            what larq_benchmark_model measured.
        placement: A placement of the same model: the `placement` of what `larq_engine.place`
            returned, or the path of its JSON file or of the placed model.
        output: The .html file to write the page to; None: no file.
        batch: One of the profile's batches; None: the placement's, else the smallest.
        threads: One of the profile's numbers of threads; None as for `batch`.
        device_files: The device files that the placement was made with, if any.
        model: The model, as bytes or as a path: measurements of larq_benchmark_model need it, and
            a profile must be of it.

    Raises:
        OSError: A file cannot be read or written.
        ValueError: A file is not what it should be, or the two do not fit each other.
    """
    content = None if model is None else content_of(model)
    known = as_profile(profile, content)
    if content is not None:
        _check_model(known, content)
    for path in device_files:
        known = apply_device(known, read_device(path))
    if placement is None:
        placed = None
    elif isinstance(placement, Placement):
        check_placement(placement, known)
        placed = placement
    else:
        placed = read_placement(placement, known)
    made = Report(make_study(known, placed, batch, threads))
    if output is not None:
        write_files({Path(output): made.to_html()})
    return made


def _check_model(profile: Profile, content: bytes) -> None:
    # Reading model files needs packages that reports do without.
    from larq_engine.placing.placed_file import check_model

    check_model(profile, content)
