"""Faults of the kernels of floats and bytes, which floats_contract.cc has to find."""

from tests.kernels.cuda.planted_fault import CRASH, Edit


def _wrong(kernel: str) -> str:
    """Returns the pattern of a report of a wrong value; `kernel` is a pattern of its name."""
    return rf"^({kernel}): .*value \d+ is"


CONV2D = _wrong(r"conv2d_\w+")
DEPTHWISE = _wrong(r"depthwise_conv2d\w*")
DEPTHWISE_POINTWISE = _wrong(r"depthwise_pointwise_\w+")
MAX_POOL = _wrong(r"max_pool_(floats|\dx\d)\w*")
POOLED_DEPTHWISE = _wrong(r"pooled_\w+")
AVERAGE_POOL = _wrong(r"average_pool\w*")
SIGNED_DENSE = _wrong("signed_dense")
SIGNED_DENSE_INT8 = _wrong("signed_dense_int8")
PIXELS = _wrong(r"pixels\w*")

EDITS = {
    "conv2d.h": {
        "a tile's last pixels are written behind the output's end": Edit(
            "pixel < OutPixels(a.window) && first_channel", "first_channel", CRASH
        ),
        "the last pixel is missing": Edit(
            "pixel < OutPixels(a.window) && first_channel",
            "pixel + 1 < OutPixels(a.window) && first_channel",
            CONV2D,
        ),
        "filters of floats are read behind the last channel": Edit(
            "const bool inside = channel < a.out_channels;", "const bool inside = true;", CRASH
        ),
        "the barrier of a step of floats is missing": Edit(
            "__syncthreads();  // copies of all threads", "// copies of all threads", CONV2D
        ),
        "one group of copies of floats too few is waited for": Edit(
            "WaitCopies<kStages - 2>();", "WaitCopies<kStages - 1>();", CONV2D
        ),
        "sums are made in another order": Edit(
            "fmaf(x[i].v[d], w[j].v[d], sums[i][j])",
            "fmaf(x[i].v[3 - d], w[j].v[3 - d], sums[i][j])",
            CONV2D,
        ),
        "a step of a program is done for channels behind the last": Edit(
            " && first_channel + channel < a.out_channels", "", CRASH
        ),
        "a window begins left of its image's line": Edit(
            "const int begin = start.left < 0 ? -start.left : 0;", "const int begin = 0;", CONV2D
        ),
        "a window ends right of its image's line": Edit(
            "const int end = left < w.filter_width ? left : w.filter_width;",
            "const int end = w.filter_width;",
            CRASH,
        ),
        "few taps have lines outside the image": Edit(
            "if (HasLine(w, lines.top + ty)) inside |=", "inside |=", CRASH
        ),
        "few taps have no third line": Edit(" + (depth >= 2 * line ? 1 : 0)", "", CONV2D),
        "more taps than a word has bits are few": Edit(
            "w.channels <= kFewTaps / 9", "w.channels <= kFewTaps / 6", CRASH
        ),
        "a window of a pixel has lines outside the image": Edit(
            "copies_ == TapCopies::kPixel && !HasLine(a.window, row.top)", "false", CRASH
        ),
        "windows have lines outside the image": Edit(
            "HasLine(w, row.top + ty) && IsInLine(row, at)", "IsInLine(row, at)", CRASH
        ),
        "a narrow tile's pixels share their words of bits": Edit(
            "kChannels < kWarp && a.program.bits != nullptr", "false", _wrong("conv2d_64x16")
        ),
    },
    "conv2d_rows.cc": {
        "the last tile of pixels is missing": Edit(
            "(out_pixels + pixels - 1) / pixels", "out_pixels / pixels", CONV2D
        )
    },
    "pixel_rows.cc": {
        "the last block of pixels is missing": Edit(
            "(pixels * lanes.value + kThreads - 1) / kThreads",
            "pixels * lanes.value / kThreads",
            DEPTHWISE,
        )
    },
    "image_taps.h": {
        "lines of an output are counted as its columns": Edit(
            "Divide(column.quotient, w.out_height)", "Divide(column.quotient, w.out_width)", CONV2D
        ),
        "a window begins below where it should": Edit(
            "line.rest * w.stride_height - w.pad_top", "line.rest * w.stride_height", CONV2D
        ),
        "a pixel beside the image is none of those inside": Edit(
            "from_0 < size ? from_0 : size - 1", "from_0", CRASH
        ),
        "taps right of the image are not 0": Edit(
            "static_cast<unsigned>(x) < static_cast<unsigned>(w.in_width)", "x >= 0", DEPTHWISE
        ),
    },
    "divide.h": {
        "a division leaves no remainder": Edit(
            "return {quotient, number - quotient * by.value};", "return {quotient, 0};", CONV2D
        ),
        "a division's quotient is one too small where nothing remains": Edit(
            "2 * static_cast<uint32_t>(number)}", "2 * static_cast<uint32_t>(number) - 1}", CONV2D
        ),
    },
    "depthwise.h": {
        "products of a depthwise convolution are rounded before they are added": Edit(
            "fmaf(tap.v[i], weights.v[i], sum.v[i])",
            "sum.v[i] + tap.v[i] * weights.v[i]",
            DEPTHWISE,
        ),
        "a channel comes from the rest of a division": Edit(
            "Divide(out_channel, a.multiplier).quotient",
            "Divide(out_channel, a.multiplier).rest",
            DEPTHWISE,
        ),
        "what is pooled begins where the pads do": Edit(
            "start.top - a.pool.pad_top", "start.top", POOLED_DEPTHWISE
        ),
        "lines and columns of pooled pixels are swapped": Edit(
            "Greatest<kPool>(taps, ty, tx)", "Greatest<kPool>(taps, tx, ty)", POOLED_DEPTHWISE
        ),
    },
    "depthwise_pointwise.h": {
        "the activation between two convolutions is missing": Edit(
            "RunSteps(a_.program, PixelValues<4>{y, 0, channel});", "", DEPTHWISE_POINTWISE
        ),
        "a depthwise convolution has channels behind its last": Edit(
            "is_there_[i] && channel < a_.out_channels", "is_there_[i]", CRASH
        ),
        "a depthwise convolution has pixels behind its last": Edit(
            "is_there_[i] = pixel + i * kApart < OutPixels(a.window);",
            "is_there_[i] = true;",
            CRASH,
        ),
    },
    "pools.h": {
        "a pool of bits is +1 where one of them is": Edit(
            "word &= a.bits", "word |= a.bits", _wrong("max_pool_bits")
        ),
        "of zeros the last one is taken": Edit(
            "next.v[i] > y.v[i]", "next.v[i] >= y.v[i]", MAX_POOL
        ),
        "a pool's window lies across its diagonal": Edit(
            "taps[line + i / kFilter][column + i % kFilter]",
            "taps[line + i / kFilter][column + i / kFilter]",
            MAX_POOL,
        ),
        "a pool's window goes on behind a line": Edit(
            "Least(w.in_width, start.left + w.filter_width)", "start.left + w.filter_width", CRASH
        ),
        "a pool's window begins above the image": Edit(
            "int y = start.top < 0 ? 0 : start.top;", "int y = start.top;", MAX_POOL
        ),
        "a mean of few taps has those outside": Edit(
            "if (IsInside(a.window, start.top + line, start.left + column)) inside.Add",
            "inside.Add",
            AVERAGE_POOL,
        ),
        "the last pixel of an image is missing in its mean": Edit(
            "for (; pixel < end; ++pixel", "for (; pixel + 1 < end; ++pixel", AVERAGE_POOL
        ),
        "parts of a sum are half as long": Edit(
            "kPixelsOfPart = 16", "kPixelsOfPart = 8", AVERAGE_POOL
        ),
        "a mean is of taps outside as well": Edit(
            "static_cast<float>(inside.taps)",
            "static_cast<float>(w.filter_height * w.filter_width)",
            AVERAGE_POOL,
        ),
    },
    "signed_dense.h": {
        "a word of signs is another unit's": Edit("word += lanes", "word += units", SIGNED_DENSE),
        "four inputs have the signs of those before": Edit(
            "k += 4, bits >>= 4) take(k, bits);", "k += 4) take(k, bits);", SIGNED_DENSE
        ),
        "a sign is its neighbour's": Edit("bits << (31 - bit)", "bits << (30 - bit)", SIGNED_DENSE),
        "four inputs are not summed by themselves": Edit(
            "float four = Signed(x.v[0], bits, 0);",
            "float four = sums[r] + Signed(x.v[0], bits, 0);\n      sums[r] = 0;",
            SIGNED_DENSE,
        ),
        "rows behind the last are read": Edit(
            "(first + r < count ? first + r : count - 1)", "(first + r)", CRASH
        ),
        "inputs behind the last of a row are read": Edit(
            "i + d < depth ? row[i + d] : 0.0f", "row[i + d]", CRASH
        ),
        "bytes behind the last of a row are read": Edit(
            "i + d < depth ? static_cast<uint8_t>(row[i + d]) : 0",
            "static_cast<uint8_t>(row[i + d])",
            CRASH,
        ),
        "a unit has no scale": Edit("sums[0] * a.scale[unit]", "sums[0]", SIGNED_DENSE),
        "all rows have the first one's sum": Edit(
            "sums[next - 1] = sums[next];", "sums[next] = sums[next - 1];", SIGNED_DENSE
        ),
        "signs as bytes lie in another order": Edit(
            "0x00204081u", "0x08040201u", SIGNED_DENSE_INT8
        ),
        "a minus is 0": Edit(
            "minus * 0xfeu | 0x01010101u", "minus ^ 0x01010101u", SIGNED_DENSE_INT8
        ),
        "bytes have no zero point": Edit(
            "static_cast<int32_t>(bits) + zero_point",
            "static_cast<int32_t>(bits)",
            SIGNED_DENSE_INT8,
        ),
        "bytes are not clamped": Edit(
            "FloatBits(Clamp(y, min, max) + kRounding)",
            "FloatBits(y + kRounding)",
            SIGNED_DENSE_INT8,
        ),
    },
    "pixels.h": {
        "a zero point is added": Edit("value - a.zero_point", "value + a.zero_point", PIXELS),
        "all bytes are signed": Edit(
            "a.bytes_are_signed ? static_cast<int8_t>(bytes.v[i]) : bytes.v[i]",
            "static_cast<int8_t>(bytes.v[i])",
            PIXELS,
        ),
        "values of bits are those of a word's first channels": Edit(
            "const uint32_t bits = row[channel / kWarp] >> channel % kWarp;",
            "const uint32_t bits = row[channel / kWarp];",
            PIXELS,
        ),
        "a logistic function is mirrored": Edit("expf(-x)", "expf(x)", PIXELS),
        "a byte that is the limit is -1": Edit(
            "value < a.limit", "value <= a.limit", _wrong("pack_bytes")
        ),
        "true is -1": Edit("value == 0", "value != 0", _wrong("pack_bytes")),
        "all planes of a byte are its last bit": Edit(
            "minus >> plane & 1u", "minus & 1u", _wrong("pack_bytes")
        ),
        "bytes behind the last channel are packed": Edit(
            "word * kWarp + lane < channels", "lane < kWarp", CRASH
        ),
        "the last byte is missing": Edit(
            "if (at >= a.pixels * a.channels) return;",
            "if (at + 1 >= a.pixels * a.channels) return;",
            _wrong("unpack_bytes"),
        ),
        "what +1 and -1 become is swapped": Edit(
            "is_minus ? a.minus : a.plus", "is_minus ? a.plus : a.minus", _wrong("unpack_bytes")
        ),
        "tensors beside each other lie upon each other": Edit(
            " + a.first_unit + ", " + ", _wrong("copy_channels")
        ),
        "a sum of two tensors is not clamped": Edit(
            "Clamp(a.multiplies ? x * y : x + y, a.min, a.max)",
            "a.multiplies ? x * y : x + y",
            _wrong("broadcast"),
        ),
        "a value in front of a box is taken from it": Edit(
            "index >= 0 && index < a.in_dims[d]", "index < a.in_dims[d]", _wrong("pad")
        ),
    },
    "bmatmul.h": {
        "bits behind the depth count": Edit(
            "w + 1 < a.words ? ~0u : a.last_word", "~0u", _wrong("bmatmul")
        ),
        "all rows are multiplied with the first matrix": Edit(
            "(matrix * a.columns + column)", "column", _wrong("bmatmul")
        ),
        "the sums of rows are added to none": Edit(
            "a.of_left != 0 ? y + sum(left_minus) * a.of_left : y", "y", _wrong("bmatmul")
        ),
    },
    "softmax.h": {
        "lanes' sums are added to the same one": Edit(
            "sum += __shfl_xor_sync(~0u, sum, distance);",
            "sum += __shfl_xor_sync(~0u, sum, kWarp / 2);",
            _wrong("softmax"),
        )
    },
    "pixel_values.h": {
        "half of a word's lanes join their bits": Edit(
            "distance < kWarp / kCount;", "distance < kWarp / kCount / 2;", CONV2D
        ),
        "values of several channels are one channel's bits": Edit(
            "(bits[i] >> plane & 1u) << i", "bits[i] >> plane & 1u", CONV2D
        ),
        "a pixel's planes lie among those of the next": Edit(
            "(my.pixel * program.planes + plane) * words", "(my.pixel + plane) * words", PIXELS
        ),
    },
    "pixel_steps.h": {"an activation has no lower end": Edit("y = y < min ? min : y;", "", CONV2D)},
}
