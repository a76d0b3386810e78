// WebAssembly, which reaches no driver of GPUs.
#include "larq_engine/runtime/accelerators.h"
#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

constexpr const char* kWhyNone = "expected a driver for GPUs, got WebAssembly, which reaches none";

ExecutorMaker FindCuda(const EngineOptions&) { throw OpError(kWhyNone); }

std::string DescribeGpus() { return std::string("\ncuda: none: ") + kWhyNone; }

constexpr Accelerator kAccelerators[] = {{.find = FindCuda, .describe = DescribeGpus}};

}  // namespace

std::span<const Accelerator> Accelerators() { return kAccelerators; }

}  // namespace larq_engine
