"""Serves a model over HTTP with Ray Serve, and runs requests that come together as one batch."""

import asyncio
import json
import os
from typing import Any

import numpy as np

from larq_engine.batch.predictor import Predictor
from larq_engine.batch.row_body import read_row
from larq_engine.batch.rows import row_shape
from larq_engine.python.extras import pip_install
from larq_engine.python.tensors import Array

try:
    from ray import serve
    from starlette.requests import Request
    from starlette.responses import Response
except ModuleNotFoundError as error:
    raise ImportError(
        f"larq_engine.batch.ray_serve needs {error.name}, which is not installed; "
        f"{pip_install('ray')}"
    ) from error

_ERROR = "error"
_READING = ("GET", "HEAD")


def deployment(
    model: str | os.PathLike[str],
    *,
    replicas: int = 1,
    num_cpus: int = 1,
    batch_size: int = 16,
    wait_seconds: float = 0.005,
    max_queued_requests: int = 100,
    **options: Any,
) -> "serve.Application":
    """Makes an application for `ray.serve.run`.

    The body of a POST is one row for the model's input: a .npy file, as `numpy.save` writes it, or
    its numbers as lists in JSON. The answer is JSON: a list for each output by its name, with null
    for infinity and NaN. A GET of / tells the names, types and shapes of inputs and outputs, and
    one of /health that the replica has its model.

    Errors are {"error": why}. Their status is 400 if the body is no row or the model cannot take
    it; 404 or 405 for other paths or methods; 408 if the body takes longer than 10 seconds; 503,
    from Ray, if the queue is full.

    Args:
        model: A path that all machines know.
        replicas: The number of processes, each with the model.
        num_cpus: CPUs of each process, and its threads.
        batch_size: The most requests to run at once.
        wait_seconds: The seconds that a request waits for others.
        max_queued_requests: The most requests that may wait while all replicas are busy.
        **options: Arguments of `larq_engine.Interpreter`, such as device="cuda".

    Raises:
        TypeError: There is no such option.
    """
    # This finds unknown options; for those, Serve only tells that its replicas do not start.
    _make_predictor(model, options)
    made = serve.deployment(
        Server,
        num_replicas=replicas,
        ray_actor_options={"num_cpus": num_cpus},
        # One batch runs while the next one gathers.
        max_ongoing_requests=2 * batch_size,
        max_queued_requests=max_queued_requests,
    )
    return made.bind(os.fspath(model), batch_size, wait_seconds, options)


class Server:
    """One process of a deployment."""

    # A client that stops sending blocks others, as Ray limits the number of started requests.
    body_seconds = 10.0

    def __init__(
        self, model: str, batch_size: int, wait_seconds: float, options: dict[str, Any]
    ) -> None:
        self._predict = _make_predictor(model, options)
        self._pages = {"": self._predict.describe(), "health": {"status": "ok"}}
        self._batched.set_max_batch_size(batch_size)
        self._batched.set_batch_wait_timeout_s(wait_seconds)

    async def __call__(self, request: Request) -> Response:
        path = request.url.path.removeprefix(request.scope.get("root_path", "")).strip("/")
        if path not in self._pages:
            return _answer({_ERROR: f"path: expected / or /health, got /{path}"}, 404)
        methods = _READING if path else (*_READING, "POST")
        if request.method not in methods:
            words = f"method: expected {', '.join(methods)}, got {request.method}"
            return _answer({_ERROR: words}, 405, {"Allow": ", ".join(methods)})
        if request.method in _READING:
            return _answer(self._pages[path], 200)
        try:
            row = read_row(await asyncio.wait_for(request.body(), self.body_seconds))
        except asyncio.TimeoutError:
            words = f"body: expected all of it in {self.body_seconds:g} s, got less; send it faster"
            return _answer({_ERROR: words}, 408)
        except ValueError as error:
            return _answer({_ERROR: str(error)}, 400)
        results = await self._batched(row)
        return _answer(results, 400 if _ERROR in results else 200)

    def predict_rows(self, rows: list[Array]) -> list[dict[str, Any]]:
        """Returns for each row its outputs, or an error."""
        results = self._predict({"row": rows})
        errors = results.pop(_ERROR)
        return [
            {_ERROR: error}
            if error
            else {name: _as_json(values[number]) for name, values in results.items()}
            for number, error in enumerate(errors)
        ]

    # serve.batch calls it with the rows that several callers gave, one each.
    @serve.batch  # type: ignore[untyped-decorator]
    async def _batched(self, rows: list[Array]) -> list[dict[str, Any]]:
        # It runs in a thread, so that requests are accepted meanwhile.
        return await asyncio.to_thread(self.predict_rows, rows)


class _InputPredictor(Predictor):
    """A Predictor for clients who send a row, and know inputs but no columns."""

    def _title(self, input_name: str, column: str) -> str:
        return f"input '{input_name}'"

    def describe(self) -> dict[str, Any]:
        """Describes the inputs and outputs of a row; null is a size that the model leaves open."""
        model = self.open()._model
        return {
            side: [
                {
                    "name": info.name,
                    "type": str(info.dtype),
                    "shape": [None if size == "?" else size for size in row_shape(info)],
                }
                for info in infos
            ]
            for side, infos in (("inputs", model._inputs), ("outputs", model._outputs))
        }


def _make_predictor(model: str | os.PathLike[str], options: dict[str, Any]) -> _InputPredictor:
    return _InputPredictor(model, "row", on_error="null", error_column=_ERROR, **options)


def _as_json(values: Array) -> Any:
    """Returns lists of numbers; infinity and NaN, which JSON does not have, become null."""
    if values.dtype.kind != "f":
        return values.tolist()
    made = np.asarray(values).astype(object)
    made[~np.isfinite(values)] = None
    return made.tolist()


def _answer(
    content: dict[str, Any], status: int, headers: dict[str, str] | None = None
) -> Response:
    return Response(json.dumps(content), status, headers, media_type="application/json")
