// The memory that a device's plans hold, for programs that link the engine in and, as JSON, for
// larq_engine_memory_read.
#ifndef LARQ_ENGINE_RUNTIME_MEMORY_REPORT_H_
#define LARQ_ENGINE_RUNTIME_MEMORY_REPORT_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

struct TfLiteDelegate;

namespace larq_engine {

// Sizes are in bytes.
struct MemoryReport {
  std::string device;
  size_t weights;      // constants of operators
  size_t activations;  // values between operators, for all shapes that are remembered
  size_t staging;      // pinned memory of the host, through which copies go
};

// Reads the sizes for devices that have memory of their own; see larq_engine.h.
std::vector<MemoryReport> ReadMemory(TfLiteDelegate* delegate);

std::string MemoryJson(std::span<const MemoryReport> reports);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_MEMORY_REPORT_H_
