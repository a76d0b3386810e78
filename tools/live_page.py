"""Makes the live page of the documents: `python tools/live_page.py FOLDER`; `make docs` calls it.

The page is that of web/live, with the engine and the modules of pages that `larq-engine export-web`
writes, the two models that are kept there, and networks with random weights to measure.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import live_models

from larq_engine.web_export.page_files import needed_files, sent_bytes, shared_files

ROOT = Path(__file__).resolve().parent.parent
LIVE = ROOT / "web" / "live"

sys.path.insert(0, str(ROOT / "examples"))  # the examples are programs, and no package

import keywords  # noqa: E402
from published import sounds, speaking  # noqa: E402

_SOUND = ("SIZE", "WINDOW", "HOP", "LENGTH", "WORDS", "STEPS")
_BITS = ("SINE_BITS", "SAMPLE_BITS", "WEIGHT_BITS", "LEVEL_BITS", "TABLE_BITS", "STEP_BITS")
_RULE = ("LOOK", "LOUD", "PAUSE", "HISS", "SURE")


def build(folder: Path) -> None:
    """Writes the page's files to a folder, replacing its contents."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in page_files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def page_files() -> dict[str, bytes]:
    """Returns the content of each file by its path in the folder."""
    scripts = {f"live/{path.name}": path.read_bytes() for path in LIVE.glob("*.js")}
    names = ("page/page.css", "page/icon.svg", "live/live.js")
    files = needed_files(shared_files() | scripts, *names)
    files["index.html"] = (LIVE / "index.html").read_bytes()
    models = {f"models/{path.name}": path.read_bytes() for path in LIVE.glob("*.tflite")}
    files["models/digits.tflite"] = digits = models["models/digits.tflite"]
    # The files above are sent before the first digit is read, and those below on demand.
    sent = sent_bytes(files)
    files["models/words.tflite"] = words = models["models/words.tflite"]
    files["models/tables.json"] = json.dumps(tables()).encode()
    benchmark = []
    for network, content, about, kind in _networks():
        name = f"models/{network}.tflite"
        files[name] = content
        facts = {"name": network, "file": name, "about": about, "kind": kind}
        benchmark.append(facts | {"bytes": len(content)})
    settings = {
        "digits": {"file": "models/digits.tflite", "bytes": len(digits), "sentBytes": sent},
        "words": {
            "file": "models/words.tflite",
            "bytes": len(words),
            "tables": "models/tables.json",
            "rate": speaking.RATE,
            "words": sounds.WORDS,
        },
        "benchmark": benchmark,
    }
    return files | {"settings.json": json.dumps(settings).encode()}


def tables() -> dict[str, Any]:
    """Returns the numbers by which examples/keywords.py hears words."""
    constants = {name: getattr(sounds, name) for name in (*_SOUND, *_BITS)}
    constants |= {name: getattr(keywords, name) for name in _RULE}
    return {
        **constants,
        "RATE": speaking.RATE,
        "SINES": sounds.sines().tolist(),
        "FIRST_FREQUENCIES": sounds.first_frequencies().tolist(),
        "RISING_WEIGHTS": sounds.rising_weights().tolist(),
        "LOGARITHMS": sounds.logarithms().tolist(),
    }


def _networks() -> list[tuple[str, bytes, str, str]]:
    """Returns names, files, descriptions, and the operator that is timed; all of them if ""."""
    found = []
    for name, (channels, size) in live_models.LAYERS.items():
        about = f"3 x 3, {channels} channels, {size} x {size}"
        found.append((name, live_models.layer(name), about, "LceBconv2d"))
    about = "QuickNet's layers, 224 x 224, with those in floats"
    return [*found, ("QuickNet", live_models.quicknet_shaped(), about, "")]


if __name__ == "__main__":
    build(Path(sys.argv[1]))
