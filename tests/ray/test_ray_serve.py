"""Ray Serve: requests over loopback are answered with what the Interpreter computes."""

import io
import json
import socket
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ray import serve

import larq_engine
from larq_engine.batch import ray_serve
from tests.model_builder import open_conv_model
from tests.ray import workers

pytestmark = pytest.mark.usefixtures("cluster")

_PORT = 18_437
_URL = f"http://127.0.0.1:{_PORT}/"


@pytest.fixture(scope="module", autouse=True)
def proxy(cluster: None) -> Iterator[None]:
    serve.start(http_options={"host": "127.0.0.1", "port": _PORT})
    yield
    serve.shutdown()


def _body(row: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, row)
    return file.getvalue()


def _post(body: bytes) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(_URL, data=body, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def test_requests_are_run_in_batches(model, tmp_path, monkeypatch):
    batches = tmp_path / "batches"
    monkeypatch.setattr(ray_serve, "Server", _watched(str(batches)))
    serve.run(ray_serve.deployment(model, batch_size=8, max_queued_requests=1000))
    images = np.random.default_rng(0).standard_normal((500, 96, 96, 3)).astype(np.float32)
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(_post, map(_body, images)))
    assert Counter(status for status, _ in answers) == {200: 500}
    [name] = larq_engine.Interpreter(model).output_names
    got = np.array([json.loads(text)[name] for _, text in answers], np.float32)
    assert np.array_equal(got, larq_engine.Interpreter(model).predict(images))
    sizes = [size for [size] in workers.records(batches)]
    assert sum(sizes) == 500 and 1 < max(sizes) <= 8
    assert len(sizes) < 250, "most requests were run with others"


def _watched(batches: str) -> type:
    """Returns a server that writes to the file `batches`, though another process makes it."""

    class Watched(workers.WatchedServer):
        def __init__(self, *arguments: object) -> None:
            import os

            os.environ["BATCHES_FILE"] = batches
            super().__init__(*arguments)

    return Watched


_BAD = {
    "empty": (b"", "expected a .npy file"),
    "object": (b'{"image": [1, 2]}', "expected numbers in JSON"),
    "text": (b"image", "expected a .npy file, as numpy.save writes it, or"),
    "cut": (_body(np.zeros((96, 96, 3), np.float32))[:-1], "got 110591 bytes"),
    "shape": (
        _body(np.zeros((96, 3, 96), np.float32)),
        "input 'image': expected float32 of the shape (96, 96, 3), got the shape (96, 3, 96)",
    ),
    "batch": (_body(np.zeros((1, 96, 96, 3), np.float32)), "got the shape (1, 96, 96, 3)"),
    "NaN": (_body(np.full((96, 96, 3), np.nan)), "got NaN"),
    "letters": (_body(np.full((96, 96, 3), "a")), "got <U1"),
}


def test_a_bad_body_is_told_why(model):
    serve.run(ray_serve.deployment(model, batch_size=8))
    for body, words in _BAD.values():
        status, text = _post(body)
        assert status == 400 and words in json.loads(text)["error"]
    good = _body(np.zeros((96, 96, 3), np.float64))
    with ThreadPoolExecutor(8) as pool:  # one bad row does not spoil the others
        bodies = [_BAD["NaN"][0], good] * 8
        assert [status for status, _ in pool.map(_post, bodies)] == [400, 200] * 8


def _ask(method: str, path: str) -> tuple[int, dict[str, object], str | None]:
    request = urllib.request.Request(_URL + path, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"{}"), None
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read()), error.headers["Allow"]


@pytest.mark.parametrize("prefix", ["/", "/digits"])
def test_what_the_model_takes_and_json(model, prefix):
    name = prefix.strip("/")
    serve.run(ray_serve.deployment(model), route_prefix=prefix)
    interpreter = larq_engine.Interpreter(model)
    status, answer, _ = _ask("GET", name)
    image = {"name": "image", "type": "float32", "shape": [96, 96, 3]}
    scores = {"name": "scores", "type": "float32", "shape": [10]}
    assert (status, answer) == (200, {"inputs": [image], "outputs": [scores]})
    path = f"{name}/" if name else ""
    assert _ask("GET", f"{path}health") == (200, {"status": "ok"}, None)
    assert _ask("HEAD", f"{path}health")[0] == 200
    assert _ask("GET", f"{path}other")[0] == 404
    status, answer, allowed = _ask("DELETE", name)
    assert (status, allowed) == (405, "GET, HEAD, POST") and "got DELETE" in str(answer["error"])
    assert _ask("POST", f"{path}health")[::2] == (405, "GET, HEAD")
    row = np.random.default_rng(0).standard_normal((96, 96, 3)).astype(np.float32)
    request = urllib.request.Request(_URL + name, json.dumps(row.tolist()).encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        got = np.array(json.loads(answer.read())["scores"], np.float32)
    assert np.array_equal(got, interpreter.predict(row[np.newaxis])[0])


def test_sizes_that_a_model_refuses_and_numbers_that_json_lacks(tmp_path):
    """A bad row of a batch does not spoil the others."""
    path = tmp_path / "open.tflite"
    path.write_bytes(open_conv_model())
    serve.run(ray_serve.deployment(path, batch_size=8))
    rows = [np.ones((5, 5, 2)), np.ones((1, 1, 2)), np.full((3, 3, 2), np.inf)] * 8
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(_post, map(_body, rows)))
    assert [status for status, _ in answers] == [200, 400, 200] * 8
    decoded = [json.loads(text, parse_constant=pytest.fail) for _, text in answers[:3]]
    assert decoded[0] == {"y": [[[18.0]] * 3] * 3} and decoded[2] == {"y": [[[None]]]}
    assert "expected shapes that the model's operators take" in decoded[1]["error"]


def test_clients_that_send_no_more(model, monkeypatch):
    """Silent clients take all places for a while, and then leave them to others."""
    monkeypatch.setattr(ray_serve, "Server", workers.ImpatientServer)
    serve.run(ray_serve.deployment(model, batch_size=2))
    good = _body(np.zeros((96, 96, 3), np.float32))
    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(good)}\r\n\r\n".encode()
    clients = [socket.create_connection(("127.0.0.1", _PORT), timeout=60) for _ in range(8)]
    for client in clients:
        client.sendall(head + good[:1000])
    assert _post(good)[0] == 200
    for client in clients:
        assert client.recv(12) == b"HTTP/1.1 408"
        client.close()
    assert _post(good)[0] == 200


def test_options_are_checked_at_once(model):
    with pytest.raises(TypeError, match="unexpected keyword argument 'nun_threads'"):
        ray_serve.deployment(model, nun_threads=2)


def test_a_full_queue_refuses(model, monkeypatch):
    monkeypatch.setattr(ray_serve, "Server", workers.SlowServer)
    serve.run(ray_serve.deployment(model, batch_size=1, max_queued_requests=2))
    good = _body(np.zeros((96, 96, 3), np.float32))
    with ThreadPoolExecutor(20) as pool:
        statuses = Counter(status for status, _ in pool.map(_post, [good] * 20))
    assert set(statuses) == {200, 503}
    assert _post(good)[0] == 200, "it goes on afterwards"
