"""Files of strangers run nothing: code in them is refused before Keras reads it."""

import json
import pathlib
import shutil
import zipfile

import numpy as np
import pytest

from larq_engine import conversion_report, convert_saved_model
from larq_engine.command_line import main
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras_code import find_code
from larq_engine.converter.keras_files import load_keras
from larq_engine.converter.keras_graph_code import find_graph_code
from larq_engine.converter.keras_operators import only_computes
from tests.converter.frameworks import require_keras

require_keras()

import h5py  # noqa: E402
import keras as keras_3  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.core.protobuf import saved_model_pb2  # noqa: E402
from tensorflow.python.framework import op_def_registry  # noqa: E402

keras = tf.keras
pytestmark = pytest.mark.filterwarnings("ignore:.*HDF5 file:UserWarning")


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "code-ran"


def evil_layer(of, marker):
    """Returns a layer whose code leaves a file behind whenever it is called."""
    run = eval(f"lambda x: (open({str(marker)!r}, 'w').close(), x)[1]")
    return of.layers.Lambda(run, output_shape=(4,), name="evil")


def evil_model(of, nesting, marker):
    evil = evil_layer(of, marker)
    dense = of.layers.Dense(4, name="dense")
    if nesting == "flat":
        return of.Sequential([of.Input((4,)), dense, evil])
    if nesting == "time distributed":
        layer = of.layers.TimeDistributed(evil)
        return of.Sequential([of.Input((2, 4)), layer])
    inner_input = of.Input((4,))
    if nesting == "functional":
        inner = of.Model(inner_input, evil(dense(inner_input)), name="inner")
    else:
        inner = of.Sequential([inner_input if of is not keras else of.Input((4,)), dense, evil])
    x = of.Input((4,))
    return of.Model(x, inner(x))


NESTINGS = ["flat", "functional", "sequential", "time distributed"]


@pytest.mark.parametrize("nesting", NESTINGS)
@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize("of", [keras, keras_3], ids=["keras 2", "keras 3"])
def test_a_lambda_is_refused_and_does_not_run(tmp_path, marker, of, suffix, nesting, capsys):
    file = tmp_path / f"evil{suffix}"
    evil_model(of, nesting, marker).save(file)
    marker.unlink(missing_ok=True)  # saving a model runs its code
    output = tmp_path / "out.tflite"
    assert main(["convert", str(file), "-o", str(output)]) == 1
    message = capsys.readouterr().err
    assert (
        "expected a file that holds no code, got Lambda, which is code in layer 'evil'" in message
    )
    assert "--unsafe" in message and message.count("\n") == 1
    with pytest.raises(ConversionError, match="unsafe=True"):
        conversion_report(file)
    assert not marker.exists() and not output.exists()


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
@pytest.mark.parametrize("of", [keras, keras_3], ids=["keras 2", "keras 3"])
def test_who_trusts_the_file_says_so(tmp_path, marker, of, suffix):
    file = tmp_path / f"evil{suffix}"
    evil_model(of, "flat", marker).save(file)
    marker.unlink(missing_ok=True)
    assert conversion_report(file, unsafe=True).layers
    assert marker.exists()


def with_config(tmp_path, suffix, change):
    """Makes a file of Keras 2 whose configuration was changed by hand."""
    file = tmp_path / f"model{suffix}"
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, "relu", name="dense")])
    model.save(file)
    if suffix == ".h5":
        with h5py.File(file, "a") as content:
            config = json.loads(content.attrs["model_config"])
            change(config)
            content.attrs["model_config"] = json.dumps(config)
        return file
    other = tmp_path / "changed.keras"
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(other, "w") as made:
        for name in source.namelist():
            content = source.read(name)
            if name == "config.json":
                config = json.loads(content)
                change(config)
                content = json.dumps(config)
            made.writestr(name, content)
    return other


def dense_config(config):
    return next(
        layer["config"] for layer in config["config"]["layers"] if layer["class_name"] == "Dense"
    )


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_a_module_that_the_file_names_is_not_imported(tmp_path, marker, suffix, monkeypatch):
    (tmp_path / "gadget.py").write_text(f"open({str(marker)!r}, 'w').close()\ndef run(x): return x")
    monkeypatch.syspath_prepend(tmp_path)
    named = {"class_name": "function", "config": "run", "module": "gadget"}
    named["registered_name"] = "run"
    file = with_config(tmp_path, suffix, lambda c: dense_config(c).update(activation=named))
    with pytest.raises(ConversionError, match=r"gadget.run, which is no part of .*'dense'"):
        load_keras(file)
    assert not marker.exists()


REFUSED = {
    "a function of Python": {"class_name": "function", "module": "builtins", "config": "eval"},
    "a class of Python": {"class_name": "open", "module": "builtins", "config": {}},
    "a function of the system": {"class_name": "system", "module": "os", "config": {}},
    "a part of Keras that downloads": {
        **{"class_name": "function", "module": "keras.utils", "config": "get_file"},
    },
    "a part of Keras that loads models": {
        **{"class_name": "function", "module": "keras.models", "config": "load_model"},
    },
    "a path through Keras": {"class_name": "utils.get_file", "module": "keras", "config": {}},
    "a module that Keras imports": {"class_name": "os", "module": "keras.layers", "config": {}},
    "a Lambda by its other name": {
        **{"class_name": "None", "registered_name": "Lambda", "module": "keras.layers"},
    },
    "a registered Lambda": {"class_name": "Custom>Lambda", "config": {}},
    "bytecode": {"class_name": "__lambda__", "config": {"value": "4wEAAAA="}},
    "a pickle": {"class_name": "TorchModuleWrapper", "module": "keras.layers", "config": {}},
    "another model": {"class_name": "TFSMLayer", "module": "keras.layers", "config": {}},
    "a library": {"class_name": "TFOpLambda", "config": {"function": "load_op_library"}},
    "a file": {"class_name": "TFOpLambda", "config": {"function": "io.read_file"}},
    "Python in a graph": {
        **{"class_name": "TensorFlowOpLayer", "config": {"node_def": {"op": "EagerPyFunc"}}},
    },
    "a file by another layer": {
        **{"class_name": "SlicingOpLambda", "config": {"function": "io.write_file"}},
    },
    "a file by the name that Keras looks for": {
        **{"class_name": "Foo", "registered_name": "TFOpLambda", "module": "tf_keras.src.layers"},
        "config": {"function": "io.write_file"},
    },
    "a name that counts in a module": {
        **{"class_name": "p>Mine", "registered_name": "system", "module": "os", "config": {}},
    },
    "a name that counts without a module": {
        **{"class_name": "DenseFeatures", "registered_name": "p>Mine", "config": {}},
    },
    "words of a file by columns": {
        **{"class_name": "VocabularyFileCategoricalColumn", "module": "keras.layers"},
        "config": {"vocabulary_file": "/etc/passwd"},
    },
    "an operator of a graph": {
        **{"class_name": "TensorFlowOpLayer", "config": {"node_def": "WriteFile"}},
    },
    "a class that nobody knows": {"class_name": "Unknown", "config": {}},
    "words of a file": {"class_name": "StringLookup", "config": {"vocabulary": "/etc/passwd"}},
    "a name that is none": {"class_name": ["Dense"], "config": {}},
}


@pytest.mark.parametrize("entry", REFUSED.values(), ids=REFUSED)
def test_refused_wherever_it_stands(entry):
    config = {"class_name": "Sequential", "config": {"layers": [{"deep": [[entry]]}]}}
    assert len(list(find_code(config, lambda name: name == "p>Mine"))) == 1


REFUSED_LAYERS = {
    *("Lambda", "DenseFeatures", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "TFSMLayer"),
}


@pytest.mark.parametrize("of", [keras, keras_3], ids=["keras 2", "keras 3"])
def test_layers_of_keras_are_known_but_for_those_that_run_code(of):
    public = vars(of.layers).items()
    layers = [name for name, kind in public if isinstance(kind, type)]
    assert len(layers) > 100
    found = {
        name
        for name in layers
        if list(find_code({"class_name": name, "config": {}}, lambda name: False))
    }
    assert found == REFUSED_LAYERS & set(layers)


@pytest.mark.parametrize("of", [keras, keras_3], ids=["keras 2", "keras 3"])
def test_settings_of_layers_and_optimizers_are_known_without_a_module(of):
    parts = [of.initializers, of.regularizers, of.constraints, of.optimizers]
    public = [pair for part in (*parts, of.optimizers.schedules) for pair in vars(part).items()]
    names = {name for name, kind in public if isinstance(kind, type) and name[0].isupper()}
    names -= {"Initializer", "Regularizer", "Constraint", "Optimizer", "LearningRateSchedule"}
    assert len(names) > 35
    configs = [{"class_name": name, "config": {}} for name in sorted(names)]
    assert list(find_code(configs, lambda name: False)) == []


def test_optimizers_of_files_that_were_saved_on_pytorch():
    """Keras names the module of each optimizer's form for this backend."""
    folder = pathlib.Path(keras_3.__file__).parent / "src/backend/torch/optimizers"
    modules = [path.stem for path in folder.glob("torch_*.py") if "optimizer" not in path.stem]
    assert len(modules) > 7
    package = "keras.src.backend.torch.optimizers"
    for module in modules:
        entry = {"class_name": module.removeprefix("torch_").title(), "config": {}}
        entry |= {"module": f"{package}.{module}", "registered_name": None}
        assert list(find_code(entry, lambda name: False)) == []
    for other in ("keras.src.backend.torch.trainer", f"{package}.os.path", f"evil.{package}"):
        entry = {"class_name": "Adam", "module": other, "registered_name": None, "config": {}}
        assert len(list(find_code(entry, lambda name: False))) == 1


@pytest.mark.parametrize("kind", ["TFOpLambda", "SlicingOpLambda"])
def test_a_function_that_a_layer_calls_while_it_is_loaded(tmp_path, marker, kind):
    call = ["_CONSTANT_VALUE", -1, str(marker), {"contents": "x"}]
    layer = {"class_name": kind, "name": "evil", "inbound_nodes": [call]}
    layer["config"] = {"name": "evil", "dtype": "float32", "function": "io.write_file"}
    file = tmp_path / "model.h5"
    x = keras.Input((4,))
    keras.Model(x, keras.layers.Dense(2)(x)).save(file)
    with h5py.File(file, "a") as content:
        config = json.loads(content.attrs["model_config"])
        config["config"]["layers"].append(layer)
        content.attrs["model_config"] = json.dumps(config)
    with pytest.raises(Exception, match="_keras_history"):
        keras.models.load_model(file)
    assert marker.exists(), "the file would run something"
    marker.unlink()
    with pytest.raises(ConversionError, match=r"tf.io.write_file, which may do .* 'evil'"):
        load_keras(file)
    assert not marker.exists()


def test_what_this_process_registered_is_not_imported():
    entry = {"class_name": "Mine", "module": "mine", "registered_name": "p>Mine", "config": {}}
    assert list(find_code(entry, lambda name: name == "p>Mine")) == []
    assert len(list(find_code(entry, lambda name: False))) == 1


def test_ordinary_layers_are_no_code(tmp_path, rng):
    """Operators of TensorFlow and functions of Keras in a model's file are allowed."""
    x = keras.Input((8, 8, 3))
    y = keras.layers.Conv2D(8, 3, activation=tf.nn.relu, kernel_regularizer="l2")(x)
    y = tf.reshape(tf.math.sign(y) * 2.0 + y[:, :, :, :1], (-1, 6 * 6 * 8))
    model = keras.Model(x, keras.layers.Dense(4, keras.activations.softmax)(y))
    data = rng.normal(size=(1, 8, 8, 3)).astype(np.float32)
    for name in ("plain.h5", "plain.keras"):
        model.save(tmp_path / name)
        np.testing.assert_array_equal(load_keras(tmp_path / name)(data), model(data))
    x = keras_3.Input((4, 4))
    y = keras_3.layers.TimeDistributed(keras_3.layers.Dense(4, "relu"))(x)
    y = keras_3.ops.sign(y)[:, ::2] * 2 + keras_3.ops.mean(y)
    other = keras_3.Model(x, y)
    other.compile(keras_3.optimizers.Adam(), "mse")
    data = rng.normal(size=(1, 4, 4)).astype(np.float32)
    other.save(tmp_path / "three.keras")
    np.testing.assert_array_equal(load_keras(tmp_path / "three.keras")(data), other(data))


class Graph(tf.Module):
    """A SavedModel whose function runs an operation, inside of another function."""

    def __init__(self, operation):
        super().__init__()
        self._operation = tf.function(operation)

    @tf.function(input_signature=[tf.TensorSpec([1, 4], tf.float32, name="x")])
    def serve(self, x):
        return self._operation(x)


def calls_python(x):
    return tf.ensure_shape(tf.py_function(lambda value: value + 1, [x], tf.float32), [1, 4])


def writes_a_file(x):
    tf.io.write_file("written-by-a-model", "x")
    return x + 1.0


def reads_a_file(x):
    return x + tf.cast(tf.strings.length(tf.io.read_file("/etc/hostname")), tf.float32)


@pytest.mark.parametrize(
    ("operation", "found"),
    [
        (calls_python, "EagerPyFunc"),
        (writes_a_file, "WriteFile"),
        (reads_a_file, "ReadFile"),
    ],
)
def test_a_saved_model_with_code_is_refused(tmp_path, operation, found, capsys):
    folder, output = tmp_path / "saved", tmp_path / "out.tflite"
    module = Graph(operation)
    tf.saved_model.save(module, folder, signatures=module.serve)
    assert main(["convert", str(folder), "-o", str(output)]) == 1
    message = capsys.readouterr().err
    assert f"got {found}, which may run Python or reach files, in operator" in message
    assert "--unsafe" in message and message.count("\n") == 1
    with pytest.raises(ConversionError, match="unsafe=True"):
        conversion_report(folder)
    assert not output.exists()


class RunsWhenLoaded(tf.Module):
    """A resource whose initializer writes a file; loading runs the initializer."""

    def __init__(self, path):
        super().__init__()
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer([1], [2]), default_value=0
        )
        initialize = self.table._initialize

        def evil():
            tf.io.write_file(path, "x")
            return initialize()

        self.table._initialize = evil

    @tf.function(input_signature=[tf.TensorSpec([1, 4], tf.float32, name="x")])
    def serve(self, x):
        return x * 2.0


def test_nothing_runs_when_a_saved_model_is_loaded(tmp_path, marker):
    module = RunsWhenLoaded(str(marker))
    tf.saved_model.save(module, tmp_path / "saved", signatures=module.serve)
    marker.unlink(missing_ok=True)
    tf.saved_model.load(str(tmp_path / "saved"))
    assert marker.exists(), "the file would run something"
    marker.unlink()
    with pytest.raises(ConversionError, match="got WriteFile"):
        convert_saved_model(tmp_path / "saved")
    assert not marker.exists()


def saved_model_of_tensorflow_1(folder):
    """Saves a model without a description of its objects; TensorFlow runs its restore operator."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        x = v1.placeholder(tf.float32, [1, 4], name="x")
        weight = v1.get_variable("weight", shape=[4, 4], use_resource=True)
        y = tf.identity(tf.matmul(x, weight), name="y")
        saver = v1.train.Saver()
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(folder))
        signature = v1.saved_model.predict_signature_def({"x": x}, {"y": y})
        signatures = {"serving_default": signature}
        builder.add_meta_graph_and_variables(session, ["serve"], signatures, saver=saver)
        builder.save()


def change_graph(folder, change):
    file = folder / "saved_model.pb"
    saved = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    change(saved.meta_graphs[0])
    file.write_bytes(saved.SerializeToString())


def writes_when_restoring(marker):
    """Returns a change of a graph after which restoring it also writes a file."""

    def change(graph):
        with tf.Graph().as_default() as other:
            tf.io.write_file(str(marker), "x", name="evil")
        nodes = other.as_graph_def().node
        nodes[-1].input.append(f"^{graph.saver_def.restore_op_name}")
        graph.graph_def.node.extend(nodes)
        graph.saver_def.restore_op_name = "evil"

    return change


def test_how_a_saved_model_restores_its_variables_is_looked_at(tmp_path, marker):
    folder = tmp_path / "saved"
    saved_model_of_tensorflow_1(folder)
    assert convert_saved_model(folder).report is not None, "an ordinary file of TensorFlow 1"
    change_graph(folder, writes_when_restoring(marker))
    tf.saved_model.load(str(folder))
    assert marker.exists(), "the file would run something"
    marker.unlink()
    with pytest.raises(ConversionError, match="got WriteFile"):
        convert_saved_model(folder)
    assert not marker.exists()
    with pytest.raises(ConversionError, match="got WriteFile"):
        conversion_report(folder)
    assert not marker.exists()


def restores_another_file(graph):
    node = next(node for node in graph.graph_def.node if node.op == "RestoreV2")
    name = graph.graph_def.node.add(name="elsewhere", op="Const")
    name.attr["dtype"].type = tf.string.as_datatype_enum
    name.attr["value"].tensor.CopyFrom(tf.make_tensor_proto("/somewhere/else"))
    node.input[0] = "elsewhere"


def saves_when_loaded(graph):
    graph.saver_def.restore_op_name = next(
        node.name for node in graph.graph_def.node if node.op == "SaveV2"
    )


def restores_in_a_signature(graph):
    node = next(node for node in graph.graph_def.node if node.op == "RestoreV2")
    graph.signature_def["serving_default"].outputs["y"].name = f"{node.name}:0"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (restores_another_file, "RestoreV2"),
        (saves_when_loaded, "SaveV2"),
        (restores_in_a_signature, "RestoreV2"),
    ],
)
def test_variables_come_from_the_folder_alone(tmp_path, change, found):
    folder = tmp_path / "saved"
    saved_model_of_tensorflow_1(folder)
    change_graph(folder, change)
    with pytest.raises(ConversionError, match=f"got {found}, which may"):
        convert_saved_model(folder)


def test_operators_that_nobody_calls_are_looked_at(tmp_path):
    folder = tmp_path / "saved"
    module = Graph(lambda x: x + 1.0)
    tf.saved_model.save(module, folder, signatures=module.serve)

    def add(graph):
        function = graph.graph_def.library.function.add()
        function.signature.name = "nobody"
        function.node_def.add(name="evil", op="MatchingFiles")

    change_graph(folder, add)
    with pytest.raises(ConversionError, match=r"got MatchingFiles, which may .* 'evil'"):
        convert_saved_model(folder)


def test_ordinary_layers_in_a_saved_model_are_no_code(tmp_path):
    """Keras also saves their training, and the computation of gradients."""
    x = keras.Input((4, 4))
    y = keras.layers.Dropout(0.5)(keras.layers.GRU(4, return_sequences=True)(x))
    y = keras.layers.LSTM(4)(keras.layers.BatchNormalization()(y))
    model = keras.Model(x, y)
    model.compile("adam", "mse")
    model.save(tmp_path, save_format="tf")
    assert list(find_graph_code(tmp_path)) == []


# Operators that read or write what the graph names, call Python or end the process.
REACHING = (
    *("WriteFile", "ReadFile", "MatchingFiles", "PyFunc", "PyFuncStateless", "EagerPyFunc"),
    *("Save", "SaveV2", "Restore", "RestoreSlice", "LoadAndRemapMatrix", "DecodeProtoV2"),
    *("InitializeTableFromTextFile", "InitializeTableFromTextFileV2", "GenerateVocabRemapping"),
    *("ImmutableConst", "TextLineDataset", "TFRecordReaderV2", "LMDBReader", "RpcClient"),
    *("DebugIdentityV3", "CreateSummaryFileWriter", "DumpTensor", "Abort", "XlaCustomCallV2"),
)


@pytest.mark.parametrize("name", REACHING)
def test_an_operator_that_does_more_than_compute(name):
    assert op_def_registry.get(name) is not None
    assert not only_computes(tf.compat.v1.NodeDef(op=name))


def test_a_lambda_in_the_metadata_of_a_saved_model(tmp_path, marker):
    folder = tmp_path / "saved"
    evil_model(keras, "flat", marker).save(folder, save_format="tf")
    with pytest.raises(ConversionError, match=r"got Lambda.* in layer 'evil' of keras_metadata.pb"):
        convert_saved_model(folder)
    assert convert_saved_model(folder, unsafe=True).report.layers
    (folder / "keras_metadata.pb").unlink()  # the rest is a graph without Python
    shutil.rmtree(folder / "assets", ignore_errors=True)
    assert b"PyFunc" not in (folder / "saved_model.pb").read_bytes()


def damaged(path, kind):
    good = path.with_name("good.keras")
    keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]).save(good)
    with zipfile.ZipFile(good) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    if kind == "no archive":
        path.write_bytes(b"nothing")
        return
    if kind in ("config.json", "metadata.json", "model.weights.h5"):
        del files[kind]
    elif kind == "broken JSON":
        files["config.json"] = files["config.json"][:-20]
    elif kind == "deep JSON":
        files["config.json"] = b"[" * 100_000
    elif kind == "no UTF-8":
        files["metadata.json"] = b"\xff\xfe{"
    elif kind == "wrong types":
        files["metadata.json"] = b'{"keras_version": 2}'
    elif kind == "a list":
        files["config.json"] = b"[1]"
    elif kind == "layers that are a number":
        config = json.loads(files["config.json"])
        config["config"]["layers"] = 3
        files["config.json"] = json.dumps(config)
    elif kind == "broken weights":
        files["model.weights.h5"] = files["model.weights.h5"][:100]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    if kind == "broken archive":
        content = bytearray(path.read_bytes())
        start = content.index(b"class_name")
        content[start : start + 4] = b"xxxx"
        path.write_bytes(content)


@pytest.mark.parametrize(
    "kind",
    [
        *("no archive", "config.json", "metadata.json", "model.weights.h5", "broken JSON"),
        *("deep JSON", "no UTF-8", "wrong types", "a list", "layers that are a number"),
        *("broken weights", "broken archive"),
    ],
)
def test_a_damaged_archive_is_one_line(tmp_path, kind, capsys):
    file = tmp_path / "model.keras"
    damaged(file, kind)
    assert main(["convert", str(file), "-o", str(tmp_path / "out.tflite")]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"larq-engine: error: model '{file}': ")
    assert message.count("\n") == 1


def test_arrays_in_other_files_are_not_read(tmp_path):
    file = with_config(tmp_path, ".h5", lambda config: None)
    with h5py.File(file, "a") as content:
        content["model_weights/outside"] = h5py.ExternalLink("/etc/passwd", "/")
    with pytest.raises(ConversionError, match="outside', which is in another file"):
        load_keras(file)


def with_weights(tmp_path, change):
    """Makes a .keras file whose file of weights was changed by hand."""
    file, weights = tmp_path / "changed.keras", tmp_path / "weights.h5"
    good = tmp_path / "model.keras"
    keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]).save(good)
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(file, "w") as made:
        for name in source.namelist():
            content = source.read(name)
            if name == "model.weights.h5":
                weights.write_bytes(content)
                with h5py.File(weights, "a") as opened:
                    change(opened)
                content = weights.read_bytes()
            made.writestr(name, content)
    return file


def first_kernel(weights):
    names = []
    weights.visititems(
        lambda name, found: names.append(name) if found.name.endswith("/0") else None
    )
    return next(name for name in names if weights[name].shape == (4, 2))


def test_weights_in_other_files_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    np.arange(8, dtype=np.float32).tofile(secret)

    def change(weights):
        name = first_kernel(weights)
        del weights[name]
        weights.create_dataset(name, (4, 2), "f4", external=[(str(secret), 0, 32)])

    file = with_weights(tmp_path, change)
    kernel = keras.models.load_model(file).get_weights()[0]
    assert kernel.ravel().tolist() == list(range(8)), "the file would read something"
    with pytest.raises(ConversionError, match="which is in another file"):
        load_keras(file)


def test_weights_far_larger_than_the_file_are_refused(tmp_path):
    def change(weights):
        weights.create_dataset("huge", (1 << 40,), "f4", chunks=(1024,))

    with pytest.raises(ConversionError, match="when unpacked"):
        load_keras(with_weights(tmp_path, change))


def test_arrays_far_larger_than_the_file_are_refused(tmp_path):
    file = with_config(tmp_path, ".h5", lambda config: None)
    with h5py.File(file, "a") as content:
        content.create_dataset("model_weights/huge", (1 << 40,), "f4", chunks=(1024,))
    with pytest.raises(ConversionError, match="when unpacked"):
        load_keras(file)
