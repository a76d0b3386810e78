// Divisions of numbers of at least 0 on the device. A number of 31 bits takes no division.
#ifndef LARQ_ENGINE_KERNELS_CUDA_DIVIDE_H_
#define LARQ_ENGINE_KERNELS_CUDA_DIVIDE_H_

#include "larq_engine/kernels/cuda/device.h"
#include "larq_engine/kernels/cuda/divisor.h"

namespace larq_engine::cuda {

template <class Number>
struct Divided {
  Number quotient;
  int32_t rest;
};

LE_DEVICE bool HasLittlePlaces(int64_t number) { return number <= INT32_MAX; }

LE_DEVICE Divided<int32_t> Divide(int32_t number, const Divisor& by) {
  // The upper half of the product is its quotient by 2^32. The multiplier is scaled for 2^31, so
  // the number is doubled.
  const uint64_t product = uint64_t{2 * static_cast<uint32_t>(number)} * by.multiplier;
  const auto quotient = static_cast<int32_t>(static_cast<uint32_t>(product >> 32) >> by.shift);
  return {quotient, number - quotient * by.value};
}

LE_DEVICE Divided<int64_t> Divide(int64_t number, const Divisor& by) {
  if (HasLittlePlaces(number)) {
    const Divided<int32_t> little = Divide(static_cast<int32_t>(number), by);
    return {little.quotient, little.rest};
  }
  const int64_t quotient = number / by.value;
  return {quotient, static_cast<int32_t>(number - quotient * by.value)};
}

}  // namespace larq_engine::cuda

#endif  // LARQ_ENGINE_KERNELS_CUDA_DIVIDE_H_
