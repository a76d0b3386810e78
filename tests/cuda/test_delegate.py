"""Tests of the plug-in with device=cuda in stock LiteRT.

A driver that computes on the CPU takes the place of NVIDIA's. The source of the kernels is the one
that is compiled for GPUs.
"""

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as HostInterpreter

import larq_engine
from larq_engine.python import library
from larq_engine.python.tensors import random_data
from tests import oracle
from tests.kernels.lce_cases import ConvCase
from tests.model_builder import ABSENT, ModelBuilder, add_quantize, bconv_options
from tests.numpy_net import Net, claimed, random_images, random_net, residual_net
from tests.oracle import Conv

_INTEROP = Path(__file__).parents[1] / "interop" / "data"
_ONES, _ZEROS = np.ones(8, np.float32), np.zeros(8, np.float32)
_OUT_OF_MEMORY = 2
_ILLEGAL_ADDRESS = 700
_LAUNCH_FAILED = 719
_PLAIN = "bconv2d_tma_128x256"


def _answers(interpreter, inputs):
    got = interpreter.predict(inputs)
    return got if isinstance(got, list) else [got]


def _same_bytes(first, second):
    return all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))


@pytest.fixture
def model(rng):
    """Returns two layers with shortcuts, a pool and a concatenation, for a batch of two."""
    return residual_net(rng, random_images(rng, 2, 6, 5, 33))


@pytest.mark.parametrize("path", sorted(_INTEROP.glob("*.tflite")), ids=lambda path: path.stem)
def test_files_of_lce_answer_as_on_the_cpu(path, rng, assert_no_leaks):
    cpu = larq_engine.Interpreter(path, device="cpu")
    inputs = [random_data(info, rng) for info in cpu._inputs]
    gpu = larq_engine.Interpreter(path, device="cuda")
    expected = _answers(cpu, inputs)
    rounds_otherwise = bool({"CONV_2D", "FULLY_CONNECTED", "MEAN"} & set(claimed(gpu)))
    for _ in range(2):  # the first run captures a graph, the second replays it
        answers = _answers(gpu, inputs)
        if rounds_otherwise:
            for answer, value in zip(answers, expected, strict=True):
                np.testing.assert_allclose(answer, value, rtol=1e-4, atol=1e-4)
        else:
            assert _same_bytes(answers, expected)
    gpu.close()
    assert_no_leaks()


def test_everything_runs_on_the_gpu_and_little_is_moved(model):
    with model.open(device="cuda") as interpreter:
        interpreter.resize([model.inputs[0].shape])
        rows = interpreter.profile(inputs=model.inputs, runs=3)
    steps = [row for row in rows if row.op not in ("TRANSFER", "host runtime")]
    assert {row.device for row in steps} == {"cuda"}
    assert all(row.kernel and row.calls == 3 for row in steps)
    transfers = [row.device for row in rows if row.op == "TRANSFER"]
    assert transfers == ["cuda", "cpu"]
    assert sum(row.percent for row in rows) == pytest.approx(100)


def test_placement_moves_single_operators(model):
    with model.open(device="cuda") as interpreter:
        expected = _answers(interpreter, model.inputs)
        nodes = [row.node for row in interpreter.profile(runs=1) if row.op == "LceBconv2d"]
    placement = ",".join(f"{node}:cpu" for node in nodes)
    with model.open(device="cuda", placement=placement) as interpreter:
        assert _same_bytes(_answers(interpreter, model.inputs), expected)
        rows = list(interpreter.profile(runs=2))
    devices = {row.node: row.device for row in rows if row.op not in ("TRANSFER", "host runtime")}
    assert {device for node, device in devices.items() if node in nodes} == {"cpu"}
    assert {device for node, device in devices.items() if node not in nodes} == {"cuda"}
    assert sum(row.op == "TRANSFER" for row in rows) > 2
    assert sum(row.percent for row in rows) == pytest.approx(100)


def test_a_device_that_costs_decide_on(model):
    with model.open(device="auto") as interpreter:
        assert _same_bytes(
            _answers(interpreter, model.inputs), _answers(model.open(device="cpu"), model.inputs)
        )


@pytest.mark.parametrize("seed", range(8))
def test_random_networks_with_streams_and_threads_in_any_order(
    seed, rng, shuffled, assert_no_leaks
):
    shuffled(seed)
    for _ in range(3):
        random_net(rng).check_both(device="cuda")
    assert_no_leaks()


@pytest.mark.parametrize(
    "variables",
    [
        {"FAKE_CUDA_COMPUTE_CAPABILITY": "75"},
        {"FAKE_CUDA_COMPUTE_CAPABILITY": "86"},
        {"FAKE_CUDA_COMPUTE_CAPABILITY": "120"},
        {"FAKE_CUDA_VERSION": "12020"},
        {"FAKE_CUDA_LACKS": "cuLaunchKernelEx"},
    ],
    ids=str,
)
def test_chips_and_drivers_of_every_kind(variables):
    """Some chips lack the shared memory that kernels for other chips need.

    On some chips and drivers a launch cannot begin before the one before it is complete.
    """
    code = """
import numpy as np
from tests.numpy_net import random_images, residual_net
rng = np.random.default_rng(1)
model = residual_net(rng, random_images(rng, 2, 6, 5, 33))
results = []
for device in ("cpu", "cuda"):
    with model.open(device=device) as interpreter:
        results.append([value.tobytes() for value in interpreter.predict(model.inputs)])
assert results[0] == results[1]
"""
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables}, check=True)


def test_other_shapes_one_after_another(rng, assert_no_leaks):
    model = residual_net(rng, random_images(rng, 3, 6, 5, 12))
    with model.open(device="cuda") as gpu, model.open(device="cpu") as cpu:
        for shape in [(1, 6, 5, 12), (3, 6, 5, 12), (1, 9, 4, 12), (1, 6, 5, 12)]:
            images = random_images(rng, *shape)
            for interpreter in (gpu, cpu):
                interpreter.resize([shape])
            assert _same_bytes(_answers(gpu, images), _answers(cpu, images))
    assert_no_leaks()


def test_launches_are_remembered_for_shapes_that_come_back(model, driver):
    with model.open(device="cuda") as interpreter:
        calls = []
        for _ in range(3):
            before = driver.fake_cuda_calls()
            for samples in (2, 1):
                _answers(interpreter, model.inputs[0][:samples])
            calls.append(driver.fake_cuda_calls() - before)
    assert calls[2] == calls[1] < calls[0]


def _plain_net(rng, *shape):
    """Returns a model of two products without windows, whose rows are the pixels in memory."""
    net = Net(rng)
    x = net.input(random_images(rng, *shape))
    return net.finish(net.conv(net.conv(x, 256, taps=1), 40, taps=1))


def _try_everything(model, kernel="auto"):
    with model.open(device="cuda", kernel=kernel) as interpreter:
        results = _answers(interpreter, model.inputs)
        again = _answers(interpreter, model.inputs)
        interpreter.profile(runs=1)
    assert _same_bytes(results, again)
    return results


@pytest.mark.parametrize(
    ("error", "kernel"),
    [
        (_OUT_OF_MEMORY, "auto"),
        (_ILLEGAL_ADDRESS, "auto"),
        (_LAUNCH_FAILED, "auto"),
        (_OUT_OF_MEMORY, _PLAIN),
    ],
)
def test_every_call_of_the_driver_may_fail(rng, driver, error, kernel):
    if kernel == _PLAIN:
        model = _plain_net(rng, 1, 2, 2, 128)
    else:
        model = residual_net(rng, random_images(rng, 1, 2, 2, 5))
    expected = _try_everything(model, kernel)
    calls = driver.fake_cuda_calls()
    assert calls > 50
    # The engine must not hide an error of these calls, and launch the kernels in another way.
    of_graphs = {
        *(b"cuStreamBeginCapture", b"cuStreamEndCapture", b"cuGraphInstantiateWithFlags"),
        *(b"cuEventRecordWithFlags", b"cuLaunchKernel", b"cuLaunchKernelEx", b"cuGraphLaunch"),
    }
    tried = set()
    leaks = driver.fake_cuda_leaks()
    for number in range(1, calls + 1):
        driver.fake_cuda_reset()
        driver.fake_cuda_fail_call(number, error)
        try:
            results = _try_everything(model, kernel)
        except (ValueError, RuntimeError, MemoryError) as failure:
            text = str(failure)
            assert "memory" in text or "CUDA_ERROR" in text, text
        else:
            # Calls may fail unseen if they only release something, or are tried in another way.
            assert _same_bytes(results, expected)
            assert driver.fake_cuda_failed_call() not in of_graphs
        failed = driver.fake_cuda_failed_call()
        tried.add(failed)
        driver.fake_cuda_reset()
        before, leaks = leaks, driver.fake_cuda_leaks()
        # Without a context nothing can be freed; it is freed with the context.
        assert failed == b"cuCtxPushCurrent" or leaks == before, (number, failed)
    assert kernel != _PLAIN or b"cuTensorMapEncodeTiled" in tried
    assert of_graphs | {b"cuMemAlloc", b"cuMemcpyHtoDAsync"} <= tried
    assert _same_bytes(_try_everything(model, kernel), expected)
    driver.fake_cuda_forgive_leaks()


def test_no_result_is_handed_out_after_a_fault(model, driver):
    with model.open(device="cuda") as interpreter:
        _answers(interpreter, model.inputs)
        driver.fake_cuda_fail_call(1, _ILLEGAL_ADDRESS)
        for _ in range(3):
            with pytest.raises((ValueError, RuntimeError), match="CUDA_ERROR_ILLEGAL_ADDRESS"):
                interpreter.predict(model.inputs)


def test_interpreters_in_threads(model):
    expected = _answers(model.open(device="cpu"), model.inputs)
    wrong = []

    def run():
        with model.open(device="cuda") as interpreter:
            for _ in range(3):
                if not _same_bytes(_answers(interpreter, model.inputs), expected):
                    wrong.append(threading.get_ident())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_empty_image_with_pads(rng):
    """The output of an empty image with pads is not empty."""
    conv = Conv((1, 4, 0, 32), (1, 1), 8, padding=((1, 1), (1, 1)), pad_value=1)
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 0, 32), np.float32)
    bits = add_quantize(builder, x, (1, 4, 0, 32))
    filters = oracle.pack_bits(oracle.signs(rng.standard_normal(conv.filter_shape)))
    constants = [builder.constant(filters), *map(builder.constant, (_ONES, _ZEROS))]
    y = builder.tensor((1, 6, 2, 8), np.float32)
    builder.custom("LceBconv2d", [bits, *constants, ABSENT], [y], bconv_options(conv))
    results = []
    for device in ("cpu", "cuda"):
        delegate = larq_engine.load_delegate("litert", device=device)
        host = HostInterpreter(
            model_content=builder.finish([x], [y]), experimental_delegates=[delegate]
        )
        host.allocate_tensors()
        host.invoke()
        results.append(host.get_tensor(host.get_output_details()[0]["index"]))
    assert results[0].shape == (1, 6, 2, 8)
    np.testing.assert_array_equal(*results)


def test_a_window_larger_than_any_image(rng):
    """A file could ask for any amount of work, and a kernel that runs cannot be stopped."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 32), np.float32)
    bits = add_quantize(builder, x, (1, 4, 4, 32))
    pooled = builder.tensor((1, 4, 4, 1), np.int32)
    window = {"filter_height": 1 << 23, "filter_width": 1 << 23, "padding": 0}
    builder.custom(
        "LceBMaxPool2d", [bits], [pooled], window | {"stride_height": 1, "stride_width": 1}
    )
    y = builder.tensor((1, 4, 4, 32), np.float32)
    builder.custom("LceDequantize", [pooled], [y])
    images = random_images(rng, 1, 4, 4, 32)
    model = builder.finish([x], [y])
    results = [larq_engine.Interpreter(model, device=d).predict(images) for d in ("cpu", "cuda")]
    np.testing.assert_array_equal(*results)


def test_a_profile_of_what_could_not_be_prepared(model, driver):
    refused = 0
    for call in range(1, 40):
        delegate = larq_engine.load_delegate("litert", device="cuda")
        host = HostInterpreter(model_content=model.content, experimental_delegates=[delegate])
        driver.fake_cuda_fail_call(call, _OUT_OF_MEMORY)
        try:
            host.allocate_tensors()
        except RuntimeError:
            refused += 1
            engine = library.Delegate(delegate._get_native_delegate_pointer())
            engine.start_profile()
            assert engine.read_profile() == []
    assert refused > 5


def test_a_copy_is_on_the_same_device(model):
    with model.open(device="cuda") as interpreter:
        copy = pickle.loads(pickle.dumps(interpreter))
    assert "cuda" in {row.device for row in copy.profile(runs=1)}


def test_a_gpu_that_is_not_there(model):
    message = "^larq_engine plug-in: device=cuda: expected GPU 7, got 1 GPUs.*; or set device to "
    with pytest.raises(ValueError, match=message):
        model.open(device="cuda:7")


@pytest.mark.parametrize("kernel", ["bconv2d_popc", "bconv2d_int8_64x64_c4"])
def test_a_kernel_by_name(model, kernel):
    with model.open(device="cuda", kernel=kernel) as interpreter:
        rows = interpreter.profile(runs=1)
        answers = _answers(interpreter, model.inputs)
    assert {row.kernel for row in rows if row.op == "LceBconv2d"} == {kernel}
    assert _same_bytes(answers, _answers(model.open(device="cpu"), model.inputs))


def test_plain_products_copied_by_the_chip(rng, assert_no_leaks):
    model = _plain_net(rng, 3, 9, 8, 128)
    with model.open(device="cuda", kernel=_PLAIN) as interpreter:
        for samples in (3, 1, 3):  # with other addresses each time, which the driver must be told
            inputs = [model.inputs[0][:samples]]
            expected = _answers(model.open(device="cpu"), inputs)
            assert _same_bytes(_answers(interpreter, inputs), expected)
        rows = interpreter.profile(runs=1)
    assert {row.kernel for row in rows if row.op == "LceBconv2d"} == {_PLAIN}
    assert_no_leaks()


def test_a_plain_product_that_is_none(model):
    with pytest.raises(
        ValueError,
        match=rf"LceBconv2d.*: kernel {_PLAIN}: the filter is not 1x1 with stride 1 and without "
        r"pads",
    ):
        model.open(device="cuda", kernel=_PLAIN).predict(model.inputs)


def test_a_kernel_for_gpus_on_the_cpu(model):
    with pytest.raises(ValueError, match="bconv2d_popc is for GPUs; set device to cuda as well"):
        model.open(device="cpu", kernel="bconv2d_popc")


def test_an_operator_that_is_placed_on_a_device_that_refuses_it(model):
    with pytest.raises(ValueError, match="option placement: expected a node"):
        model.open(device="cuda", placement="one:cpu")


_SEVERAL_BITS = [
    Conv((2, 6, 5, 64), (3, 3), 40, bits_in=2, bits_weights=2),
    Conv((1, 7, 7, 128), (3, 3), 33, stride=(2, 2), bits_in=3, bits_weights=1, pad_value=0),
    Conv((1, 5, 5, 33), (2, 3), 64, bits_in=1, bits_weights=8, pad_value=-1),
    Conv((2, 2, 3, 40), (1, 1), 9, bits_in=8, bits_weights=2),
    Conv((3, 4, 4, 256), (1, 1), 64, bits_in=4, bits_weights=3),
    Conv((1, 6, 6, 128), (3, 3), 64, groups=2, bits_in=2, bits_weights=1),
]


@pytest.mark.parametrize("conv", _SEVERAL_BITS, ids=str)
def test_layers_of_several_bits(conv, rng, assert_no_leaks):
    case = ConvCase(conv, rng)
    model = case.model()
    x = rng.standard_normal(case.conv.input_shape).astype(np.float32)
    with larq_engine.Interpreter(model, device="cpu") as interpreter:
        expected = interpreter.predict(x)
    for kernel in ("auto", "bconv2d_popc"):
        with larq_engine.Interpreter(model, device="cuda", kernel=kernel) as interpreter:
            got = interpreter.predict(x)
            rows = list(interpreter.profile(runs=1))
        case.check(got, oracle.dot_products(case.conv, case.values(x), case.filters))
        assert _same_bytes(got, expected)
        assert {row.device for row in rows if row.op in ("LceQuantize", "LceBconv2d")} == {"cuda"}
    assert_no_leaks()


def test_bytes_become_bits(rng, assert_no_leaks):
    case = ConvCase(Conv((1, 5, 4, 40), (3, 3), 33, bits_in=8, bits_weights=2), rng)
    x = rng.integers(0, 256, case.conv.input_shape).astype(np.uint8)
    with larq_engine.Interpreter(case.model(np.uint8), device="cuda") as interpreter:
        got = interpreter.predict(x)
        rows = list(interpreter.profile(runs=1))
    values = 2 * x.astype(np.float32) - 255
    case.check(got, oracle.dot_products(case.conv, values, case.filters))
    assert {row.device for row in rows if row.op in ("LceQuantize", "LceBconv2d")} == {"cuda"}
    assert_no_leaks()


def test_rows_for_one_bit_refuse_several(rng):
    case = ConvCase(Conv((1, 2, 2, 128), (1, 1), 8, bits_in=2), rng)
    with pytest.raises(ValueError, match="values or weights have more than one bit"):
        larq_engine.Interpreter(case.model(), device="cuda", kernel=_PLAIN)
