// Runs the kernels that go through tensors value by value on the emulated GPU, against simple loops
// of the same definition. It uses no test framework, so that it can also be compiled with a kernel
// that is broken on purpose.
#ifndef LARQ_ENGINE_TESTS_KERNELS_CUDA_PIXELS_CASE_H_
#define LARQ_ENGINE_TESTS_KERNELS_CUDA_PIXELS_CASE_H_

#include <random>
#include <string>

namespace larq_engine::testing {

// The types of tensors that values are read from or written to.
enum class Source { kFloats, kBits, kInt8, kUint8 };
enum class Packed { kInt8, kBool, kPlanes };

// Each function runs all rows that compute a case, with random operands, and returns the first
// difference, or an empty string if every bit is as expected.

// Runs a program on the values of the source: it quantizes floats and dequantizes the others.
std::string RunPixels(std::mt19937& random, Source source, int pixels, int channels);
// Quantizes floats to numbers of several bits. Some limits are equal, and some are reached by no
// value; the values include zeros of both signs and NaNs.
std::string RunPlanes(std::mt19937& random, int bits, int pixels, int channels);
// Runs each function of one value.
std::string RunUnary(std::mt19937& random);
std::string RunPackBytes(std::mt19937& random, Packed packed, int pixels, int channels);
std::string RunUnpackBytes(std::mt19937& random, int pixels, int channels);
// Concatenates several tensors along their channels.
std::string RunCopyChannels(std::mt19937& random, int unit_bytes, int pixels);
// Adds or multiplies two tensors, of which the second is broadcast.
std::string RunBroadcast(std::mt19937& random, bool multiplies);
// Pads a box with a value (RunPadAround), or cuts a box out of a larger tensor (RunPadOut).
std::string RunPadAround(std::mt19937& random);
std::string RunPadOut(std::mt19937& random, int unit_bytes);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_CUDA_PIXELS_CASE_H_
