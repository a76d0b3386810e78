"""These tests need Ray, in an environment of its own: tools/test_ray.sh runs them.

They share one Ray of two CPUs on this machine, with room for 100 MiB of data.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

if not os.environ.get("LARQ_ENGINE_TEST_RAY"):
    collect_ignore_glob = ["test_*.py"]

OBJECT_STORE_BYTES = 100 << 20


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    import ray

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=OBJECT_STORE_BYTES,
        log_to_driver=False,
        logging_level="error",
    )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a model from images of 96x96x3 to 10 scores."""
    from larq_engine.converter.example import example_model

    path = tmp_path_factory.mktemp("model") / "model.tflite"
    path.write_bytes(example_model())
    return path
