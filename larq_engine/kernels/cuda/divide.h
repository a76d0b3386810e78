// Divisions on the device, of numbers of at least 0: without one where 31 bits hold the number.
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
  // The product's upper half is what 2^32 goes into it, so the number is doubled for 2^31.
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
