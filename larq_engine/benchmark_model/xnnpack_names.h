// The names that XNNPACK gives to its steps.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_XNNPACK_NAMES_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_XNNPACK_NAMES_H_

#include <string_view>

namespace larq_engine {

// Tells whether a step, for example "Fully Connected (NC, F32) GEMM", computes what operators of
// this name do, for example "CONV_2D".
bool IsStepOf(std::string_view step, std::string_view op);

// Tells whether it is known what a step of this name computes.
bool IsKnownStep(std::string_view step);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_XNNPACK_NAMES_H_
