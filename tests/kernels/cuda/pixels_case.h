// Runs the kernels that go through tensors value by value on the emulated GPU, against loops that
// say what their arguments promise. It uses no test framework, so that it can also be compiled with
// a kernel that is broken on purpose.
#ifndef LARQ_ENGINE_TESTS_KERNELS_CUDA_PIXELS_CASE_H_
#define LARQ_ENGINE_TESTS_KERNELS_CUDA_PIXELS_CASE_H_

#include <random>
#include <string>

namespace larq_engine::testing {

// The values of a tensor come from one of these, or go to one.
enum class Source { kFloats, kBits, kInt8, kUint8 };
enum class Packed { kInt8, kBool, kPlanes };

// Each runs all rows that compute a case, with random operands, and returns what differs first, or
// an empty string if every bit is as expected.

// Runs a program on what the source holds: it quantizes floats and dequantizes the others.
std::string RunPixels(std::mt19937& random, Source source, int pixels, int channels);
// Floats become numbers of several bits. Some limits are equal, some no value reaches; there are
// zeros of both signs, and values that are no numbers.
std::string RunPlanes(std::mt19937& random, int bits, int pixels, int channels);
std::string RunLogistic(std::mt19937& random);
std::string RunPackBytes(std::mt19937& random, Packed packed, int pixels, int channels);
std::string RunUnpackBytes(std::mt19937& random, int pixels, int channels);
// Several tensors come beside each other.
std::string RunCopyChannels(std::mt19937& random, int unit_bytes, int pixels);
// Two tensors are added or multiplied, of which the second is repeated.
std::string RunBroadcast(std::mt19937& random, bool multiplies);
// A value is put around a box, and a box is taken out of a larger one.
std::string RunPadAround(std::mt19937& random);
std::string RunPadOut(std::mt19937& random, int unit_bytes);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_CUDA_PIXELS_CASE_H_
