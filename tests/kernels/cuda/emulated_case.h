// Operands, launches, and the end of a kernel's program, which all cases of kernels on the emulated
// GPU share. It uses no test framework, so that it can also be compiled with a kernel that is
// broken on purpose.
#ifndef LARQ_ENGINE_TESTS_KERNELS_CUDA_EMULATED_CASE_H_
#define LARQ_ENGINE_TESTS_KERNELS_CUDA_EMULATED_CASE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/cuda/floats_args.h"
#include "larq_engine/kernels/cuda/pixel_rows.h"
#include "larq_engine/kernels/cuda/pixels_args.h"
#include "tests/common/guarded_buffer.h"

namespace larq_engine::testing {

int Between(std::mt19937& random, int least, int most);

// Returns random floats, with zeros of both signs, denormals and large values among them.
std::vector<float> RandomFloats(std::mt19937& random, size_t count);

// Returns the number of blocks of 128 threads if each thread has an item, or each warp 32 channels
// of a pixel.
int64_t BlocksOfThreads(int64_t items);
int64_t BlocksOfWarps(int64_t pixels, int64_t channels);

// Runs a kernel, with a random order of threads and copies.
void Launch(cuda::KernelId kernel, const void* args, int64_t blocks, std::mt19937& random,
            size_t shared_bytes = 0);

// Returns the guard for an operand. One that is read 16 bytes at a time must begin at a multiple of
// 16.
inline Guard GuardFor(size_t values) { return values % 4 == 0 ? Guard::kAfter : Guard::kBefore; }

// An output, which is full of rubbish at first.
template <class T>
class Output {
 public:
  explicit Output(size_t count) : buffer_(count) {
    std::memset(buffer_.data(), 0xcd, count * sizeof(T));
  }
  T* data() { return buffer_.data(); }

  // Returns the first difference, or an empty string if all values are bit-identical.
  std::string Difference(const std::vector<T>& expected, const std::string& what) const {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (std::memcmp(&expected[i], buffer_.data() + i, sizeof(T)) == 0) continue;
      return what + ": value " + std::to_string(i) + " is " + std::to_string(buffer_.data()[i]) +
             ", expected " + std::to_string(expected[i]);
    }
    return "";
  }

 private:
  GuardedBuffer<T> buffer_;
};

// The program of all cases of floats: a bias for each channel, clamps, a store, and signs.
class Tail {
 public:
  Tail(std::mt19937& random, size_t pixels, size_t channels);

  cuda::PixelProgram Program();
  // Returns the first difference of the floats, and of the bits if there are some, from what the
  // program makes of `sums`.
  std::string Difference(const std::vector<float>& sums, const std::string& what,
                         bool has_bits = true) const;

 private:
  std::vector<float> bias_;
  GuardedBuffer<float> bias_memory_;
  Output<float> floats_;
  Output<uint32_t> bits_;
};

inline cuda::PixelProgram& ProgramOf(cuda::PixelsArgs& args) { return args.program; }
inline cuda::PixelProgram& ProgramOf(cuda::PoolArgs& args) { return args.program; }
inline cuda::PixelProgram& ProgramOf(cuda::DepthwiseArgs& args) { return args.program; }
inline cuda::PixelProgram& ProgramOf(cuda::PooledDepthwiseArgs& args) { return args.conv.program; }

// Runs all rows that compute a case, once with bits as an output and once without, and compares
// their results with `values`.
template <class Args>
std::string RunRows(std::mt19937& random, std::span<const cuda::PixelRow> rows, Args args,
                    size_t channels, const std::vector<float>& values, const std::string& what) {
  bool is_taken = false;
  for (const cuda::PixelRow& row : rows) {
    if (!cuda::Takes(row, args)) continue;
    is_taken = true;
    for (const bool has_bits : {false, true}) {
      Tail tail(random, values.size() / channels, channels);
      cuda::PixelProgram& program = ProgramOf(args);
      program = tail.Program();
      if (!has_bits) program.bits = nullptr;
      const cuda::LaunchSize size = cuda::Prepare(row, args);
      Launch(row.kernel, &args, size.blocks, random);
      const std::string name = cuda::RowOf(row.kernel).name;
      const std::string difference = tail.Difference(values, name + ": " + what, has_bits);
      if (!difference.empty()) return difference;
    }
  }
  return is_taken ? "" : "no kernel takes " + what;
}

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_CUDA_EMULATED_CASE_H_
