// LceQuantize and LceDequantize: values to bits and back, one pixel (row of channels) after
// another.
//
// The sign of a value is -1 exactly when it is smaller than zero (int8: than the zero point). So
// -0.0 is +1, as in TensorFlow, and NaN is +1, because no comparison with it holds.
#ifndef LARQ_ENGINE_KERNELS_BITPACK_H_
#define LARQ_ENGINE_KERNELS_BITPACK_H_

#include <cstddef>
#include <cstdint>

namespace larq_engine {

// in is [rows][channels], out is [rows][WordsFor(channels)].
void BitpackFloat(const float* in, size_t rows, size_t channels, uint32_t* out);
void BitpackInt8(const int8_t* in, size_t rows, size_t channels, int32_t zero_point, uint32_t* out);
void BitpackBool(const bool* in, size_t rows, size_t channels, uint32_t* out);  // true is +1

// The inverse; `plus` and `minus` are what +1 and -1 become.
void UnpackFloat(const uint32_t* in, size_t rows, size_t channels, float* out);
void UnpackInt8(const uint32_t* in, size_t rows, size_t channels, int8_t plus, int8_t minus,
                int8_t* out);
void UnpackBool(const uint32_t* in, size_t rows, size_t channels, bool* out);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_KERNELS_BITPACK_H_
