"""Tests of the tests: kernels with a fault in one line, each of which must be found without a GPU.

The kernels are compiled as they are, and then with each fault. A fault names the check that finds
it, so that a check that no longer works is noticed even if another one still fails. Each fault
takes up to 9 seconds, so that only a sample of them runs without --full.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests import samples
from tests.kernels.cuda import float_faults
from tests.kernels.cuda.planted_fault import CRASH, WRONG_NUMBER, Edit, Fault, faults

ROOT = Path(__file__).resolve().parents[3]
KERNELS = "larq_engine/kernels/cuda"
TESTS = "tests/kernels/cuda"

NOT_WAITED_FOR = "asynchronous copies were not waited for"
TOO_MANY = "more arrive at a barrier than its phase is for"
DEADLOCK = "waits at a barrier that others never reach"

pytestmark = pytest.mark.slow


# The line that makes the bits of a part, and the beginning of the next one.
FINISH = "        held.Finish(a, warp * 16, own.constants, row_ones);\n        const TilePlace"

EDITS = {
    "run_kernel.h": {
        "launches before are not waited for": Edit(
            "WaitForEarlierLaunches();", "", "it ends and has not waited for the launches before"
        ),
        "launches before are waited for too late": Edit(
            "WaitForEarlierLaunches();\n  LetNextLaunchBegin();\n  kernel();",
            "kernel();\n  WaitForEarlierLaunches();",
        ),
        "only the first warp waits for the launches before": Edit(
            "WaitForEarlierLaunches();",
            "if (threadIdx.x < 32) WaitForEarlierLaunches();",
            "it ends and has not waited for the launches before",
        ),
    },
    "bconv2d_mma.h": {
        "the barrier of a step is missing": Edit(
            "__syncthreads();  // everyone's copies", "// everyone's copies"
        ),
        "one group of copies too few is waited for": Edit(
            "WaitCopies<kTile.stages - 2>();", "WaitCopies<kTile.stages - 1>();"
        ),
        "no copies are waited for": Edit("WaitCopies<kTile.stages - 2>();"),
        "the last steps are no groups": Edit(
            "CommitCopies();  // a group",
            "if (next < steps) CommitCopies();  // a group",
            "asynchronous copies are in no group",
        ),
        "the next step is copied before the barrier": Edit(
            "__syncthreads();  // everyone's copies are there, and the stage before this one is "
            "free\n        copy_next();",
            "copy_next();\n        __syncthreads();",
        ),
        "halves of a fragment are swapped": Edit(
            "RowPart(row, 2 * half + lane / 16)", "RowPart(row, 2 * half + 1 - lane / 16)"
        ),
        "a barrier is not reached by all": Edit(
            "__syncthreads();  // nobody reads the stages",
            "if (thread < 64) __syncthreads();  // nobody reads the stages",
            DEADLOCK,
        ),
        "rows of a stage lie one below the other": Edit(
            "((part ^ row / 2) & 3)", "part", "bank conflicts"
        ),
        "rows of a stage are shifted too often": Edit(
            "((part ^ row / 2) & 3)", "((part ^ row) & 3)", "bank conflicts"
        ),
        "constants of channels are not waited for": Edit(
            "WaitCopies<0>();  // for the epilogue", "", f"{WRONG_NUMBER}|{NOT_WAITED_FOR}"
        ),
        "constants lie where ones are counted": Edit(
            "return (steps % kTile.stages + 1) * kStageBytes - static_cast<int>(sizeof(Constants))",
            "return 0 * steps",
        ),
        "what counts more is not doubled": Edit(
            "if (pair.Advance(a)) product.DoubleAll();", "pair.Advance(a);"
        ),
        "each pair of planes counts twice the next": Edit(
            "if (pair.Advance(a)) product.DoubleAll();",
            "pair.Advance(a);\n      if (pair.IsThere()) product.DoubleAll();",
        ),
        "constants come with all pairs of planes but the last": Edit(
            "next == steps && pair.IsLast()",
            "next == steps && (!kTile.has_planes || !pair.IsLast())",
        ),
        "stages are copied into while the pair of planes before is multiplied": Edit(
            "__syncthreads();  // nobody reads the stages",
            "if (!pair.IsThere()) __syncthreads();  // nobody reads the stages",
        ),
    },
    "bconv2d_small.h": {
        "registers of a fragment are swapped": Edit(
            "{pixel_rows.w[0][at], pixel_rows.w[1][at]", "{pixel_rows.w[1][at], pixel_rows.w[0][at]"
        ),
        "sums are read before all warps have written theirs": Edit("__syncthreads();"),
        "ones of pixels are not doubled": Edit("ones[1] *= 2;"),
        "the next words of a filter are not loaded": Edit(
            "if (k + step < depth_words) load_channels(filter, k + step);"
        ),
        "each pair of planes has the filter of the first": Edit(
            "if (pair.IsThere()) load_channels(pair.Filter(a), first);"
        ),
        "a thread's values have one residual": Edit("if (v > 0) own = inputs[1];"),
        "filters of few channels are read behind the last": Edit(
            "if (channel >= a.out_channels || k >= depth_words) continue;",
            "if (k >= depth_words) continue;",
            CRASH,
        ),
        "halves of planes are one plane's": Edit("bits[0] >> plane & 1u", "bits[0] & 1u"),
    },
    "bconv2d_window.h": {
        "padding is one off": Edit(
            "a.stride_width - a.pad_left;", "a.stride_width - a.pad_left + 1;"
        ),
        "rows of a block do not go on in the next image": Edit(
            "y -= a.out_height;\n      ++image;", "y -= a.out_height;"
        ),
    },
    "bconv2d_epilogue_exchange.h": {
        "outputs go to another row of a fragment": Edit("8 * (e % 4 / 2)", "8 * (e % 2)"),
        "the output is written behind its end": Edit(
            "const int rows = pixels - pixel - r < kRows ? pixels - pixel - r : kRows;",
            "const int rows = kRows;",
            CRASH,
        ),
    },
    "bconv2d_tiles.h": {
        "shared memory is a stage too small": Edit(
            "return stages * (m + n)",
            "return (stages - 1) * (m + n)",
            "shared address .* is outside the block's",
        )
    },
    "bconv2d_stages.h": {
        "the filter is read behind its end": Edit(
            "has_words && i * kRowsAtOnce < channels_left ? 16 : 0", "has_words ? 16 : 0", CRASH
        ),
        "all planes of the image are the first one": Edit(
            "pair.image * a.plane_words + block.group * a.tap_words", "block.group * a.tap_words"
        ),
        "the filter is read behind its last words": Edit(
            "Stage::kStepWords == kFilterStepWords || words_left > 0", "true", CRASH
        ),
    },
    "bconv2d_epilogue_floats.h": {
        "floats are written behind their end by lanes that have them": Edit(
            "inside[h] = pixel + 8 * h < pixels;", "inside[h] = true;", CRASH
        ),
        "a lane takes its rows' sums for its channels'": Edit(
            "sums[4 * (i / 2) + 2 * h + i % 2]", "sums[4 * (i / 2) + h + 2 * (i % 2)]"
        ),
        "taps outside are not counted by lanes that have floats": Edit(
            "if (place.is_inner) continue;", "continue;"
        ),
        "signs have no limits": Edit("if (after.limits == nullptr) {", "if (true) {"),
    },
    "bconv2d_lane.h": {
        "bits are written behind their end by lanes that have them": Edit(
            "lane % 4 < kLaneRows && own < pixels", "lane % 4 < kLaneRows", CRASH
        ),
        "bits of four lanes lie upon each other": Edit(
            "const int shift = lane % 4 * 2;", "const int shift = lane % 4;"
        ),
        "several planes are taken for one": Edit("a.output.after.planes == 1;", "true;"),
        "a residual is read behind its end by lanes that have its sums": Edit(
            "if (inside[h]) LoadLaneChannels(", "LoadLaneChannels(", CRASH
        ),
        "a residual is another row's": Edit(
            "LoadLaneChannels(values + Row(h), tensor.v[h])",
            "LoadLaneChannels(values + Row(0), tensor.v[h])",
        ),
    },
    "bconv2d_fragments.h": {
        "the low half of a word of bits is lost": Edit(
            "bits[h] << 16 | low_bits[h]", "bits[h] << 16"
        ),
        "a threshold is taken for sums that are half as large": Edit(
            "Dot(lane_ones, value(i, j, e)) > limit", "lane_ones - value(i, j, e) > limit"
        ),
    },
    "bconv2d_epilogues.cc": {
        "a threshold is one less": Edit("depth - limit;", "depth - limit - 2;"),
        "taps outside are not counted by thresholds": Edit(" && args.corner_ones == nullptr"),
    },
    "sum_steps.h": {
        "a sum is not written": Edit(
            "if (program.sum_out != nullptr) values.Store(program.sum_out);\n"
        ),
        "a product is not clamped": Edit("ClampAll(program.product.range, values);"),
    },
    "bconv2d_output.h": {
        "a residual of one channel is not loaded": Edit(
            "if (!has_residual) return inputs;", "return inputs;"
        ),
        "taps that a dilation leaves out are counted": Edit(
            "first = Divide(first + dilation.value - 1, dilation).quotient;"
        ),
        "planes of an output lie in the other order": Edit(
            "bits[i] >> plane & 1u", "bits[i] >> (planes - 1 - plane) & 1u"
        ),
    },
    "bconv2d_epilogue_inputs.h": {
        "all blocks have the constants of the first channels": Edit(
            "4 * (static_cast<int64_t>(channel) + first)", "4 * static_cast<int64_t>(first)"
        ),
        "constants are read behind the last channel": Edit(
            "first < channels ? 16 : 0", "16", CRASH
        ),
        "a bias is a multiplier": Edit(
            "i < 2 * kParts ? output.multiplier", "i < 3 * kParts ? output.multiplier"
        ),
        "a residual is asked for behind its end": Edit(
            "if (pixel >= pixels || n >= a.group_out_channels) continue;", "", CRASH
        ),
    },
    "bconv2d_wgmma.h": {
        "constants of a warpgroup's product are not waited for": Edit(
            "WaitCopies<0>();  // for the epilogue", "", f"{WRONG_NUMBER}|{NOT_WAITED_FOR}"
        ),
        "products are added to those of the part before": Edit(
            "/*adds=*/k > 0 || step > 0", "/*adds=*/true"
        ),
        "each step's products are all that is left": Edit(
            "/*adds=*/k > 0 || step > 0", "/*adds=*/k > 0"
        ),
        "a warpgroup's products read a stage without a barrier": Edit(
            "__syncthreads();  // everyone's copies", "// everyone's copies"
        ),
        "products have no fence after the copies": Edit("FenceForProducts();"),
        "products have no fence before them": Edit(
            "WgmmaFence(c);", "", "no fence since the last wait"
        ),
        "a stage is copied into while it is multiplied": Edit(
            "i < kTile.stages - 2;", "i < kTile.stages - 1;"
        ),
        "one group of copies too few is waited for before a warpgroup's products": Edit(
            "WaitCopies<kTile.stages - 3>();", "WaitCopies<kTile.stages - 2>();"
        ),
        "the last products are not waited for": Edit(
            "WgmmaWait<0>(c);", "", "products were not waited for"
        ),
        "products are in no group": Edit("WgmmaCommit();", "", "products are in no group"),
        "parts of a row are not where the descriptor says": Edit("((part ^ row) & 7)", "part"),
        "the second warpgroup multiplies the first one's rows": Edit(
            "thread / kWarpgroup * 64", "0"
        ),
    },
    "bconv2d_tma.h": {
        "constants of a part are not waited for": Edit(
            "WaitCopies<0>();  // for the epilogue", "", f"{WRONG_NUMBER}|{NOT_WAITED_FOR}"
        ),
        "boxes are copied into a stage that is in use": Edit(
            "WaitForPhase(memory.Empty(turn.stage), turn.round % 2 ^ 1);",
            "",
            f"{WRONG_NUMBER}|{TOO_MANY}",
        ),
        "a stage that is in use is taken for an empty one": Edit(
            "turn.round % 2 ^ 1", "turn.round % 2", DEADLOCK
        ),
        "boxes are waited for in the phase before theirs": Edit(
            "WaitForPhase(memory.Full(turn.stage), turn.round % 2);",
            "WaitForPhase(memory.Full(turn.stage), turn.round % 2 ^ 1);",
            TOO_MANY,
        ),
        "boxes are not waited for": Edit(
            "WaitForPhase(memory.Full(turn.stage), turn.round % 2);", "", TOO_MANY
        ),
        "one box of two is expected": Edit(
            "ArriveAndExpect(full, TmaTile::kStageBytes);",
            "ArriveAndExpect(full, TmaTile::kStageBytes - TmaTile::kM * TmaTile::kStepWords * 4);",
            "more bytes arrive at a barrier than it was told to expect",
        ),
        "a few bytes of a box are not expected": Edit(
            "ArriveAndExpect(full, TmaTile::kStageBytes);",
            "ArriveAndExpect(full, TmaTile::kStageBytes - 16);",
            "more bytes arrive at a barrier than it was told to expect",
        ),
        "a stage is given back before it is multiplied": Edit(
            "if (step > 0) ArriveAsWarp(memory.Empty(before), lane);",
            "ArriveAsWarp(memory.Empty(turn.stage), lane);",
            f"{WRONG_NUMBER}|{TOO_MANY}",
        ),
        "the last stage of a part is not given back": Edit(
            "WgmmaWait<0>(c);\n    ArriveAsWarp(memory.Empty(before), lane);",
            "WgmmaWait<0>(c);",
            DEADLOCK,
        ),
        "a lane arrives before the others of its warp": Edit(
            "__syncwarp();\n  if (lane == 0) Arrive(barrier);", "if (lane == 0) Arrive(barrier);"
        ),
        "ones are read before they are there": Edit(
            "outputs.ones[thread / 2] = ones;\n    __syncwarp();",
            "outputs.ones[thread / 2] = ones;",
        ),
        "the bits of a block's last part are not made": Edit(
            "  });\n  held.Finish(a, warp * 16, own.constants, row_ones);", "  });"
        ),
        "only the bits of a block's last part are made": Edit(FINISH, "        const TilePlace"),
        "bits of a part go where the next part is": Edit(
            FINISH,
            "        const TilePlace next = TilePlace::Of(a, tile);\n"
            "        held.block = {next.m0, 0, 0, next.n0};\n" + FINISH,
        ),
        "bits of a part are made with the constants of the next part": Edit(
            FINISH,
            "        const TilePlace next = TilePlace::Of(a, tile);\n"
            "        const uint32_t to = SharedAddress(&own.constants);\n"
            "        FetchForWarp(a, {next.m0, 0, 0, next.n0}, to, warp, lane);\n" + FINISH,
        ),
        "a part of one step does not finish the part before": Edit("steps > 1 ? 1 : 0", "1"),
        "barriers have no fence before copies": Edit(
            "FenceForProducts();", "", "a copy arrives at a barrier that has no fence"
        ),
        "barriers are used before all know of them": Edit(
            "__syncthreads();", "", "there is no barrier at shared address"
        ),
    },
    "bconv2d_products.h": {
        "a byte takes two bits": Edit("0x01010101u", "0x01010103u"),
        "two products take the same bits": Edit("word >> first &", "word >> (first & 6) &"),
    },
    "bconv2d_mma8.h": {
        "lanes do not wait for what others exchange": Edit("__syncwarp();"),
        "filters are read behind the last channel": Edit("if (8 * i + g < channels) {", "{", CRASH),
        "sums of differing bits are not doubled": Edit(
            "if (pair.Advance(a)) Double(c);", "pair.Advance(a);"
        ),
    },
    "bconv2d_planes.h": {
        "a pair of planes is left out": Edit(
            "image = both < a.bits_weights ? 0 :", "image = both < a.bits_weights ? (both > 0) :"
        )
    },
    "bconv2d_popc.h": {"planes of filters count alike": Edit("(1 << (i + j))", "(1 << i)")},
    "pixel_steps.h": {
        "a limit that is reached is not counted": Edit(
            "__uint_as_float(FloatBits(y) ^ sign) < limit",
            "__uint_as_float(FloatBits(y) ^ sign) <= limit",
        )
    },
    "bconv2d_rows.cc": {
        "boxes are copied as they lie": Edit(".is_swizzled = true", ".is_swizzled = false"),
        "a box is a row higher than is expected": Edit(
            "a.tap_words, TmaTile::kM)",
            "a.tap_words, TmaTile::kM + 1)",
            "more bytes arrive at a barrier than it was told to expect",
        ),
    },
    "bconv2d_held.h": {
        "sums that wait for their bits change places": Edit(
            "e % 2 == 0 ? 0x0002 : 0x0200", "e % 2 == 0 ? 0x0200 : 0x0002"
        ),
        "sums that wait for their bits are another row's": Edit(
            "pairs[2 * j + e / 2]", "pairs[2 * j + 1 - e / 2]"
        ),
    },
    "bconv2d_halo.h": {
        "a halo is read before all have copied their part": Edit(
            "__syncthreads();  // everyone's copies", "// everyone's copies"
        ),
        "a halo is not waited for": Edit(
            "WaitCopies<1>();  // all but", "WaitCopies<2>();  // all but"
        ),
        "the next halo goes where this one is": Edit(
            "memory.HaloPlace(1 - which), thread);", "memory.HaloPlace(which), thread);"
        ),
        "ones of windows are summed before those of pixels are there": Edit(
            "__syncthreads();\n  static_assert", "static_assert"
        ),
        "ones of windows are read before all are there": Edit(
            "outputs.ones[thread] = ones;\n  __syncthreads();", "outputs.ones[thread] = ones;"
        ),
        "lines below the image are written": Edit(
            "line < lines ? pixel + columns : pixel", "pixel + columns", CRASH
        ),
        "columns beside the image are written": Edit(
            "pixel + columns : pixel", "pixel + 16 : pixel", CRASH
        ),
        "a pixel left of the image is the one at the end of the line above": Edit(
            "y < a.in_height && x >= 0", "y < a.in_height && x >= -1"
        ),
    },
}


@dataclass
class Contract:
    """A program that ends with 0 if kernels keep what they have to."""

    name: str
    faults: list[Fault]
    sample: int
    # Sources that include the kernels or the sizes of their tiles, and the program's other ones.
    of_kernels: tuple[str, ...]
    others: tuple[str, ...]
    flags: tuple[str, ...] = ()


CONTRACTS = [
    Contract(
        "bconv2d",
        faults(EDITS),
        8,
        (
            f"{TESTS}/emulated_kernels.cc",
            f"{KERNELS}/bconv2d_epilogues.cc",
            f"{KERNELS}/bconv2d_rows.cc",
        ),
        (
            "larq_engine/kernels/layers/reference.cc",
            "larq_engine/kernels/common/output_transform.cc",
            f"{KERNELS}/kernel_table.cc",
            f"{TESTS}/bconv2d_case.cc",
            f"{TESTS}/bconv2d_contract.cc",
        ),
    ),
    Contract(
        "floats",
        faults(float_faults.EDITS),
        6,
        (
            f"{TESTS}/emulated_kernels.cc",
            f"{KERNELS}/conv2d_rows.cc",
            f"{KERNELS}/pixel_rows.cc",
        ),
        (
            f"{KERNELS}/kernel_table.cc",
            f"{TESTS}/emulated_case.cc",
            f"{TESTS}/floats_case.cc",
            f"{TESTS}/floats_contract.cc",
            f"{TESTS}/pixels_case.cc",
        ),
        ("-DLARQ_ENGINE_WITHOUT_BCONV2D",),
    ),
]


class Build:
    """Compiles a contract's program with the kernels of a folder."""

    def __init__(self, contract: Contract, folder: Path):
        self.contract = contract
        self.folder = folder
        self.others = [self._compile(source, ROOT) for source in contract.others]

    def run(self, name: str, fault: Fault | None) -> subprocess.CompletedProcess[str]:
        root = self.folder / name
        shutil.copytree(ROOT / KERNELS, root / KERNELS)
        if fault is not None:
            file = root / KERNELS / fault.file
            text = file.read_text(encoding="utf-8")
            assert text.count(fault.edit.line) == 1, (
                f"{fault.file}: there is no one '{fault.edit.line}'"
            )
            file.write_text(text.replace(fault.edit.line, fault.edit.instead), encoding="utf-8")
        objects = [self._compile(source, root) for source in self.contract.of_kernels]
        program = root / "contract"
        self._cxx([*objects, *self.others, "-o", str(program)])
        return subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)

    def _compile(self, source: str, root: Path) -> str:
        object_file = root / f"{source}.o" if root != ROOT else self.folder / f"{source}.o"
        object_file.parent.mkdir(parents=True, exist_ok=True)
        # The headers of the folder are found before those of the project.
        path = root / source if (root / source).exists() else ROOT / source
        self._cxx(
            [
                *self.contract.flags,
                "-c",
                f"-I{root}",
                f"-I{ROOT}",
                str(path),
                "-o",
                str(object_file),
            ]
        )
        return str(object_file)

    def _cxx(self, arguments: list[str]) -> None:
        command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-ffp-contract=off"]
        result = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr


@dataclass
class Builds:
    """A build of each contract, made when it is asked for."""

    folder: Path
    made: dict[str, Build] = field(default_factory=dict)

    def of(self, contract: Contract) -> Build:
        if contract.name not in self.made:
            folder = self.folder / contract.name
            folder.mkdir()
            self.made[contract.name] = Build(contract, folder)
        return self.made[contract.name]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "fault" in metafunc.fixturenames:
        cases = [
            pytest.param(contract, fault, id=fault.name)
            for contract in CONTRACTS
            for fault in samples.choose(metafunc.config, contract.faults, contract.sample)
        ]
        metafunc.parametrize(("contract", "fault"), cases)
    elif "contract" in metafunc.fixturenames:
        metafunc.parametrize("contract", CONTRACTS, ids=lambda contract: contract.name)


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return Builds(tmp_path_factory.mktemp("kernels"))


def test_faults_are_in_lines_that_are_there():
    """A sample would find only now and then that a line has changed."""
    faults_of_all = [fault for contract in CONTRACTS for fault in contract.faults]
    texts = {fault.file: (ROOT / KERNELS / fault.file).read_text() for fault in faults_of_all}
    assert [f for f in faults_of_all if texts[f.file].count(f.edit.line) != 1] == []


def test_kernels_as_they_are(builds, contract):
    result = builds.of(contract).run("as_they_are", None)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_fault_is_found(builds, contract, fault):
    result = builds.of(contract).run(f"fault_{contract.faults.index(fault)}", fault)
    said = result.stdout + result.stderr
    assert result.returncode != 0, f"not found: {fault.name}"
    if fault.edit.found_by == CRASH:
        assert result.returncode < 0, said
        assert said == ""
    else:
        assert re.search(fault.edit.found_by, said), said
