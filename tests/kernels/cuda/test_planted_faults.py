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
from tests.kernels.cuda.planted_fault import CRASH, Fault

ROOT = Path(__file__).resolve().parents[3]
KERNELS = "larq_engine/kernels/cuda"
TESTS = "tests/kernels/cuda"

WRONG_NUMBER = r"byte \d+ of output \d+ is"
NOT_WAITED_FOR = "asynchronous copies were not waited for"
TOO_MANY = "more arrive at a barrier than its phase is for"
DEADLOCK = "waits at a barrier that others never reach"

pytestmark = pytest.mark.slow


FAULTS = [
    Fault(
        "launches before are not waited for",
        "run_kernel.h",
        "WaitForEarlierLaunches();",
        "",
        "it ends and has not waited for the launches before",
    ),
    Fault(
        "launches before are waited for too late",
        "run_kernel.h",
        "WaitForEarlierLaunches();\n  LetNextLaunchBegin();\n  kernel();",
        "kernel();\n  WaitForEarlierLaunches();",
        WRONG_NUMBER,
    ),
    Fault(
        "only the first warp waits for the launches before",
        "run_kernel.h",
        "WaitForEarlierLaunches();",
        "if (threadIdx.x < 32) WaitForEarlierLaunches();",
        "it ends and has not waited for the launches before",
    ),
    Fault(
        "the barrier of a step is missing",
        "bconv2d_mma.h",
        "__syncthreads();  // everyone's copies",
        "// everyone's copies",
        WRONG_NUMBER,
    ),
    Fault(
        "one group of copies too few is waited for",
        "bconv2d_mma.h",
        "WaitCopies<kTile.stages - 2>();",
        "WaitCopies<kTile.stages - 1>();",
        WRONG_NUMBER,
    ),
    Fault(
        "no copies are waited for",
        "bconv2d_mma.h",
        "WaitCopies<kTile.stages - 2>();",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "the last steps are no groups",
        "bconv2d_mma.h",
        "CommitCopies();  // a group",
        "if (next < steps) CommitCopies();  // a group",
        "asynchronous copies are in no group",
    ),
    Fault(
        "the next step is copied before the barrier",
        "bconv2d_mma.h",
        "__syncthreads();  // everyone's copies are there, and the stage before this one is free\n"
        "        copy_next();",
        "copy_next();\n        __syncthreads();",
        WRONG_NUMBER,
    ),
    Fault(
        "halves of a fragment are swapped",
        "bconv2d_mma.h",
        "RowPart(row, 2 * half + lane / 16)",
        "RowPart(row, 2 * half + 1 - lane / 16)",
        WRONG_NUMBER,
    ),
    Fault(
        "registers of a fragment are swapped",
        "bconv2d_small.h",
        "{pixel_rows.w[0][at], pixel_rows.w[1][at]",
        "{pixel_rows.w[1][at], pixel_rows.w[0][at]",
        WRONG_NUMBER,
    ),
    Fault(
        "padding is one off",
        "bconv2d_window.h",
        "a.stride_width - a.pad_left;",
        "a.stride_width - a.pad_left + 1;",
        WRONG_NUMBER,
    ),
    Fault(
        "outputs go to another row of a fragment",
        "bconv2d_epilogue_exchange.h",
        "8 * (e % 4 / 2)",
        "8 * (e % 2)",
        WRONG_NUMBER,
    ),
    Fault(
        "sums are read before all warps have written theirs",
        "bconv2d_small.h",
        "__syncthreads();",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "a barrier is not reached by all",
        "bconv2d_mma.h",
        "__syncthreads();  // nobody reads the stages",
        "if (thread < 64) __syncthreads();  // nobody reads the stages",
        DEADLOCK,
    ),
    Fault(
        "shared memory is a stage too small",
        "bconv2d_tiles.h",
        "return stages * (m + n)",
        "return (stages - 1) * (m + n)",
        "shared address .* is outside the block's",
    ),
    Fault(
        "rows of a stage lie one below the other",
        "bconv2d_mma.h",
        "((part ^ row / 2) & 3)",
        "part",
        "bank conflicts",
    ),
    Fault(
        "rows of a stage are shifted too often",
        "bconv2d_mma.h",
        "((part ^ row / 2) & 3)",
        "((part ^ row) & 3)",
        "bank conflicts",
    ),
    Fault(
        "the filter is read behind its end",
        "bconv2d_stages.h",
        "has_words && i * kRowsAtOnce < channels_left ? 16 : 0",
        "has_words ? 16 : 0",
        CRASH,
    ),
    Fault(
        "the output is written behind its end",
        "bconv2d_epilogue_exchange.h",
        "const int rows = pixels - pixel - r < kRows ? pixels - pixel - r : kRows;",
        "const int rows = kRows;",
        CRASH,
    ),
    Fault(
        "floats are written behind their end by lanes that have them",
        "bconv2d_epilogue_floats.h",
        "inside[h] = pixel + 8 * h < pixels;",
        "inside[h] = true;",
        CRASH,
    ),
    Fault(
        "bits are written behind their end by lanes that have them",
        "bconv2d_lane.h",
        "lane % 4 < kLaneRows && own < pixels",
        "lane % 4 < kLaneRows",
        CRASH,
    ),
    Fault(
        "a lane takes its rows' sums for its channels'",
        "bconv2d_epilogue_floats.h",
        "sums[4 * (i / 2) + 2 * h + i % 2]",
        "sums[4 * (i / 2) + h + 2 * (i % 2)]",
        WRONG_NUMBER,
    ),
    Fault(
        "bits of four lanes lie upon each other",
        "bconv2d_lane.h",
        "const int shift = lane % 4 * 2;",
        "const int shift = lane % 4;",
        WRONG_NUMBER,
    ),
    Fault(
        "the low half of a word of bits is lost",
        "bconv2d_fragments.h",
        "bits[h] << 16 | low_bits[h]",
        "bits[h] << 16",
        WRONG_NUMBER,
    ),
    Fault(
        "a threshold is taken for sums that are half as large",
        "bconv2d_fragments.h",
        "Dot(lane_ones, value(i, j, e)) > limit",
        "lane_ones - value(i, j, e) > limit",
        WRONG_NUMBER,
    ),
    Fault(
        "a threshold is one less",
        "bconv2d_epilogues.cc",
        "depth - limit;",
        "depth - limit - 2;",
        WRONG_NUMBER,
    ),
    Fault(
        "taps outside are not counted by lanes that have floats",
        "bconv2d_epilogue_floats.h",
        "if (place.is_inner) continue;",
        "continue;",
        WRONG_NUMBER,
    ),
    Fault(
        "taps outside are not counted by thresholds",
        "bconv2d_epilogues.cc",
        " && args.corner_ones == nullptr",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "several planes are taken for one",
        "bconv2d_lane.h",
        "a.output.after.planes == 1;",
        "true;",
        WRONG_NUMBER,
    ),
    Fault(
        "a residual is read behind its end by lanes that have its sums",
        "bconv2d_lane.h",
        "if (inside[h]) LoadLaneChannels(",
        "LoadLaneChannels(",
        CRASH,
    ),
    Fault(
        "a sum is not written",
        "sum_steps.h",
        "if (program.sum_out != nullptr) values.Store(program.sum_out);\n",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "a product is not clamped",
        "sum_steps.h",
        "ClampAll(program.product.range, values);",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "a residual is another row's",
        "bconv2d_lane.h",
        "LoadLaneChannels(values + Row(h), tensor.v[h])",
        "LoadLaneChannels(values + Row(0), tensor.v[h])",
        WRONG_NUMBER,
    ),
    Fault(
        "a residual of one channel is not loaded",
        "bconv2d_output.h",
        "if (!has_residual) return inputs;",
        "return inputs;",
        WRONG_NUMBER,
    ),
    Fault(
        "signs have no limits",
        "bconv2d_epilogue_floats.h",
        "if (after.limits == nullptr) {",
        "if (true) {",
        WRONG_NUMBER,
    ),
    Fault(
        "constants of channels are not waited for",
        "bconv2d_mma.h",
        "WaitCopies<0>();  // for the epilogue",
        "",
        f"{WRONG_NUMBER}|{NOT_WAITED_FOR}",
    ),
    Fault(
        "all blocks have the constants of the first channels",
        "bconv2d_epilogue_inputs.h",
        "4 * (static_cast<int64_t>(channel) + first)",
        "4 * static_cast<int64_t>(first)",
        WRONG_NUMBER,
    ),
    Fault(
        "constants are read behind the last channel",
        "bconv2d_epilogue_inputs.h",
        "first < channels ? 16 : 0",
        "16",
        CRASH,
    ),
    Fault(
        "a bias is a multiplier",
        "bconv2d_epilogue_inputs.h",
        "i < 2 * kParts ? output.multiplier",
        "i < 3 * kParts ? output.multiplier",
        WRONG_NUMBER,
    ),
    Fault(
        "a residual is asked for behind its end",
        "bconv2d_epilogue_inputs.h",
        "if (pixel >= pixels || n >= a.group_out_channels) continue;",
        "",
        CRASH,
    ),
    Fault(
        "constants lie where ones are counted",
        "bconv2d_mma.h",
        "return (steps % kTile.stages + 1) * kStageBytes - static_cast<int>(sizeof(Constants));",
        "return 0 * steps;",
        WRONG_NUMBER,
    ),
    Fault(
        "constants of a warpgroup's product are not waited for",
        "bconv2d_wgmma.h",
        "WaitCopies<0>();  // for the epilogue",
        "",
        f"{WRONG_NUMBER}|{NOT_WAITED_FOR}",
    ),
    Fault(
        "constants of a part are not waited for",
        "bconv2d_tma.h",
        "WaitCopies<0>();  // for the epilogue",
        "",
        f"{WRONG_NUMBER}|{NOT_WAITED_FOR}",
    ),
    Fault(
        "taps that a dilation leaves out are counted",
        "bconv2d_output.h",
        "first = Divide(first + dilation.value - 1, dilation).quotient;",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "rows of a block do not go on in the next image",
        "bconv2d_window.h",
        "y -= a.out_height;\n      ++image;",
        "y -= a.out_height;",
        WRONG_NUMBER,
    ),
    Fault(
        "a byte takes two bits",
        "bconv2d_products.h",
        "0x01010101u",
        "0x01010103u",
        WRONG_NUMBER,
    ),
    Fault(
        "two products take the same bits",
        "bconv2d_products.h",
        "word >> first &",
        "word >> (first & 6) &",
        WRONG_NUMBER,
    ),
    Fault(
        "lanes do not wait for what others exchange",
        "bconv2d_mma8.h",
        "__syncwarp();",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "filters are read behind the last channel",
        "bconv2d_mma8.h",
        "if (8 * i + g < channels) {",
        "{",
        CRASH,
    ),
    Fault(
        "what counts more is not doubled",
        "bconv2d_mma.h",
        "if (pair.Advance(a)) product.DoubleAll();",
        "pair.Advance(a);",
        WRONG_NUMBER,
    ),
    Fault(
        "each pair of planes counts twice the next",
        "bconv2d_mma.h",
        "if (pair.Advance(a)) product.DoubleAll();",
        "pair.Advance(a);\n      if (pair.IsThere()) product.DoubleAll();",
        WRONG_NUMBER,
    ),
    Fault(
        "constants come with all pairs of planes but the last",
        "bconv2d_mma.h",
        "next == steps && pair.IsLast()",
        "next == steps && (!kTile.has_planes || !pair.IsLast())",
        WRONG_NUMBER,
    ),
    Fault(
        "all planes of the image are the first one",
        "bconv2d_stages.h",
        "pair.image * a.plane_words + block.group * a.tap_words",
        "block.group * a.tap_words",
        WRONG_NUMBER,
    ),
    Fault(
        "stages are copied into while the pair of planes before is multiplied",
        "bconv2d_mma.h",
        "__syncthreads();  // nobody reads the stages",
        "if (!pair.IsThere()) __syncthreads();  // nobody reads the stages",
        WRONG_NUMBER,
    ),
    Fault(
        "ones of pixels are not doubled",
        "bconv2d_small.h",
        "ones[1] *= 2;",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "sums of differing bits are not doubled",
        "bconv2d_mma8.h",
        "if (pair.Advance(a)) Double(c);",
        "pair.Advance(a);",
        WRONG_NUMBER,
    ),
    Fault(
        "a pair of planes is left out",
        "bconv2d_planes.h",
        "image = both < a.bits_weights ? 0 :",
        "image = both < a.bits_weights ? (both > 0) :",
        WRONG_NUMBER,
    ),
    Fault(
        "planes of filters count alike",
        "bconv2d_popc.h",
        "(1 << (i + j))",
        "(1 << i)",
        WRONG_NUMBER,
    ),
    Fault(
        "a limit that is reached is not counted",
        "pixel_steps.h",
        "__uint_as_float(FloatBits(y) ^ sign) < limit",
        "__uint_as_float(FloatBits(y) ^ sign) <= limit",
        WRONG_NUMBER,
    ),
    Fault(
        "planes of an output lie in the other order",
        "bconv2d_output.h",
        "bits[i] >> plane & 1u",
        "bits[i] >> (planes - 1 - plane) & 1u",
        WRONG_NUMBER,
    ),
    Fault(
        "the next words of a filter are not loaded",
        "bconv2d_small.h",
        "if (k + step < depth_words) load_channels(filter, k + step);",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "each pair of planes has the filter of the first",
        "bconv2d_small.h",
        "if (pair.IsThere()) load_channels(pair.Filter(a), first);",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "a thread's values have one residual",
        "bconv2d_small.h",
        "if (v > 0) own = inputs[1];",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "filters of few channels are read behind the last",
        "bconv2d_small.h",
        "if (channel >= a.out_channels || k >= depth_words) continue;",
        "if (k >= depth_words) continue;",
        CRASH,
    ),
    Fault(
        "halves of planes are one plane's",
        "bconv2d_small.h",
        "bits[0] >> plane & 1u",
        "bits[0] & 1u",
        WRONG_NUMBER,
    ),
    Fault(
        "products are added to those of the part before",
        "bconv2d_wgmma.h",
        "/*adds=*/k > 0 || step > 0",
        "/*adds=*/true",
        WRONG_NUMBER,
    ),
    Fault(
        "each step's products are all that is left",
        "bconv2d_wgmma.h",
        "/*adds=*/k > 0 || step > 0",
        "/*adds=*/k > 0",
        WRONG_NUMBER,
    ),
    Fault(
        "a warpgroup's products read a stage without a barrier",
        "bconv2d_wgmma.h",
        "__syncthreads();  // everyone's copies",
        "// everyone's copies",
        WRONG_NUMBER,
    ),
    Fault(
        "products have no fence after the copies",
        "bconv2d_wgmma.h",
        "FenceForProducts();",
        "",
        WRONG_NUMBER,
    ),
    Fault(
        "products have no fence before them",
        "bconv2d_wgmma.h",
        "WgmmaFence(c);",
        "",
        "no fence since the last wait",
    ),
    Fault(
        "a stage is copied into while it is multiplied",
        "bconv2d_wgmma.h",
        "i < kTile.stages - 2;",
        "i < kTile.stages - 1;",
        WRONG_NUMBER,
    ),
    Fault(
        "one group of copies too few is waited for before a warpgroup's products",
        "bconv2d_wgmma.h",
        "WaitCopies<kTile.stages - 3>();",
        "WaitCopies<kTile.stages - 2>();",
        WRONG_NUMBER,
    ),
    Fault(
        "the last products are not waited for",
        "bconv2d_wgmma.h",
        "WgmmaWait<0>(c);",
        "",
        "products were not waited for",
    ),
    Fault(
        "products are in no group",
        "bconv2d_wgmma.h",
        "WgmmaCommit();",
        "",
        "products are in no group",
    ),
    Fault(
        "parts of a row are not where the descriptor says",
        "bconv2d_wgmma.h",
        "((part ^ row) & 7)",
        "part",
        WRONG_NUMBER,
    ),
    Fault(
        "the second warpgroup multiplies the first one's rows",
        "bconv2d_wgmma.h",
        "thread / kWarpgroup * 64",
        "0",
        WRONG_NUMBER,
    ),
    Fault(
        "boxes are copied into a stage that is in use",
        "bconv2d_tma.h",
        "WaitForPhase(memory.Empty(turn.stage), turn.round % 2 ^ 1);",
        "",
        f"{WRONG_NUMBER}|{TOO_MANY}",
    ),
    Fault(
        "a stage that is in use is taken for an empty one",
        "bconv2d_tma.h",
        "turn.round % 2 ^ 1",
        "turn.round % 2",
        DEADLOCK,
    ),
    Fault(
        "boxes are waited for in the phase before theirs",
        "bconv2d_tma.h",
        "WaitForPhase(memory.Full(turn.stage), turn.round % 2);",
        "WaitForPhase(memory.Full(turn.stage), turn.round % 2 ^ 1);",
        TOO_MANY,
    ),
    Fault(
        "boxes are not waited for",
        "bconv2d_tma.h",
        "WaitForPhase(memory.Full(turn.stage), turn.round % 2);",
        "",
        TOO_MANY,
    ),
    Fault(
        "one box of two is expected",
        "bconv2d_tma.h",
        "ArriveAndExpect(full, TmaTile::kStageBytes);",
        "ArriveAndExpect(full, TmaTile::kStageBytes - TmaTile::kM * TmaTile::kStepWords * 4);",
        "more bytes arrive at a barrier than it was told to expect",
    ),
    Fault(
        "a few bytes of a box are not expected",
        "bconv2d_tma.h",
        "ArriveAndExpect(full, TmaTile::kStageBytes);",
        "ArriveAndExpect(full, TmaTile::kStageBytes - 16);",
        "more bytes arrive at a barrier than it was told to expect",
    ),
    Fault(
        "boxes are copied as they lie",
        "bconv2d_rows.cc",
        ".is_swizzled = true",
        ".is_swizzled = false",
        WRONG_NUMBER,
    ),
    Fault(
        "a box is a row higher than is expected",
        "bconv2d_rows.cc",
        "a.tap_words, TmaTile::kM)",
        "a.tap_words, TmaTile::kM + 1)",
        "more bytes arrive at a barrier than it was told to expect",
    ),
    Fault(
        "a stage is given back before it is multiplied",
        "bconv2d_tma.h",
        "if (step > 0) ArriveAsWarp(memory.Empty(before), lane);",
        "ArriveAsWarp(memory.Empty(turn.stage), lane);",
        f"{WRONG_NUMBER}|{TOO_MANY}",
    ),
    Fault(
        "the last stage of a part is not given back",
        "bconv2d_tma.h",
        "WgmmaWait<0>(c);\n    ArriveAsWarp(memory.Empty(before), lane);",
        "WgmmaWait<0>(c);",
        DEADLOCK,
    ),
    Fault(
        "a lane arrives before the others of its warp",
        "bconv2d_tma.h",
        "__syncwarp();\n  if (lane == 0) Arrive(barrier);",
        "if (lane == 0) Arrive(barrier);",
        WRONG_NUMBER,
    ),
    Fault(
        "ones are read before they are there",
        "bconv2d_tma.h",
        "outputs.ones[thread / 2] = ones;\n    __syncwarp();",
        "outputs.ones[thread / 2] = ones;",
        WRONG_NUMBER,
    ),
    Fault(
        "the bits of a block's last part are not made",
        "bconv2d_tma.h",
        "  });\n  held.Finish(a, warp * 16, own.constants, row_ones);",
        "  });",
        WRONG_NUMBER,
    ),
    Fault(
        "only the bits of a block's last part are made",
        "bconv2d_tma.h",
        "        held.Finish(a, warp * 16, own.constants, row_ones);\n        const TilePlace",
        "        const TilePlace",
        WRONG_NUMBER,
    ),
    Fault(
        "bits of a part go where the next part is",
        "bconv2d_tma.h",
        "        held.Finish(a, warp * 16, own.constants, row_ones);\n        const TilePlace",
        "        const TilePlace next = TilePlace::Of(a, tile);\n"
        "        held.block = {next.m0, 0, 0, next.n0};\n"
        "        held.Finish(a, warp * 16, own.constants, row_ones);\n        const TilePlace",
        WRONG_NUMBER,
    ),
    Fault(
        "bits of a part are made with the constants of the next part",
        "bconv2d_tma.h",
        "        held.Finish(a, warp * 16, own.constants, row_ones);\n        const TilePlace",
        "        const TilePlace next = TilePlace::Of(a, tile);\n"
        "        const uint32_t to = SharedAddress(&own.constants);\n"
        "        FetchForWarp(a, {next.m0, 0, 0, next.n0}, to, warp, lane);\n"
        "        held.Finish(a, warp * 16, own.constants, row_ones);\n        const TilePlace",
        WRONG_NUMBER,
    ),
    Fault(
        "a part of one step does not finish the part before",
        "bconv2d_tma.h",
        "steps > 1 ? 1 : 0",
        "1",
        WRONG_NUMBER,
    ),
    Fault(
        "sums that wait for their bits change places",
        "bconv2d_held.h",
        "e % 2 == 0 ? 0x0002 : 0x0200",
        "e % 2 == 0 ? 0x0200 : 0x0002",
        WRONG_NUMBER,
    ),
    Fault(
        "sums that wait for their bits are another row's",
        "bconv2d_held.h",
        "pairs[2 * j + e / 2]",
        "pairs[2 * j + 1 - e / 2]",
        WRONG_NUMBER,
    ),
    Fault(
        "barriers have no fence before copies",
        "bconv2d_tma.h",
        "FenceForProducts();",
        "",
        "a copy arrives at a barrier that has no fence",
    ),
    Fault(
        "barriers are used before all know of them",
        "bconv2d_tma.h",
        "__syncthreads();",
        "",
        "there is no barrier at shared address",
    ),
    Fault(
        "a halo is read before all have copied their part",
        "bconv2d_halo.h",
        "__syncthreads();  // everyone's copies",
        "// everyone's copies",
        WRONG_NUMBER,
    ),
    Fault(
        "a halo is not waited for",
        "bconv2d_halo.h",
        "WaitCopies<1>();  // all but",
        "WaitCopies<2>();  // all but",
        WRONG_NUMBER,
    ),
    Fault(
        "the next halo goes where this one is",
        "bconv2d_halo.h",
        "memory.HaloPlace(1 - which), thread);",
        "memory.HaloPlace(which), thread);",
        WRONG_NUMBER,
    ),
    Fault(
        "ones of windows are summed before those of pixels are there",
        "bconv2d_halo.h",
        "__syncthreads();\n  static_assert",
        "static_assert",
        WRONG_NUMBER,
    ),
    Fault(
        "ones of windows are read before all are there",
        "bconv2d_halo.h",
        "outputs.ones[thread] = ones;\n  __syncthreads();",
        "outputs.ones[thread] = ones;",
        WRONG_NUMBER,
    ),
    Fault(
        "lines below the image are written",
        "bconv2d_halo.h",
        "line < lines ? pixel + columns : pixel",
        "pixel + columns",
        CRASH,
    ),
    Fault(
        "columns beside the image are written",
        "bconv2d_halo.h",
        "pixel + columns : pixel",
        "pixel + 16 : pixel",
        CRASH,
    ),
    Fault(
        "a pixel left of the image is the one at the end of the line above",
        "bconv2d_halo.h",
        "y < a.in_height && x >= 0",
        "y < a.in_height && x >= -1",
        WRONG_NUMBER,
    ),
    Fault(
        "the filter is read behind its last words",
        "bconv2d_stages.h",
        "Stage::kStepWords == kFilterStepWords || words_left > 0",
        "true",
        CRASH,
    ),
]


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
        FAULTS,
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
        float_faults.FAULTS,
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
            assert text.count(fault.line) == 1, f"{fault.file}: there is no one '{fault.line}'"
            file.write_text(text.replace(fault.line, fault.instead), encoding="utf-8")
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


def test_faults_are_in_lines_that_are_there(contract):
    """A sample would find only now and then that a line has changed."""
    texts = {fault.file: (ROOT / KERNELS / fault.file).read_text() for fault in contract.faults}
    assert [f for f in contract.faults if texts[f.file].count(f.line) != 1] == []


def test_kernels_as_they_are(builds, contract):
    result = builds.of(contract).run("as_they_are", None)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_fault_is_found(builds, contract, fault):
    result = builds.of(contract).run(f"fault_{contract.faults.index(fault)}", fault)
    said = result.stdout + result.stderr
    assert result.returncode != 0, f"not found: {fault.name}"
    if fault.found_by == CRASH:
        assert result.returncode < 0, said
        assert said == ""
    else:
        assert re.search(fault.found_by, said), said
