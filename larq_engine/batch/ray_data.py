"""Runs a model over a data set of Ray Data, in as many processes as there are workers."""

import os
import warnings
from typing import Any

import numpy as np

from larq_engine.batch.best_batch import best_batch
from larq_engine.batch.predictor import Predictor
from larq_engine.placing.profile_source import ProfileSource
from larq_engine.python.extras import pip_install

try:
    import ray.data
except ModuleNotFoundError as error:
    raise ImportError(
        f"larq_engine.batch.ray_data needs {error.name}, which is not installed; "
        f"{pip_install('ray')}"
    ) from error

# If a worker dies, its machine may be at fault, so another worker gets its rows. If that many more
# workers die, the rows are at fault; Ray would start workers for ever.
_MORE_WORKERS_FOR_ROWS = 2


def predict(
    dataset: "ray.data.Dataset",
    model: str | os.PathLike[str],
    column: Any = None,
    *,
    workers: int = 1,
    block_rows: int = 64,
    batch_size: int | ProfileSource | None = None,
    num_cpus: int = 1,
    num_gpus: float = 0,
    **options: Any,
) -> "ray.data.Dataset":
    """Adds a model's outputs to the rows of a data set, in the place of the columns that it reads.

    Each worker is a process that opens the model once. Rows come in any order, unless the data
    set's context has `preserve_order`. A row that the model cannot take ends the job at once; with
    on_error="null" its outputs are null. If a worker dies, another gets its rows.

    Args:
        dataset: The data set. It is read as a stream, and cut into blocks for the workers.
        model: A path that all machines know: on a file system that they share, or in the job's
            working directory.
        column: As for `Predictor`.
        workers: How many workers at most. Ray starts one, and more when CPUs are free of reading
            and cutting: workers on all CPUs from the start would wait for rows for ever.
        block_rows: How many rows a worker is given at a time; at least `batch_size`.
        batch_size: As for `Predictor`; or a profile, whose batch with the least time for each
            sample is taken.
        num_cpus: CPUs of each worker, and its threads.
        num_gpus: GPUs of each worker, or a part of one; add device="cuda" to use it.
        **options: Other arguments of `Predictor`: outputs, on_error, device...

    Raises:
        TypeError: `model` is no path.
        ValueError: The profile has no times of the whole model, or `workers` is less than 1.
    """
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(
            f"model: expected a path, got {type(model).__name__}; write the model to a file: "
            "a model in a worker's arguments is lost when the process that gave it ends, and no "
            "worker can be started again"
        )
    if workers < 1:
        raise ValueError(f"workers: expected a positive number, got {workers}")
    if batch_size is not None and not isinstance(batch_size, (int, np.integer)):
        batch_size = best_batch(batch_size, threads=num_cpus, model=model)
    # With fewer rows, no batch would ever be full.
    block_rows = max(block_rows, int(batch_size or 1))
    # A block is work for one worker: with a few large blocks, most workers would have none.
    blocks = dataset.repartition(target_num_rows_per_block=block_rows)
    with warnings.catch_warnings():
        # Ray 2.60 warns about max_task_retries, and does not have its successor yet.
        warnings.filterwarnings("ignore", message="`ray_remote_args` is deprecated")
        return blocks.map_batches(
            Predictor,
            fn_constructor_args=(os.fspath(model), column),
            fn_constructor_kwargs={"batch_size": batch_size, **options},
            batch_size=block_rows,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
            num_cpus=num_cpus,
            num_gpus=num_gpus or None,
            max_task_retries=_MORE_WORKERS_FOR_ROWS,
        )
