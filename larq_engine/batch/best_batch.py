"""Chooses the batch to run a model with from the measurements of a profile."""

import os

from larq_engine.placing.profile_source import ProfileSource, as_profile


def best_batch(
    profile: ProfileSource,
    threads: int | None = None,
    model: str | os.PathLike[str] | None = None,
) -> int:
    """Returns the batch with the least time for each sample of the whole model.

    Args:
        profile: The path of a profile, or what `larq_engine.profile` returned; or the path of what
            larq_benchmark_model measured.
        threads: If the profile has runs with this number of threads, only these count.
        model: The path of the model, which measurements of larq_benchmark_model need.

    Raises:
        OSError: There is no such file, or it cannot be read.
        ValueError: It is no profile, or one without times of the whole model.
    """
    totals = as_profile(profile, model).totals
    if not totals:
        raise ValueError(
            "profile: expected times of the whole model, got none; write one with "
            "`larq-engine profile MODEL --batch 1,8,64 -o FILE`"
        )
    fitting = [total for total in totals if total.threads == threads] or totals
    return min(fitting, key=lambda total: (total.seconds.median / total.batch, total.batch)).batch
