"""Exported pages in headless Chromium give Python's answers to the bit, and ask nobody else."""

import json
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests.browsers import installed_browser
from tests.docs import pages
from tests.model_builder import one_op_model
from tests.web_export.page_server import PageServer
from tests.web_export.png import write_png
from tools.browser import MADE_UP_DEVICES, Page

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_DIGITS = _ROOT / "web" / "live" / "digits.tflite"
_INTEROP = sorted((_ROOT / "tests" / "interop" / "data").glob("*.tflite"))
_LABELS = [f"digit {n}" for n in range(10)]
_SOME_INTEROP = _INTEROP[:: max(1, len(_INTEROP) // 3)]
_READY = "document.querySelector('section') !== null"


@pytest.fixture(scope="module")
def browser():
    with Page(installed_browser()) as page:
        yield page


@pytest.fixture
def digits(browser, tmp_path):
    """Serves a page for digits, opens it, and returns the server."""
    larq_engine.export_web(_DIGITS, labels=_LABELS, mean=0, std=255).save(tmp_path / "page")
    with PageServer(tmp_path / "page") as server:
        browser.prefer("light")
        browser.resize(1100, 900)
        browser.open(server.address)
        browser.wait_for(_READY)
        yield server


def _numbers(browser):
    """Waits for an answer, and returns all its numbers by the names of outputs."""
    browser.evaluate("document.querySelector('details').open = true")
    text = browser.wait_for("document.querySelector('pre').textContent")
    browser.evaluate("document.querySelector('pre').textContent = ''")
    pairs = (line.rpartition(": ") for line in text.splitlines())
    return {name: np.array(numbers.split(), np.float64) for name, _, numbers in pairs}


def _luma(pixels):
    """Returns what a page's model gets of pixels whose channels are red, green and blue."""
    red, green, blue = np.moveaxis(pixels.astype(np.float64), -1, 0)
    value = 255 * (0.299 * red + 0.587 * green + 0.114 * blue) / 255
    return (value / 255).astype(np.float32)[None, ..., None]


def _choose(browser, file, pixels):
    write_png(file, pixels)
    browser.choose_file("input[type=file]", file)


def test_a_picture_gets_pythons_answer(browser, digits, tmp_path, request):
    rng = np.random.default_rng(request.config.getoption("--seed"))
    with larq_engine.Interpreter(_DIGITS, host="none") as interpreter:
        for _ in range(3):
            pixels = rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)
            _choose(browser, tmp_path / "digit.png", pixels)
            [answer] = _numbers(browser).values()
            [expected] = interpreter.predict(_luma(pixels))
            np.testing.assert_array_equal(answer.astype(np.float32), expected)
            said = browser.evaluate("document.querySelector('.said').textContent")
            assert said == _LABELS[expected.argmax()]
    assert browser.complaints() == []
    assert all(address.startswith(digits.address) for address in browser.requests())
    engine = {"dist/index.js", "dist/worker.js", "wasm/larq_engine.wasm"}
    asked = {path for path in digits.paths if path.startswith("/engine/")}
    assert asked == {f"/engine/{name}" for name in engine}


def test_many_numbers_are_shown_when_they_are_asked_for(browser, tmp_path, request):
    """The answer has more numbers than a call of JavaScript takes arguments."""
    shape = {"shape": (1, 400, 400, 1)}
    model = one_op_model("RELU", shape, shape)
    larq_engine.export_web(model, mean=0, std=255).save(tmp_path / "page")
    rng = np.random.default_rng(request.config.getoption("--seed"))
    pixels = rng.integers(0, 256, (400, 400, 3), dtype=np.uint8)
    expected = np.ravel(_luma(pixels))
    with PageServer(tmp_path / "page") as server:
        browser.open(server.address)
        browser.wait_for(_READY)
        _choose(browser, tmp_path / "many.png", pixels)
        said = browser.wait_for("document.querySelector('.said').textContent")
        assert said == f"class {expected.argmax()}"
        labels = browser.evaluate(
            "Array.from(document.querySelectorAll('.best .label'), (label) => label.textContent)"
        )
        best = np.argsort(-expected, kind="stable")[:5]
        assert labels == [f"class {place}" for place in best]
        assert browser.evaluate("document.querySelector('pre').textContent") == ""
        [answer] = _numbers(browser).values()
        np.testing.assert_array_equal(answer.astype(np.float32), expected)
        assert browser.complaints() == []


def test_the_best_of_numbers_with_nan(browser, digits):
    """NaN and minus infinity come last, and equal numbers in the order of their places."""
    order = browser.evaluate(
        """import("/page/answers.js").then(({ Answers }) => {
          const answers = new Answers();
          const real = [NaN, 1, -Infinity, 3, 1, 2, 3, NaN, 1];
          answers.show([{ name: "y", values: real, real }]);
          const labels = answers.element.querySelectorAll(".label");
          return Array.from(labels, (label) => label.textContent);
        })"""
    )
    assert order == [f"class {place}" for place in (3, 6, 5, 1, 4)]


def test_it_works_without_its_server(browser, digits, tmp_path):
    digits.close()
    pixels = np.full((8, 8, 3), 200, np.uint8)
    _choose(browser, tmp_path / "digit.png", pixels)
    [answer] = _numbers(browser).values()
    with larq_engine.Interpreter(_DIGITS, host="none") as interpreter:
        [expected] = interpreter.predict(_luma(pixels))
    np.testing.assert_array_equal(answer.astype(np.float32), expected)
    assert browser.complaints() == []


def test_what_is_no_picture(browser, digits, tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    browser.choose_file("input[type=file]", tmp_path / "text.png")
    said = browser.wait_for("document.querySelector('.said').textContent")
    assert said == "text.png: expected a picture, such as PNG or JPEG, got another file"


def test_the_camera_is_followed(tmp_path):
    larq_engine.export_web(_DIGITS, mean=0, std=255).save(tmp_path / "page")
    with (
        PageServer(tmp_path / "page") as server,
        Page(installed_browser(), *MADE_UP_DEVICES) as page,
    ):
        page.open(server.address)
        page.wait_for("document.querySelector('button') !== null")
        page.evaluate("document.querySelector('button').click()")
        first, second = _numbers(page), _numbers(page)
        assert first.keys() == second.keys()
        page.evaluate("document.querySelector('button').click()")
        page.wait_for("document.querySelector('button').textContent == 'Start the camera'")
        assert page.complaints() == []


@pytest.fixture(scope="module")
def camera(tmp_path_factory):
    """A page in a browser with a made-up camera, which keeps the streams that were asked for."""
    folder = tmp_path_factory.mktemp("camera") / "page"
    larq_engine.export_web(_DIGITS, mean=0, std=255).save(folder)
    with PageServer(folder) as server, Page(installed_browser(), *MADE_UP_DEVICES) as page:
        page.open(server.address)
        page.wait_for(_READY)
        page.evaluate(
            """import("/page/picture_input.js").then(({ PictureInput }) => {
              const devices = navigator.mediaDevices;
              const ask = devices.getUserMedia.bind(devices);
              devices.getUserMedia = async (wanted) => {
                await window.permission;
                const stream = await ask(wanted);
                window.streams.push(stream);
                return stream;
              };
              // A made-up model, whose answers the test gives.
              window.show = () => {
                Object.assign(window, { streams: [], asked: [], said: [] });
                window.permission = undefined;
                const answer = () =>
                  new Promise((resolve, reject) => window.asked.push({ resolve, reject }));
                const { element } = new PictureInput(answer, (text) => window.said.push(text));
                document.getElementById("main").replaceChildren(element);
                window.button = element.querySelector("button");
              };
              window.isFree = () => button.getAttribute("aria-disabled") === null;
              window.isOff = () => isFree() && button.textContent === "Start the camera" &&
                streams.every((one) => one.getTracks().every((t) => t.readyState === "ended"));
              window.frames = async () => {
                for (let n = 0; n < 5; ++n) await new Promise((go) => requestAnimationFrame(go));
              };
            })"""
        )
        yield page


def test_a_camera_that_cannot_play_is_off(camera):
    camera.evaluate("show()")
    camera.evaluate(
        """(async () => {
          const { play } = HTMLMediaElement.prototype;
          HTMLMediaElement.prototype.play = () => Promise.reject(new Error("no picture"));
          button.click();
          while (!said.length) await frames();
          HTMLMediaElement.prototype.play = play;
        })()"""
    )
    assert camera.evaluate("said") == ["The camera cannot be used: no picture"]
    assert camera.evaluate("streams.length") == 1
    assert camera.evaluate("frames().then(isOff)")


def test_a_quick_stop_and_start_of_the_camera(camera):
    """An answer that comes after a stop does not go on with the camera's next start."""
    camera.evaluate("show(); button.click()")
    camera.wait_for("asked.length == 1 && isFree()")
    camera.evaluate("button.click()")
    camera.wait_for("isOff()")
    camera.evaluate("button.click()")
    camera.wait_for("asked.length == 2 && isFree()")
    camera.evaluate("asked[0].resolve()")
    assert camera.evaluate("frames().then(() => asked.length)") == 2
    camera.evaluate("asked[1].resolve()")
    camera.wait_for("asked.length == 3")
    camera.evaluate("button.click()")
    camera.wait_for("isOff()")
    assert camera.evaluate("said") == []


def test_an_error_while_the_camera_is_followed(camera):
    camera.evaluate("show(); button.click()")
    camera.wait_for("asked.length == 1 && isFree()")
    camera.evaluate("asked[0].reject(new Error('no memory'))")
    said = camera.evaluate("frames().then(() => said)")
    assert said == ["The camera cannot be used: no memory"]
    assert camera.evaluate("isOff()")
    assert camera.complaints() == []


def test_a_picture_is_chosen_while_the_camera_is_asked_for(camera, tmp_path):
    write_png(tmp_path / "digit.png", np.full((8, 8, 3), 200, np.uint8))
    camera.evaluate(
        "show(); permission = new Promise((resolve) => (window.permit = resolve)); button.click()"
    )
    camera.choose_file("input[type=file]", tmp_path / "digit.png")
    camera.wait_for("asked.length == 1")
    camera.evaluate("permit()")
    camera.wait_for("streams.length == 1 && isOff()")
    assert camera.evaluate("frames().then(() => [asked.length, said.length])") == [1, 0]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 360])
def test_it_fits(browser, digits, theme, width):
    browser.prefer(theme)
    browser.resize(width, 900)
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    ground = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[theme]


def test_keys_reach_all_controls(browser, digits):
    reached = []
    for _ in range(4):
        browser.press("Tab")
        reached.append(
            browser.evaluate(
                "(document.activeElement.closest('label') ?? document.activeElement).textContent"
            )
        )
    assert reached[:3] == ["Skip to the model", "Choose a picture", "Start the camera"]
    nodes = browser.send("Accessibility.getFullAXTree")["nodes"]
    heard = [node for node in nodes if not node["ignored"]]
    named = [node for node in heard if node["role"]["value"] in ("button", "heading", "link")]
    assert len(named) >= 5 and all(node["name"]["value"].strip() for node in named)
    assert "status" in [node["role"]["value"] for node in heard]


@pytest.mark.parametrize("file", _SOME_INTEROP, ids=lambda file: file.stem)
def test_numbers_get_pythons_answer(browser, tmp_path, file):
    larq_engine.export_web(file, input="numbers").save(tmp_path / "page")
    with np.load(file.with_suffix(".npz")) as recorded:
        sample = recorded["x"][:1]
    with larq_engine.Interpreter(file, host="none") as interpreter:
        expected = np.ravel(interpreter.predict(sample))
    with PageServer(tmp_path / "page") as server:
        browser.open(server.address)
        browser.wait_for(_READY)
        text = " ".join(repr(float(value)) for value in sample.ravel())
        _give(browser, text)
        [answer] = _numbers(browser).values()
        np.testing.assert_array_equal(answer.astype(expected.dtype), expected)
        _give(browser, "1 2")
        said = browser.wait_for("document.querySelector('.said:not(.answer)')?.textContent")
        assert said.endswith(f": expected {sample.size} numbers, got 2")
        assert browser.evaluate("document.querySelectorAll('.best li').length") == 0
        assert browser.evaluate("document.querySelector('details').hidden")
        assert browser.complaints() == []


def _give(browser, numbers):
    """Writes numbers into the first field, and presses the button that runs the model."""
    browser.evaluate(f"document.querySelector('textarea').value = '{numbers}'")
    browser.evaluate("document.querySelectorAll('button')[1].click()")


def test_numbers_set_a_size_that_the_file_leaves_open(browser, tmp_path):
    """A sum over the axis that is open shows that the numbers are one sample, and no batch."""
    x, y = ({"shape": (1, 1), "signature": (-1, last)} for last in (-1, 1))
    model = one_op_model("SUM", x, y, ["x", np.array([1], np.int32)], keepDims=True)
    larq_engine.export_web(model).save(tmp_path / "page")
    with PageServer(tmp_path / "page") as server:
        browser.open(server.address)
        browser.wait_for(_READY)
        for numbers in ([1, 2, 3, 4], [0.5, 2]):
            _give(browser, " ".join(map(str, numbers)))
            [answer] = _numbers(browser).values()
            with larq_engine.Interpreter(model, host="none") as interpreter:
                interpreter.resize([(1, len(numbers))])
                [expected] = interpreter.predict(np.array([numbers], np.float32))
            np.testing.assert_array_equal(answer.astype(np.float32), expected)
        assert browser.complaints() == []


def _read(browser, text, dtype, shape=(1, 2)):
    """Returns what number_text.js makes of a text, or its error."""
    about = json.dumps({"name": "x", "dtype": dtype, "shape": shape})
    return browser.evaluate(
        f"""import("/page/number_text.js").then(({{ readNumbers }}) => {{
          try {{
            return Array.from(readNumbers("{text}", {about}), String);
          }} catch (error) {{
            return error.message;
          }}
        }})"""
    )


def test_the_count_of_numbers_is_that_of_one_sample(browser, digits):
    for shape in ((1, 2), (-1, 2), (2, 1)):
        assert _read(browser, "1 2", "int32", shape) == ["1", "2"]
        for text, count in (("1", 1), ("1 2 3", 3), ("1 2 3 4", 4), ("", 0)):
            said = _read(browser, text, "int32", shape)
            assert said == f"x: expected 2 numbers, got {count}"
    assert _read(browser, "1 2 3 4", "int32", (1, -1, 2)) == ["1", "2", "3", "4"]
    for text, count in (("1 2 3", 3), ("", 0)):
        said = _read(browser, text, "int32", (1, -1, 2))
        assert said == f"x: expected a multiple of 2 numbers, got {count}"
    hint = "; write fractions with a point, as in 0.5"
    assert _read(browser, "0,5 1,5", "float32") == f"x: expected 2 numbers, got 4{hint}"
    assert _read(browser, "1,2", "float32") == ["1", "2"]


_HELD = {  # for each type, numbers that it holds
    "int64": "9223372036854775807 -9223372036854775808",
    "int32": "2147483647 -2147483648",
    "int8": "1e2 -128",
    "uint8": "255 0",
    "bool": "1 0",
    "float32": "3.4e38 0.1",
}
_NOT_HELD = [
    *[("int8", word, "numbers that int8 holds") for word in ("300", "-129", "1.7")],
    ("uint8", "-1", "numbers that uint8 holds"),
    ("int32", "2147483648", "numbers that int32 holds"),
    ("bool", "256", "numbers that bool holds"),
    ("float32", "1e39", "numbers that float32 holds"),
    ("int64", "9223372036854775808", "numbers that int64 holds"),
    *[("int64", word, "whole numbers in digits for int64") for word in ("1e3", "1.5", "0x10")],
    ("int32", "one", "a number"),
]


def test_numbers_that_a_type_does_not_hold(browser, digits):
    """Numbers at the ends of a type's range are kept, and those beyond it are named."""
    for dtype, text in _HELD.items():
        kept = _read(browser, text, dtype)
        scalar = np.dtype(dtype).type if dtype == "float32" else int
        expected = [
            scalar(float(word) if dtype in ("float32", "int8") else word) for word in text.split()
        ]
        assert [scalar(word) for word in kept] == expected
    for dtype, word, expected in _NOT_HELD:
        said = _read(browser, f"1 {word}", dtype)
        assert said == f"x: expected {expected}, got {word}"


@pytest.mark.parametrize("snippet", pages.WEB, ids=str)
def test_python_of_the_page_of_documents_runs(snippet, tmp_path):
    pages.check(snippet, tmp_path)
