"""The folder of a page, what its options do, and what is refused before anything is written."""

import html
import json
import re

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line import main
from larq_engine.python import whole_files
from tests.model_builder import ModelBuilder, one_op_model, open_conv_model
from tests.web_export import engine_files

engine = engine_files.engine


def _model(shape=(1, 8, 8, 1), dtype=np.float32, **quantization):
    """Returns a model that gives back what is positive of its input."""
    builder = ModelBuilder()
    x = builder.tensor(shape, dtype, **quantization)
    y = builder.tensor(shape, dtype, **quantization)
    builder.builtin("RELU", [x], [y])
    return builder.finish([x], [y])


def _settings(exported):
    return json.loads(exported.files["settings.json"])


def _refusal(capsys, *arguments):
    assert main(["export-web", *map(str, arguments)]) == 1
    return capsys.readouterr().err.removeprefix("larq-engine: error: ").rstrip("\n")


def test_the_folder_has_what_the_page_needs_and_no_more(engine, tmp_path, capsys):
    (tmp_path / "net.tflite").write_bytes(_model())
    folder = tmp_path / "net"
    assert main(["export-web", str(tmp_path / "net.tflite"), "-o", str(folder)]) == 0
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    scripts = {f"page/{path.name}" for path in engine_files.PAGE.glob("*.js")}
    names = ("index.js", "call.js", "worker.js")
    assert files == {
        *("index.html", "model.tflite", "settings.json", "page/page.css", "page/icon.svg"),
        *(f"engine/dist/{name}" for name in names),
        *("engine/wasm/larq_engine.wasm", "engine/wasm/larq_engine_plain.wasm"),
        *scripts,
    }
    assert (folder / "model.tflite").read_bytes() == _model()
    page = (folder / "index.html").read_text()
    assert "<title>net</title>" in page and "<h1>net</h1>" in page
    assert set(re.findall(r'(?:src|href)="([^"#]+)"', page)) <= files
    said = capsys.readouterr().out
    assert f"net: {len(files)} files, " in said and "asks for image" in said


@pytest.mark.parametrize(
    ("shape", "dtype", "quantization", "kind"),
    [
        ((1, 8, 8, 1), np.float32, {}, "image"),
        ((1, 96, 64, 3), np.float32, {}, "image"),
        ((1, 96, 64, 3), np.int8, {"scale": 0.5, "zero_point": 3}, "image"),
        ((1, 7, 8, 1), np.float32, {}, "numbers"),
        ((1, 96, 64, 2), np.float32, {}, "numbers"),
        ((2, 96, 64, 3), np.float32, {}, "numbers"),
        ((1, 4000), np.float32, {}, "sound"),
        ((1, 16000, 1), np.float32, {}, "sound"),
        ((1, 3999), np.float32, {}, "numbers"),
        ((2, 8000), np.float32, {}, "numbers"),
        ((1, 10), np.float32, {}, "numbers"),
    ],
)
def test_the_page_asks_for_what_the_input_looks_like(engine, shape, dtype, quantization, kind):
    exported = larq_engine.export_web(_model(shape, dtype, **quantization))
    assert exported.input_kind == _settings(exported)["kind"] == kind


def _open_model(signature, shape):
    tensor = {"shape": shape, "signature": signature}
    return one_op_model("RELU", tensor, tensor)


@pytest.mark.parametrize(
    ("signature", "shape", "kind"),
    [
        ((-1, 16, 16, 3), (1, 16, 16, 3), "image"),
        ((-1, 4000), (1, 4000), "sound"),
        ((1, 16, -1, 3), (1, 16, 16, 3), "numbers"),
        ((1, -1), (1, 4000), "numbers"),
        ((-1, -1), (1, 4000), "numbers"),
    ],
)
def test_open_sizes_other_than_the_batch_are_no_pictures_and_sounds(engine, signature, shape, kind):
    model = _open_model(signature, shape)
    assert larq_engine.export_web(model).input_kind == kind
    wanted = "sound" if len(shape) == 2 else "image"
    if kind == "numbers":
        sizes = " x ".join("any" if size == -1 else str(size) for size in (1, *signature[1:]))
        with pytest.raises(ValueError, match=f"'{wanted}' one input of fixed .* 'x' of {sizes},"):
            larq_engine.export_web(model, input=wanted)


def test_open_sizes_that_numbers_leave_open(engine):
    """The second model takes no image of 1 x 1, so that it is opened with larger ones."""
    for model in (_open_model((-1, -1, -1), (1, 1, 1)), open_conv_model()):
        with pytest.raises(ValueError, match=r"input 'x' of 1 x any x any.*: expected .*, got 2;"):
            larq_engine.export_web(model)


def test_the_kind_can_be_chosen(engine):
    assert larq_engine.export_web(_model(), input="numbers").input_kind == "numbers"
    short = larq_engine.export_web(_model((1, 100)), input="sound", rate=22050)
    assert (short.input_kind, _settings(short)["rate"]) == ("sound", 22050)
    with pytest.raises(ValueError, match=r"input: expected for 'image' one input .* of 1 x 100"):
        larq_engine.export_web(_model((1, 100)), input="image")
    with pytest.raises(ValueError, match=r"input: expected for 'sound' one input of .* 8 x 8"):
        larq_engine.export_web(_model(), input="sound")
    with pytest.raises(ValueError, match="input: expected one of image, sound, numbers, got film"):
        larq_engine.export_web(_model(), input="film")


def test_pixels_become_the_numbers_of_the_file(engine):
    colours = _settings(larq_engine.export_web(_model((1, 8, 8, 3)), mean=[1, 2, 3], std=4))
    assert (colours["mean"], colours["std"]) == ([1, 2, 3], [4, 4, 4])
    bytes_ = _model((1, 8, 8, 1), np.int8, scale=0.5, zero_point=3)
    quantized = _settings(larq_engine.export_web(bytes_, mean=127.5, std=127.5))
    for pixel in (0, 100, 255):
        real = (pixel - 127.5) / 127.5
        assert (pixel - quantized["mean"][0]) / quantized["std"][0] == pytest.approx(real / 0.5 + 3)


def test_texts_stay_texts(engine):
    hostile = "</title><script>alert(1)</script>"
    exported = larq_engine.export_web(_model((1, 2)), title=hostile, labels=[hostile, "b"])
    page = exported.files["index.html"].decode()
    assert hostile not in page and page.count(html.escape(hostile)) == 2
    assert _settings(exported)["labels"] == [hostile, "b"]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mean": [1, 2]}, r"mean: expected one number, or 3, .*, got \[1, 2\]"),
        ({"mean": float("inf")}, "mean, std: expected finite numbers, .*, got mean of inf and std"),
        ({"std": float("nan")}, "mean, std: expected finite numbers, .* and std of nan"),
        ({"std": [1, 0, 1]}, r"mean, std: .* other than 0, .* and std of \[1, 0, 1\]"),
    ],
)
def test_wrong_numbers_for_pixels(engine, options, error):
    with pytest.raises(ValueError, match=error):
        larq_engine.export_web(_model((1, 8, 8, 3)), **options)


@pytest.mark.parametrize(
    ("scale", "options"),
    [
        (1e-30, {"std": 1e-300}),  # the product is 0
        (1e30, {"std": 1e300}),  # the product is infinite
        (2, {"std": 5e307}),  # the product with the zero point is infinite
        (2, {"mean": -1e308, "std": 8e306}),  # the difference is infinite
    ],
)
def test_numbers_for_pixels_that_the_scale_makes_useless(engine, scale, options):
    model = _model((1, 8, 8, 1), np.int8, scale=scale, zero_point=10)
    error = r"mean, std: expected finite numbers, .* for the input's scale of .* point of 10"
    with pytest.raises(ValueError, match=error):
        larq_engine.export_web(model, **options)


def test_a_rate_that_browsers_do_not_have(engine):
    with pytest.raises(ValueError, match=r"rate: expected from 8000 to 96000 samples .*, got 800"):
        larq_engine.export_web(_model((1, 4000)), rate=800)


def test_labels_are_one_for_each_number(engine, tmp_path, capsys):
    (tmp_path / "net.tflite").write_bytes(_model((1, 3)))
    labels = tmp_path / "labels.txt"
    labels.write_text("cat\ndog\n")
    arguments = (tmp_path / "net.tflite", "-o", tmp_path / "net", "--labels", labels)
    assert _refusal(capsys, *arguments) == (
        "labels: expected 3, one for each number of the model's first output, got 2; give one "
        "label a line, in the order of the model's classes"
    )
    assert not (tmp_path / "net").exists()
    labels.write_bytes(b"cat\n\xff\n")
    assert "expected a text file in UTF-8, got other bytes at 4" in _refusal(capsys, *arguments)
    labels.write_text("cat\ndog\nowl\n")
    assert main(["export-web", *map(str, arguments)]) == 0
    assert json.loads((tmp_path / "net/settings.json").read_text())["labels"] == [
        *("cat", "dog", "owl")
    ]


@pytest.mark.parametrize(
    ("shape", "options", "guesses"),
    [
        ((1, 8, 8, 3), [], ["127.5 is subtracted", "then they are divided by 127.5"]),
        ((1, 8, 8, 3), ["--std", "255"], ["127.5 is subtracted"]),
        ((1, 8, 8, 3), ["--mean", "0"], ["then they are divided by 127.5"]),
        ((1, 8, 8, 3), ["--mean", "0", "--std", "255"], []),
        ((1, 4000), [], ["16000 samples a second"]),
        ((1, 4000), ["--rate", "8000"], []),
        ((1, 3), [], []),
    ],
)
def test_the_command_says_what_it_guessed(engine, tmp_path, capsys, shape, options, guesses):
    (tmp_path / "net.tflite").write_bytes(_model(shape))
    arguments = [str(tmp_path / "net.tflite"), "-o", str(tmp_path / "net"), *options]
    assert main(["export-web", *arguments]) == 0
    said = capsys.readouterr().out
    assert said.count("guessed: ") == len(guesses)
    assert all(f"guessed: {guess}" in said for guess in guesses)


@pytest.mark.parametrize("is_first", [True, False])
def test_numbers_of_the_command_stand_before_and_after_the_model(engine, tmp_path, is_first):
    (tmp_path / "net.tflite").write_bytes(_model((1, 8, 8, 3)))
    options = ["--mean", "0,1.5,2", "--std", "255", "-o", str(tmp_path / "net")]
    model = str(tmp_path / "net.tflite")
    assert main(["export-web", *([model, *options] if is_first else [*options, model])]) == 0
    settings = json.loads((tmp_path / "net/settings.json").read_text())
    assert (settings["mean"], settings["std"]) == ([0, 1.5, 2], [255, 255, 255])


def test_numbers_of_the_command_that_are_none(capsys):
    with pytest.raises(SystemExit):
        main(["export-web", "net.tflite", "-o", "net", "--mean", "0,one"])
    said = "argument --mean: expected numbers with commas between them, as in 0,0,0, got 0,one"
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("name", "shape", "kind", "wanted"),
    [
        ("mean", (1, 4000), "sound", "image"),
        ("std", (1, 2), "numbers", "image"),
        ("rate", (1, 8, 8, 3), "image", "sound"),
    ],
)
def test_options_for_another_kind_of_input(engine, name, shape, kind, wanted):
    error = (
        f"{name}: expected no such option for a page that asks for {kind}, got 16000; leave it "
        f"out, or choose '{wanted}' as input"
    )
    with pytest.raises(ValueError, match=re.escape(error)):
        larq_engine.export_web(_model(shape), **{name: 16000})


@pytest.mark.parametrize(("shape", "count"), [((3,), 3), ((1, 3), 3), ((2, 3), 6), ((), 1)])
def test_labels_of_outputs_of_any_rank(engine, shape, count):
    labels = [f"class {n}" for n in range(count)]
    exported = larq_engine.export_web(_model(shape), labels=labels)
    assert _settings(exported)["labels"] == labels
    with pytest.raises(ValueError, match=f"labels: expected {count}, .*, got {count + 1};"):
        larq_engine.export_web(_model(shape), labels=[*labels, "more"])


@pytest.mark.parametrize("labels", [None, ["cat"]])
def test_a_model_without_outputs(engine, labels):
    builder = ModelBuilder()
    x, y = builder.tensor((1, 2)), builder.tensor((1, 2))
    builder.builtin("RELU", [x], [y])
    with pytest.raises(ValueError, match=r"model: expected at least one output, .*, got none;"):
        larq_engine.export_web(builder.finish([x], []), labels=labels)


@pytest.mark.parametrize("place", ["input", "output"])
def test_numbers_that_browsers_lack(engine, place):
    builder = ModelBuilder()
    x, y = builder.tensor((1, 2)), builder.tensor((1, 2))
    builder.builtin("RELU", [x], [y])
    if place == "input":
        inputs, outputs = [x, builder.tensor((1, 2), np.float16)], [y]
    else:
        half = builder.constant(np.ones((1, 2), np.float16))
        joined = builder.tensor((2, 2), np.float16)
        builder.builtin("CONCATENATION", [half, half], [joined], axis=0)
        inputs, outputs = [x], [y, joined]
    with pytest.raises(ValueError, match=r"model: expected inputs and outputs of .*, got float16,"):
        larq_engine.export_web(builder.finish(inputs, outputs))


@pytest.mark.parametrize("damage", ["half", "no operators that it knows"])
def test_what_the_engine_refuses_is_not_written(engine, tmp_path, capsys, damage):
    content = _model()
    if damage == "half":
        content = content[: len(content) // 2]
    else:
        builder = ModelBuilder()
        x, y = builder.tensor((1, 2), np.float32), builder.tensor((1, 2), np.float32)
        builder.custom("Foreign", [x], [y], b"")
        content = builder.finish([x], [y])
    (tmp_path / "net.tflite").write_bytes(content)
    said = _refusal(capsys, tmp_path / "net.tflite", "-o", tmp_path / "net")
    with pytest.raises(ValueError) as refused:
        larq_engine.Interpreter(content, host="none")
    assert said.split(": ", 1)[1].split(";")[0] in " ".join(str(refused.value).split())
    assert not (tmp_path / "net").exists()


def test_the_folder_of_somebody_else(engine, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("mine")
    exported = larq_engine.export_web(_model())
    with pytest.raises(ValueError, match="expected a folder for this export alone, got one with"):
        exported.save(folder)
    assert [path.name for path in folder.iterdir()] == ["index.html"]
    assert (folder / "index.html").read_text() == "mine"


def test_a_page_is_written_again(engine, tmp_path):
    larq_engine.export_web(_model(), title="old").save(tmp_path / "net")
    larq_engine.export_web(_model(), title="new").save(tmp_path / "net")
    assert "<h1>new</h1>" in (tmp_path / "net/index.html").read_text()


def test_a_full_disk_leaves_nothing(engine, tmp_path, monkeypatch):
    write = whole_files._write

    def fail_at_the_model(path, content, like):
        if like.name == "model.tflite":
            raise OSError(28, "No space left on device")
        write(path, content, like)

    monkeypatch.setattr(whole_files, "_write", fail_at_the_model)
    with pytest.raises(OSError, match="No space left"):
        larq_engine.export_web(_model()).save(tmp_path / "net")
    assert not (tmp_path / "net").exists()


@pytest.mark.parametrize(
    "name",
    ["dist/index.js", "dist/call.js", "wasm/larq_engine.wasm", "wasm/larq_engine_plain.wasm"],
)
def test_without_a_file_of_the_engine_for_browsers(engine, tmp_path, capsys, name):
    (engine / name).unlink()
    (tmp_path / "net.tflite").write_bytes(_model())
    said = _refusal(capsys, tmp_path / "net.tflite", "-o", tmp_path / "net")
    assert said.startswith(f"engine for browsers: expected the file '{engine / name}', ")
    assert "got nothing of that name; build it with `make web` in a clone" in said
    assert not (tmp_path / "net").exists()
