"""Runs the Python blocks of the documentation; NOT_RUN says why some of them do not run.

Each block runs in a folder of its own, with the files and the names that its page speaks of. QUICK
and SLOW need no TensorFlow; KERAS needs it. TORCH runs in tests/torch, RAY in tests/ray, and WEB in
tests/web_export. The tutorial's programs are in tutorial.py.
"""

from dataclasses import dataclass
from pathlib import Path

from tests.docs.documents import ROOT, blocks
from tests.docs.programs import run, run_without_error

_EXAMPLE = """
from larq_engine.command_line import main
for name in ("example.tflite", "model.tflite"):
    assert main(["example", "-o", name]) == 0
"""
_PROFILE = """
import larq_engine
larq_engine.profile("example.tflite", batch=[1, 2], rounds=1).save("profile.json")
"""
_LARQ = """
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import larq as lq, tensorflow as tf
from tensorflow import keras
"""
_KERAS = """
import keras
import larq_engine.keras as lq
"""
# This code works with larq on Keras 2 and with larq_engine.keras on Keras 3.
_MODEL = """
binary = dict(
    input_quantizer="ste_sign", kernel_quantizer="ste_sign", kernel_constraint="weight_clip"
)
layers = [
    keras.layers.Conv2D(32, 3),
    lq.layers.QuantConv2D(64, 3, pad_values=1.0, padding="same", **binary),
]
model = keras.Sequential([keras.Input((32, 32, 3)), *layers])
"""
_FLOAT_FILE = (
    _LARQ
    + _MODEL
    + """
with open("float.tflite", "wb") as file:
    file.write(tf.lite.TFLiteConverter.from_keras_model(model).convert())
"""
)
_NETWORK = '''
with open("my_network.py", "w") as file:
    file.write("""
import torch


def sign(x):
    return torch.where(x >= 0, 1.0, -1.0)


class BinaryConv(torch.nn.Conv2d):
    def forward(self, x):
        return torch.nn.functional.conv2d(sign(x), sign(self.weight))


class Network(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Conv2d(3, 32, 8, stride=8), BinaryConv(32, 32, 3))
""")
import torch
from my_network import Network
module = Network().eval()
torch.save(module.state_dict(), "network.pth")
torch.onnx.export(module, (torch.randn(1, 3, 224, 224),), "model.onnx", dynamo=False)
'''
_IMAGES_FOR_ONNX = """
import numpy as np
images = np.random.rand(1, 3, 224, 224).astype("float32")
"""
_PREDICTOR_AND_IMAGES = """
import numpy as np
from larq_engine.batch import Predictor
images = np.random.rand(40, 96, 96, 3)
"""
_PARQUET = """
import numpy as np, pandas
images = [image.tolist() for image in np.random.rand(16, 96, 96, 3)]
import os
os.mkdir("images")
pandas.DataFrame({"image": images}).to_parquet("images/part.parquet")
"""


def _run_file(name: str) -> str:
    """Returns a program that runs the model of the file."""
    return f"""
import numpy, larq_engine
with larq_engine.Interpreter("{name}") as interpreter:
    interpreter.predict(numpy.ones(interpreter.input_shapes[0], "float32"))
"""


_CHECK_MODEL = _run_file("model.tflite")


@dataclass(frozen=True)
class Snippet:
    """A block of Python on a page."""

    page: str
    number: int  # place among the page's blocks of Python
    setup_program: str = ""  # makes the files that the page speaks of; runs before the block
    first_lines: str = ""  # in front of the block: names that the page speaks of
    last_lines: str = ""  # behind the block: checks of its results
    error: str = ""  # the error that the block ends with; empty if it ends well

    def __str__(self) -> str:
        return f"{self.page}-{self.number}"

    @property
    def key(self) -> tuple[str, int]:
        return self.page, self.number


def check(snippet: Snippet, folder: Path) -> None:
    """Runs a snippet in the folder."""
    if snippet.setup_program:
        run_without_error(snippet.setup_program, folder)
    block = blocks(ROOT / snippet.page, "python")[snippet.number]
    text = "\n".join([snippet.first_lines, block, snippet.last_lines])
    if not snippet.error:
        run_without_error(text, folder)
        return
    done = run(text, folder)
    assert done.returncode != 0
    assert snippet.error in done.stderr


QUICK = [
    Snippet("README.md", 0, _EXAMPLE),
    Snippet("README.md", 6, _EXAMPLE, last_lines="assert scores.shape == (8, 10)"),
    Snippet(
        *("README.md", 7, _EXAMPLE),
        last_lines="interpreter.allocate_tensors()\ninterpreter.invoke()",
    ),
    Snippet("docs/deployment.md", 0, _EXAMPLE),
    Snippet("docs/deployment.md", 1, _EXAMPLE, last_lines="assert scores.shape == (10,)"),
    Snippet(
        *("docs/deployment.md", 2, _EXAMPLE),
        first_lines="from pathlib import Path\nfile = Path('model.tflite')\n"
        "file.write_bytes(file.read_bytes()[:16384])",
        error="ValueError: model 'model.tflite' (16384 bytes): expected ",
    ),
    Snippet("docs/without_a_host.md", 0, _EXAMPLE, last_lines="assert scores.shape == (8, 10)"),
    Snippet(
        *("docs/without_a_host.md", 1, _EXAMPLE),
        first_lines="import numpy as np",
        last_lines="assert scores.shape == (1, 10)",
    ),
    Snippet(
        "docs/scale_out.md", 0, _EXAMPLE, last_lines="assert result['scores'].shape == (8, 10)"
    ),
    Snippet(
        *("docs/scale_out.md", 4, _EXAMPLE, _PREDICTOR_AND_IMAGES),
        last_lines="assert [len(*result.values()) for result in results] == [16, 16, 8]",
    ),
    Snippet("docs/troubleshooting.md", 0),
    Snippet(
        *("docs/weights.md", 0),
        _EXAMPLE + "assert main(['export-weights', 'model.tflite', '-o', 'weights.npz']) == 0",
        last_lines="assert set(np.unique(weights)) == {-1, 1}",
    ),
    Snippet(
        *("docs/microcontrollers.md", 0),
        _EXAMPLE,
        last_lines="assert open('net/net.h').read().count('net_run') == 1",
    ),
    Snippet(
        *("docs/fpga.md", 0),
        _EXAMPLE,
        last_lines="assert 'model_network' in open('folder_of_8/model_network.v').read()",
    ),
    Snippet(
        *("CONTRIBUTING.md", 0),
        first_lines="import numpy as np\n"
        "from tests.converter.graphs import Net, convert_and_compare, edges, signs",
        last_lines="test_doubling_goes_into_the_multiplier(Net(), np.random.default_rng(1))",
    ),
]
# These snippets measure, for half a minute each.
SLOW = [
    Snippet("docs/placement.md", 0, _EXAMPLE + _PROFILE, last_lines=_run_file("placed.tflite")),
    Snippet("docs/profile.md", 0, _EXAMPLE, last_lines="assert open('profile.json').read()"),
    Snippet("docs/report.md", 0, _EXAMPLE, last_lines="assert open('report.html').read()"),
]
KERAS = [
    Snippet("README.md", 1, last_lines=_CHECK_MODEL),
    Snippet("README.md", 4, _FLOAT_FILE, last_lines=_CHECK_MODEL),
    Snippet("README.md", 5, last_lines=_CHECK_MODEL),
    Snippet("docs/from_keras.md", 0, _LARQ + _MODEL + "model.save('model.h5')"),
    Snippet("docs/from_keras.md", 1, _KERAS + _MODEL + "model.save('model.keras')"),
    Snippet("docs/from_tflite.md", 0, _KERAS + _MODEL + "model.export('folder')"),
    Snippet("docs/from_tflite.md", 1, _FLOAT_FILE, last_lines=_CHECK_MODEL),
    Snippet(
        *("docs/int8.md", 0),
        first_lines=_LARQ + _MODEL + "import larq_engine, numpy as np\n"
        "images = np.random.rand(20, 1, 32, 32, 3).astype('float32')",
    ),
    Snippet(
        *("docs/microcontrollers.md", 1),
        first_lines=_LARQ + _MODEL + "import larq_engine, numpy as np\n"
        "images = np.random.rand(20, 32, 32, 3).astype('float32')",
        last_lines="assert larq_engine.export_c(converted).arena_bytes > 0",
    ),
    Snippet(
        *("docs/microcontroller_tutorial.md", 0),
        last_lines="assert converted.report.count('binary') == 1",
    ),
    Snippet(
        *("docs/microcontroller_tutorial.md", 2),
        blocks(ROOT / "docs/microcontroller_tutorial.md", "python")[0],
        last_lines="assert np.mean(answers == labels[1000:]) > 0.7",
    ),
    Snippet(
        "docs/moving_from_larq.md", 0, _LARQ + _MODEL + "model.save_weights('larq_weights.h5')"
    ),
]
TORCH = [
    Snippet("README.md", 2, _NETWORK, last_lines=_CHECK_MODEL),
    Snippet("README.md", 3, _NETWORK, _IMAGES_FOR_ONNX, "assert len(scores) == 1"),
    Snippet("docs/from_pytorch.md", 0, _NETWORK),
    Snippet(
        *("docs/microcontrollers.md", 2, _NETWORK),
        first_lines="import larq_engine, numpy as np, torch\nfrom my_network import Network\n"
        "module = Network().eval()\nexample_inputs = (torch.zeros(1, 3, 32, 32),)\n"
        "images = np.random.rand(8, 32, 32, 3).astype('float32')",
        last_lines="assert '0 of' in larq_engine.export_c(converted).report",
    ),
    Snippet(
        *("docs/microcontroller_tutorial.md", 1),
        last_lines="assert '0 of' in larq_engine.export_c('digits.tflite').report",
    ),
    Snippet("docs/from_onnx.md", 0, _NETWORK, _IMAGES_FOR_ONNX, "assert len(scores) == 1"),
]
# These snippets need the engine for browsers.
WEB = [
    Snippet(
        *("docs/export_web.md", 0, _EXAMPLE),
        last_lines="assert '<h1>My model</h1>' in open('page/index.html').read()",
    )
]
RAY = [
    Snippet(
        *("docs/scale_out.md", 1, _EXAMPLE + _PROFILE + _PARQUET),
        first_lines="import ray\nray.init(num_cpus=8, object_store_memory=2**27)",
        last_lines="assert ray.data.read_parquet('scores/').count() == 16",
    ),
    Snippet(
        *("docs/scale_out.md", 6, _EXAMPLE, _PREDICTOR_AND_IMAGES),
        last_lines="import pandas\n"
        "rows = [image.reshape(-1) for image in images]\n"
        "part = pandas.DataFrame({'id': range(40), 'image': rows})\n"
        "assert [len(row) for row in next(scores([part])).scores] == 40 * [10]",
    ),
]
# Reasons why other snippets do not run here.
NOT_RUN = {
    ("docs/gpu.md", 0): "needs a GPU",
    ("docs/gpu.md", 1): "needs a GPU",
    ("docs/gpu.md", 2): "needs a GPU",
    ("docs/scale_out.md", 2): "serves until it is stopped; tests/ray/test_ray_serve.py serves",
    ("docs/scale_out.md", 3): "sends a request to the server that the block before starts",
    ("docs/scale_out.md", 5): "needs Dask, which the tests do not install",
    ("docs/scale_out.md", 7): "needs Apache Beam, which the tests do not install",
    ("docs/signs.md", 0): "names the reader's layers; tests/torch tests sign_of_zero per layer",
}
