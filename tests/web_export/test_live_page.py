"""The live page of the documents: digits, words and a benchmark, in headless Chromium and Node."""

import json
import subprocess
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests.browsers import installed_browser
from tests.web_export.page_server import PageServer
from tools.browser import MADE_UP_DEVICES, Page

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_LIVE = _ROOT / "web" / "live"
_WORDS = ("yes", "down", "stop")
_BOARD = 280  # points of a side of the board
_MOST_BYTES = 400_000  # of the page with digits, compressed as the best servers do


def _python(*arguments):
    """Runs a program of the repository, and returns what it prints."""
    command = [sys.executable, *map(str, arguments)]
    environment = {"PYTHONPATH": f"{_ROOT}:{_ROOT / 'examples'}", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _node(script, given=""):
    command = ["node", "--input-type=module", "-e", script]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    _python(_ROOT / "tools" / "live_page.py", folder)
    return folder


@pytest.fixture(scope="module")
def browser():
    with Page(installed_browser()) as page:
        yield page


@pytest.fixture
def page(browser, site):
    with PageServer(site) as server:
        browser.prefer("light")
        browser.resize(1200, 1600)
        browser.open(f"{server.address}?ms=10")
        browser.wait_for("document.querySelector('#digits .said')?.textContent == 'Draw a digit'")
        yield browser
        assert all(address.startswith(server.address) for address in browser.requests())


def _answer(page, part):
    """Waits for an answer in a part of the page, and returns its numbers."""
    page.evaluate(f"document.querySelector('#{part} details').open = true")
    numbers = f"document.querySelector('#{part} pre')"
    text = page.wait_for(f"{numbers}.textContent")
    page.evaluate(f"{numbers}.textContent = ''")
    return np.array(text.partition(": ")[2].split(), np.float64)


def _said(page, part):
    return page.evaluate(f"document.querySelector('#{part} .said').textContent")


def _counts(strokes):
    """Returns what strokes.js makes of a drawing."""
    script = f"""
import {{ countsOf }} from "{_LIVE.as_uri()}/strokes.js";
import {{ SAMPLES }} from "{_LIVE.as_uri()}/sample_digits.js";
console.log(JSON.stringify({strokes}.map((drawn) => Array.from(countsOf(drawn)))));"""
    return np.array(json.loads(_node(script)))


def test_samples_are_read(page):
    """Each sample is the digit of its name, and its scores are Python's to the bit."""
    scaled = f"({{ x, y }}) => ({{ x: x * {_BOARD}, y: y * {_BOARD} }})"
    counts = _counts(f"SAMPLES.map((lines) => lines.map((line) => line.map({scaled})))")
    with larq_engine.Interpreter(_LIVE / "digits.tflite", host="none") as interpreter:
        expected = interpreter.predict((counts / 16).astype(np.float32).reshape(-1, 8, 8, 1))
    for digit in range(10):
        page.evaluate(f"document.querySelectorAll('.samples button')[{digit}].click()")
        answer = _answer(page, "digits")
        np.testing.assert_array_equal(answer.astype(np.float32), expected[digit])
        assert _said(page, "digits") == str(digit)
    assert page.complaints() == []


def test_a_drawing_is_read(page):
    """The mouse draws a zero, small and in a corner; it is read all the same."""
    box = page.evaluate(
        "(({ left, top }) => [left, top])(document.querySelector('.drawing')"
        ".getBoundingClientRect())"
    )
    angles = np.linspace(0, 2 * np.pi, 24)
    points = np.stack([70 + 30 * np.cos(angles), 70 + 50 * np.sin(angles)], 1) + box
    for number, (x, y) in enumerate(points):
        kind = {0: "mousePressed", len(points) - 1: "mouseReleased"}.get(number, "mouseMoved")
        button = {"x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        page.send("Input.dispatchMouseEvent", type=kind, **button)
    assert _answer(page, "digits").argmax() == 0
    page.evaluate("document.querySelector('.board button').click()")
    assert page.wait_for("document.querySelector('#digits .said').textContent") == "Draw a digit"


def test_counts_of_ink():
    """A dot is a disc in the middle, a line fills its direction, and the size does not matter."""
    dot, across, large = _counts(
        "[[[{ x: 3, y: 5 }]], [[{ x: 0, y: 0 }, { x: 1, y: 0 }]],"
        "[[{ x: 0, y: 700 }, { x: 1000, y: 700 }]]]"
    ).reshape(3, 8, 8)
    assert dot.sum() == dot[3:5, 3:5].sum() == 4 * dot[3, 3] > 0
    assert across[3:5].min() > 0 and across[[0, 1, 2, 5, 6, 7]].max() == 0
    np.testing.assert_array_equal(across, large)


def test_words_of_a_file_are_heard_as_in_python(page, tmp_path):
    sound = tmp_path / "words.wav"
    _python(_ROOT / "examples/published/speaking.py", sound, *_WORDS)
    model = _LIVE / "words.tflite"
    lines = _python(_ROOT / "examples/keywords.py", "listen", model, "--file", sound)
    expected = [line.split() for line in lines.splitlines()]
    assert [word for _, _, word, _ in expected] == list(_WORDS)
    page.choose_file("#words input", sound)
    said = page.wait_for("document.querySelector('#words .answer')?.textContent")
    page.wait_for("document.querySelectorAll('.heard li').length")
    heard = page.evaluate(
        "Array.from(document.querySelectorAll('.heard li'), (one) => one.textContent)"
    )
    assert heard == [f"{word} at {seconds} s, {score}" for seconds, _, word, score in expected]
    assert said == " ".join(_WORDS) == _said(page, "words")
    assert page.complaints() == []


def test_the_microphone_is_recorded(site):
    """A made-up microphone beeps. Its recording is run, and the microphone is free again."""
    with PageServer(site) as server, Page(installed_browser(), *MADE_UP_DEVICES) as page:
        page.open(server.address)
        page.wait_for("document.querySelector('#words button') !== null")
        page.evaluate("document.querySelector('#words button').click()")
        page.wait_for("document.querySelector('#words .said').textContent == 'Listening'")
        _answer(page, "words")
        idle = "document.querySelector('#words button').getAttribute('aria-disabled') === null"
        page.wait_for(idle)
        assert page.complaints() == []


def test_silence_has_no_words(page, tmp_path):
    with wave.open(str(tmp_path / "quiet.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(bytes(4 * 44100))
    page.choose_file("#words input", tmp_path / "quiet.wav")
    page.wait_for("document.querySelector('#words .said').textContent == 'No word was heard'")


def test_spectrograms_have_pythons_bytes(site, request):
    seed = request.config.getoption("--seed")
    made = _python(
        "-c",
        f"""
import json, numpy as np
from published import sounds
rng, places = np.random.default_rng({seed}), np.arange(sounds.LENGTH)
every = [np.full(sounds.LENGTH, 32767), np.full(sounds.LENGTH, -32768), 0 * places, 1 + 0 * places,
         np.where(places // 11 % 2, 32767, -32768), 3e4 * np.sin(places * 0.3),
         *(rng.normal(0, level, sounds.LENGTH) for level in (2, 300, 1e6))]
every = np.rint(np.stack(every)).clip(-32768, 32767).astype(int)
images = [sounds.spectrogram(second).ravel() - 128 for second in every]
print(json.dumps([every.tolist(), np.stack(images).astype(int).tolist()]))
""",
    )
    seconds, expected = json.loads(made)
    tables = (site / "models/tables.json").as_posix()
    script = f"""
import {{ readFileSync }} from "node:fs";
import {{ Spectrogram }} from "{_LIVE.as_uri()}/spectrogram.js";
const tables = JSON.parse(readFileSync("{tables}"));
const images = JSON.parse(readFileSync(0)).map((second) => {{
  const sound = new Spectrogram(tables);
  for (const sample of second) sound.push(sample);
  return Array.from(sound.image());
}});
console.log(JSON.stringify(images));"""
    got = json.loads(_node(script, json.dumps(seconds)))
    np.testing.assert_array_equal(got, expected)


def test_the_benchmark_ends(page):
    page.evaluate("document.querySelector('#benchmark button').click()")
    page.wait_for("document.querySelector('#benchmark p[role=status]').textContent == 'Done'")
    rows = page.evaluate(
        "Array.from(document.querySelectorAll('tbody tr'), (row) => "
        "Array.from(row.cells, (cell) => cell.firstChild.textContent))"
    )
    assert [row[0] for row in rows] == ["A", "B", "C", "D", "QuickNet"]
    assert all(float(row[2]) > 0 for row in rows)
    drawn = page.evaluate("document.querySelector('.bars').getAttribute('aria-label')")
    assert all(f"{row[0]} {row[2]}" in drawn for row in rows)
    assert page.complaints() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_it_fits(page, theme, width):
    page.prefer(theme)
    page.resize(width, 900)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 28)"}[theme]


def test_keys_and_screen_readers(page):
    """Keys choose a sample, whose answer is told; each control and picture has a name."""
    for _ in range(3):
        page.press("Tab")  # past the link to the digits and that to the documents
    assert page.evaluate("document.activeElement.ariaLabel") == "Sample 0"
    page.press("Enter")
    assert _answer(page, "digits").argmax() == 0
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    heard = [node for node in nodes if not node["ignored"]]
    named = {"button", "link", "region", "image", "heading"}
    for node in heard:
        if node["role"]["value"] in named:
            assert node["name"]["value"].strip(), node
    roles = [node["role"]["value"] for node in heard]
    assert {"banner", "main", "contentinfo", "region", "status", "image"} <= set(roles)


def test_the_page_with_digits_is_small(site):
    settings = json.loads((site / "settings.json").read_text())
    later = {"models/words.tflite", "models/tables.json"}
    later |= {network["file"] for network in settings["benchmark"]}
    later.add("engine/wasm/larq_engine_plain.wasm")  # a browser of today loads the other module
    files = [path for path in site.rglob("*") if path.is_file()]
    first = [str(path) for path in files if path.relative_to(site).as_posix() not in later]
    script = """
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };  // the best takes many seconds
const sizes = JSON.parse(readFileSync(0)).map(
  (file) => brotliCompressSync(readFileSync(file), { params }).length,
);
console.log(sizes.reduce((all, size) => all + size, 0));"""
    assert int(_node(script, json.dumps(first))) < _MOST_BYTES
