"""Ray Data's workers give the results of one process, row by row."""

import logging
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

import larq_engine
from larq_engine.batch import Predictor, ray_data
from larq_engine.placing.profile import Timing, Total
from larq_engine.placing.profile_file import write_profile
from tests.placing.profiles import profile
from tests.ray import workers
from tests.ray.conftest import OBJECT_STORE_BYTES

pytestmark = pytest.mark.usefixtures("cluster")

_ROWS = 96


def _images() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((_ROWS, 96, 96, 3)).astype(np.float32)


def _dataset(images: Any) -> "ray.data.Dataset":
    """Makes a data set of one block, as of a small file."""
    items = [{"id": number, "image": image} for number, image in enumerate(images)]
    return ray.data.from_items(items, override_num_blocks=1)


def _by_id(dataset: "ray.data.Dataset") -> list[dict[str, Any]]:
    return sorted(dataset.take_all(), key=lambda row: row["id"])


def _watch(monkeypatch: pytest.MonkeyPatch, worker: type[Predictor]) -> None:
    monkeypatch.setattr(ray_data, "Predictor", worker)


def _profile(folder: Path) -> Path:
    """Writes a profile by which 4 is the best batch."""
    measured = ((1, 1.0), (4, 2.0), (8, 8.0))
    totals = tuple(Total(batch, "cpu", 1, Timing(seconds)) for batch, seconds in measured)
    write_profile(replace(profile(), totals=totals), folder / "profile.json")
    return folder / "profile.json"


def test_two_workers(model, tmp_path, monkeypatch):
    """Each worker is made once and gets work, though all rows are in one block."""
    _watch(monkeypatch, workers.Watched)
    images = _images()
    got = _by_id(
        ray_data.predict(
            _dataset(images),
            model,
            "image",
            workers=2,
            block_rows=8,
            batch_size=_profile(tmp_path),
            outputs="scores",
            folder=str(tmp_path),
            together=2,
        )
    )
    assert [row["id"] for row in got] == list(range(_ROWS))
    assert got[0].keys() == {"id", "scores", "pid"}
    expected = larq_engine.Interpreter(model).predict(images)
    assert np.array_equal(np.stack([row["scores"] for row in got]), expected)
    made = workers.records(tmp_path / "made")
    assert len(made) == 2 and {row["pid"] for row in got} == {pid for [pid] in made}
    assert workers.records(tmp_path / "batch_size") == [[4]] * 2
    assert all(len(ids) <= 8 for ids in workers.records(tmp_path / "called"))


def test_a_block_holds_a_batch(model, tmp_path, monkeypatch):
    _watch(monkeypatch, workers.Watched)
    scores = ray_data.predict(
        _dataset(_images()), model, "image", batch_size=np.int64(96), folder=str(tmp_path)
    )
    assert len(scores.take_all()) == _ROWS
    assert workers.records(tmp_path / "batch_size") == [[96]]
    assert [len(ids) for ids in workers.records(tmp_path / "called")] == [96]


def test_a_data_set_without_rows(model):
    images = _dataset(_images()[:2]).filter(lambda row: row["id"] > 2)
    assert ray_data.predict(images, model, "image").take_all() == []


def test_ray_has_no_complaints(model):
    """Ray warns of nothing, such as arguments that it is about to drop."""
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logger = logging.getLogger("ray.data")
    logger.addHandler(handler)
    try:
        ray_data.predict(_dataset(_images()), str(model), "image", workers=2)
    finally:
        logger.removeHandler(handler)
    assert said == []


def test_the_plain_call(model):
    """Ray's users write it without the helper; the threads are the worker's CPUs."""
    images = _images()[:16]
    scores = _dataset(images).map_batches(
        Predictor,
        fn_constructor_kwargs={"model": str(model), "column": "image"},
        batch_size=8,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=8),
    )
    [name] = larq_engine.Interpreter(model).output_names
    got = np.stack([row[name] for row in _by_id(scores)])
    assert np.array_equal(got, larq_engine.Interpreter(model).predict(images))


def test_threads_are_the_workers_cpus():
    @ray.remote
    def threads() -> int:
        from larq_engine.batch.cpus import given_cpus

        return given_cpus()

    given = ray.get([threads.options(num_cpus=count).remote() for count in (1, 2)])
    assert given == [1, 2]


def test_a_worker_that_dies(model, tmp_path, monkeypatch):
    _watch(monkeypatch, workers.DiesOnce)
    images = _images()
    got = _by_id(
        ray_data.predict(
            _dataset(images), model, "image", workers=2, block_rows=8, folder=str(tmp_path)
        )
    )
    assert [row["id"] for row in got] == list(range(_ROWS))
    [name] = larq_engine.Interpreter(model).output_names
    expected = larq_engine.Interpreter(model).predict(images)
    assert np.array_equal(np.stack([row[name] for row in got]), expected)
    [[died]] = workers.records(tmp_path / "died")
    made = workers.records(tmp_path / "made")
    # Ray chooses the number of workers: it may not start the second before the first has died.
    assert [died] in made and [got[40]["pid"]] in made and got[40]["pid"] != died


def _with_bad_rows() -> list[Any]:
    images = list(_images()[:24])
    images[10] = np.zeros((95, 96, 3), np.float32)
    images[20] = np.full_like(images[20], np.nan)
    return images


def test_bad_rows_are_null(model):
    images = _with_bad_rows()
    rows = _by_id(
        ray_data.predict(
            _dataset(images), model, "image", block_rows=4, outputs="scores", on_error="null"
        )
    )
    assert len(rows) == 24
    bad = {row["id"]: row["error"] for row in rows if row["error"]}
    assert bad.keys() == {10, 20}
    assert "got the shape (95, 96, 3)" in bad[10] and "got NaN" in bad[20]
    interpreter = larq_engine.Interpreter(model)
    for row in rows:
        if row["id"] in bad:
            assert np.isnan(row["scores"]).all()
        else:
            assert np.array_equal(row["scores"], interpreter.predict(images[row["id"]][None])[0])


def test_a_bad_row_ends_the_job_at_once(model, tmp_path, monkeypatch):
    _watch(monkeypatch, workers.Watched)
    dataset = ray_data.predict(
        _dataset(_with_bad_rows()), model, "image", block_rows=4, folder=str(tmp_path)
    )
    with pytest.raises(
        ray.exceptions.RayTaskError, match=r"row 2 of 4: column 'image': expected float32"
    ):
        dataset.take_all()
    calls = workers.records(tmp_path / "called")
    assert calls.count([8, 9, 10, 11]) == 1, "it is not tried again"
    assert len(workers.records(tmp_path / "made")) == 1


def test_integer_outputs_keep_their_type(tmp_path):
    """Blocks with bad rows and without are one data set."""
    from tests.model_builder import ModelBuilder

    builder = ModelBuilder()
    x, y = (builder.tensor((1, 3), np.int32, name=name) for name in "xy")
    builder.builtin("ADD", [x, x], [y])
    path = tmp_path / "integers.tflite"
    path.write_bytes(builder.finish([x], [y]))
    rows = [np.array([number, 0, 1]) for number in range(8)]
    rows[5] = np.array([2**40, 0, 0])
    got = _by_id(
        ray_data.predict(
            ray.data.from_items([{"id": n, "x": row} for n, row in enumerate(rows)]),
            path,
            block_rows=2,
            on_error="null",
        )
    )
    assert [None if row["y"] is None else list(row["y"]) for row in got] == [
        None if number == 5 else [2 * number, 0, 2] for number in range(8)
    ]


def test_a_data_set_larger_than_memory_for_it(model, monkeypatch):
    """Rows are made, run and dropped: no process ever holds much of them."""
    _watch(monkeypatch, workers.Peak)
    rows = 8_000
    data_bytes = rows * 96 * 96 * 3 * 4
    assert data_bytes > 8 * OBJECT_STORE_BYTES
    ids = ray.data.range(rows, override_num_blocks=rows // 100)
    images = ids.map_batches(workers.generate, batch_size=100)
    scores = ray_data.predict(images, model, "image", block_rows=32, outputs="scores")
    seen, sums, peak = 0, {}, 0
    for batch in scores.iter_batches(batch_size=100):
        seen += len(batch["id"])
        peak = max(peak, int(batch["peak"].max()))
        for number, row in zip(batch["id"] % 7, batch["scores"], strict=True):
            sums.setdefault(int(number), row)
            assert np.array_equal(sums[int(number)], row)
    assert seen == rows and len(sums) == 7
    assert peak < data_bytes / 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 < data_bytes


def test_a_model_in_bytes_is_refused():
    with pytest.raises(TypeError, match="model: expected a path, got bytes"):
        ray_data.predict(ray.data.range(1), b"TFL3")


def test_no_workers_are_refused(model):
    with pytest.raises(ValueError, match="workers: expected a positive number, got 0"):
        ray_data.predict(ray.data.range(1), model, workers=0)


def test_rows_of_which_every_worker_dies_end_the_job(model, tmp_path, monkeypatch):
    _watch(monkeypatch, workers.DiesAlways)
    dataset = ray_data.predict(
        _dataset(_images()[32:48]).map(lambda row: {**row, "id": row["id"] + 32}),
        model,
        "image",
        block_rows=16,
        folder=str(tmp_path),
    )
    with pytest.raises(ray.exceptions.RayError):
        dataset.take_all()
    assert len(workers.records(tmp_path / "died")) == 3
