// Runs the kernels of the host's float operators on the emulated GPU, against simple loops of the
// same definition. It uses no test framework, so that it can also be compiled with a kernel that is
// broken on purpose.
#ifndef LARQ_ENGINE_TESTS_KERNELS_CUDA_FLOATS_CASE_H_
#define LARQ_ENGINE_TESTS_KERNELS_CUDA_FLOATS_CASE_H_

#include <random>
#include <string>

#include "larq_engine/kernels/cuda/image_window.h"

namespace larq_engine::testing {

cuda::ImageWindow MakeWindow(int batch, int in_height, int in_width, int channels,
                             int filter_height, int filter_width, int stride_height,
                             int stride_width, bool same);

// Returns 1x1 windows, with a pad on each side.
cuda::ImageWindow PaddedPixels(int batch, int in_height, int in_width, int channels);

// Each function runs all rows that compute a case, with random operands, and returns the first
// difference, or an empty string if every bit is as expected.
std::string RunConv2d(std::mt19937& random, const cuda::ImageWindow& w, int out_channels);
std::string RunDepthwise(std::mt19937& random, const cuda::ImageWindow& w, int multiplier);
// A bias and a clamp are between the two convolutions.
std::string RunDepthwisePointwise(std::mt19937& random, const cuda::ImageWindow& w,
                                  int out_channels);
std::string RunMaxPool(std::mt19937& random, const cuda::ImageWindow& w);
// The channels of `w` are words.
std::string RunMaxPoolBits(std::mt19937& random, const cuda::ImageWindow& w);
// The window `w` of the convolution slides over the pooled image.
std::string RunPooledDepthwise(std::mt19937& random, const cuda::ImageWindow& pool,
                               const cuda::ImageWindow& w);
std::string RunAveragePool(std::mt19937& random, const cuda::ImageWindow& w);
std::string RunSignedDense(std::mt19937& random, int rows, int depth, int units);
// Some sums wrap, and some results are halves, which are rounded to even.
std::string RunSignedDenseInt8(std::mt19937& random, int rows, int depth, int units);
std::string RunBmatmul(std::mt19937& random, int matrices, int rows, int columns, int depth);
std::string RunSoftmax(std::mt19937& random, int rows, int count);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_KERNELS_CUDA_FLOATS_CASE_H_
