"""Checks the registers and the instructions that NVIDIA's compiler made of the kernels."""

import ast
import os
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "larq_engine/kernels/cuda"
TARGETS = ("fatbin.log", "fatbin.fatbin")

pytestmark = pytest.mark.slow

# The greatest number of registers of a thread. The 65,536 registers of a multiprocessor are enough
# for 2 blocks of 128 threads with 255 registers, 3 with 168 or 4 with 128, for 3 blocks of 288
# threads with 72, for 2 of 256 with 128, or for 1 of 384 with 168.
REGISTERS = {
    r"bconv2d_mma_128x128_c\d+": 255,
    r"bconv2d_mma_128x64_c\d+": 168,
    r"bconv2d_wgmma_128x128": 128,
    r"bconv2d_wgmma_128x256": 255,
    r"bconv2d_tma_128x256": 168,
    r"bconv2d_halo_\d+": 168,
    r"bconv2d_small_(int8_)?c\d+": 72,
    r"bconv2d_int8_64x64_c\d+": 128,
    r"bconv2d_mma8_64x64_c\d+": 128,
    r"conv2d_\w+": 128,
    r"depthwise_pointwise_32x32": 168,
    r"pooled_\w+|depthwise_pointwise_64x64": 128,
    r".*": 80,
}
# The instructions that a kernel must have, with their sizes. BMMA and IMMA are products; LDSM is
# ldmatrix; LDGSTS is an asynchronous copy; LDG is a load; IDP is a sum of products, of bytes or of
# halves and bytes.
_INT8 = r"IMMA\.16832\.S8\.S8"
_XOR = r"BMMA\.88128\.XOR\.POPC"
ANYWHERE = {
    r"bconv2d_popc": (r"POPC",),
    r"\w+_x4|(max_pool|depthwise_conv2d|pooled)_[23]x[23]\w*": (r"LDG\.\S*128", r"STG\.\S*128"),
    r"signed_dense_int8": (r"IDP\.4A\.S8\.S8",),
}
FROM_8_0 = ANYWHERE | {
    r"bconv2d_int8_\w+_c16": (_INT8, r"LDSM\.16\.M88\.4", r"LDGSTS\.\S*128"),
    r"bconv2d_int8_\w+_c8": (_INT8, r"LDSM\.16\.M88\.4", r"LDGSTS\.\S*64"),
    r"bconv2d_int8_\w+_c4": (_INT8, r"LDSM\.16\.M88\.4", r"LDGSTS\.E "),
    r"bconv2d_small_int8_c16": (_INT8, r"LDG\.\S*128"),
    r"bconv2d_small_int8_c8": (_INT8, r"LDG\.\S*64"),
    r"bconv2d_small_int8_c4": (_INT8,),
    r"conv2d_\w+|depthwise_pointwise_\w+": (r"FFMA", r"LDS\.128", r"LDGSTS\.\S*128"),
}
FROM_8_0_TO_9_0 = FROM_8_0 | {
    r"bconv2d_mma_\w+_c16": (r"BMMA\.168256\.AND\.POPC", r"LDSM\.16\.M88\.4", r"LDGSTS\.\S*128"),
    r"bconv2d_mma_\w+_c8": (r"BMMA\.168256\.AND\.POPC", r"LDSM\.16\.M88\.4", r"LDGSTS\.\S*64"),
    r"bconv2d_mma_\w+_c4": (r"BMMA\.168256\.AND\.POPC", r"LDSM\.16\.M88\.4", r"LDGSTS\.E "),
    r"bconv2d_halo_64": (r"BMMA\.168256\.AND\.POPC", r"LDS\.64", r"LDGSTS\.\S*64"),
    r"bconv2d_halo_128": (r"BMMA\.168256\.AND\.POPC", r"LDS\.64", r"LDGSTS\.\S*128"),
    r"bconv2d_small_c16": (r"BMMA\.168256\.AND\.POPC", r"LDG\.\S*128"),
    r"bconv2d_small_c8": (r"BMMA\.168256\.AND\.POPC", r"LDG\.\S*64"),
    r"bconv2d_small_c4": (r"BMMA\.168256\.AND\.POPC",),
}
# BGMMA is the product of a warpgroup, and FENCE.VIEW.ASYNC makes copies visible to it; UTMALDG
# copies a box, and SYNCS works on barriers with phases.
ON_9_0 = FROM_8_0_TO_9_0 | {
    r"bconv2d_wgmma_\w+": (
        r"BGMMA\.64x(128|256)x256\.AND\.POPC",
        r"FENCE\.VIEW\.ASYNC",
        r"LDGSTS\.\S*128",
        r"LDS\.128",
    ),
    r"bconv2d_tma_\w+": (
        r"BGMMA\.64x256x256\.AND\.POPC",
        r"FENCE\.VIEW\.ASYNC",
        r"UTMALDG\.2D",
        r"SYNCS\.PHASECHK\.\S*TRYWAIT",
        r"USETMAXREG\.DEALLOC",
        r"USETMAXREG\.TRY_ALLOC",
        r"LDS\.128",
        r"IDP\.2A\.LO\.U16\.U8",
    ),
}
ON_7_5 = ANYWHERE | {
    r"bconv2d_mma8_\w+_c16": (_XOR, r"LDG\.\S*128"),
    r"bconv2d_mma8_\w+_c8": (_XOR, r"LDG\.\S*64"),
    r"bconv2d_mma8_\w+_c4": (_XOR,),
}
INSTRUCTIONS = {
    "sm_75": ON_7_5,
    "sm_80": FROM_8_0_TO_9_0,
    "sm_86": FROM_8_0_TO_9_0,
    "sm_89": FROM_8_0_TO_9_0,
    "sm_90a": ON_9_0,
    "sm_100": FROM_8_0,
    "sm_120": FROM_8_0,
}
# ACQBULK waits for the launches before, and PREEXIT lets the next one begin.
EARLY = (r"\bACQBULK\b", r"\bPREEXIT\b")
EARLY_ON = ("sm_90a", "sm_100", "sm_120")
PRODUCT = r"\b(BMMA|IMMA|BGMMA)\b"
# Loads and stores of a thread's local memory.
NEVER = r"\b(LDL|STL)\b"
# Divisions of 64 bits are calls. On older chips, collective operations of diverged warps are too.
NO_CALLS = r"bconv2d_(mma|halo|small|wgmma|tma)_\w+"
NO_CALLS_ON = "sm_90a"


def _of(table, name):
    return next((value for pattern, value in table.items() if re.fullmatch(pattern, name)), None)


def _rows() -> list[str]:
    text = (ROOT / PACKAGE / "kernels.inc").read_text(encoding="utf-8")
    return re.findall(r"^LARQ_ENGINE_CUDA_KERNEL\((\w+)", text, re.MULTILINE)


def _chips() -> list[str]:
    tree = ast.parse((ROOT / "larq_engine/build_defs.bzl").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "CUDA_CHIPS":
            return [chip for chip in ast.literal_eval(node.value) if chip.startswith("sm_")]
    raise AssertionError("build_defs.bzl has no CUDA_CHIPS")


def _lacks(tools: str) -> NoReturn:
    message = f"needs {tools}; `make setup-cuda` installs what it needs"
    if os.environ.get("LARQ_ENGINE_REQUIRE_CUDA_COMPILER"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="module")
def compiled() -> dict[str, Path]:
    labels = [f"//{PACKAGE}:{target}" for target in TARGETS]
    bazel = ROOT / "tools/run_bazel.sh"
    found = subprocess.run(
        [bazel, "query", labels[0]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        _lacks("NVIDIA's compiler")
    subprocess.run([bazel, "build", *labels], cwd=ROOT, check=True)
    folder = ROOT / "bazel-bin" / PACKAGE
    return {target: folder / f"fatbin_code.{target.split('.')[1]}" for target in TARGETS}


def test_registers_hold_everything(compiled):
    log = compiled["fatbin.log"].read_text(encoding="utf-8")
    # Then sums would have to be complete before the next product begins.
    assert "serialized" not in log
    parts = re.split(r"Compiling entry function '(\w+)' for '(\w+)'", log)[1:]
    seen = Counter()
    for symbol, chip, said in zip(*[iter(parts)] * 3, strict=True):
        name = symbol.removeprefix("larq_engine_")
        seen[name, chip] += 1
        where = f"{name} on {chip}: {said}"
        assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in said, where
        used = re.search(r"Used (\d+) registers", said)
        assert used, where
        assert int(used.group(1)) <= _of(REGISTERS, name), where
    assert seen == Counter({(name, chip): 1 for name in _rows() for chip in _chips()})


@pytest.mark.parametrize("chip", INSTRUCTIONS)
def test_instructions_are_those_that_are_meant(compiled, chip):
    own = next((ROOT / ".cuda").glob("**/bin/cuobjdump"), None)
    cuobjdump = own or shutil.which("cuobjdump")
    if cuobjdump is None:
        _lacks("cuobjdump and nvdisasm")
    folder = str(Path(cuobjdump).parent)
    listing = subprocess.run(
        [cuobjdump, "-sass", "-arch", chip, compiled["fatbin.fatbin"]],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": f"{folder}:/usr/bin:/bin"},
    ).stdout
    kernels = defaultdict(str)
    for part in listing.split("Function : larq_engine_")[1:]:
        name, _, code = part.partition("\n")
        kernels[name.strip()] += code
    assert sorted(kernels) == sorted(_rows())
    for name, code in kernels.items():
        wrong = re.search(NEVER, code)
        assert not wrong, f"{name} on {chip} has {wrong}"
        if chip == NO_CALLS_ON and re.fullmatch(NO_CALLS, name):
            assert "CALL" not in code, f"{name} on {chip} has a call"
        for instruction in EARLY:
            found = re.search(instruction, code) is not None
            assert found == (chip in EARLY_ON), f"{name} on {chip}: {instruction}"
        meant = _of(INSTRUCTIONS[chip], name) or ()
        for instruction in meant:
            assert re.search(instruction, code), f"{name} on {chip} has no {instruction}"
        # A kernel for other chips is empty: what it multiplies with is slow there.
        if not any("MMA" in instruction for instruction in meant):
            assert not re.search(PRODUCT, code), f"{name} on {chip} has a product"
