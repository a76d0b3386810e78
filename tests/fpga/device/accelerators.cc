// The devices besides the CPU of the plug-in that these tests load.
#include "larq_engine/runtime/accelerators.h"

#include <cstdlib>

#include "larq_engine/runtime/ops/op_error.h"
#include "tests/fpga/device/simulated_fpga.h"

namespace larq_engine {
namespace {

// Names the libraries of the chip's pipelines; see OpenChip.
constexpr char kVariable[] = "LARQ_ENGINE_SIMULATED_FPGA";

constexpr AcceleratorKind kKinds[] = {{.name = "fpga", .title = "FPGA"}};

ExecutorMaker FindFpga(const EngineOptions&) {
  const char* text = std::getenv(kVariable);
  if (text == nullptr) throw OpError(std::string(kVariable) + ": expected pipelines, got nothing");
  return [chip = OpenChip(text)] { return std::make_unique<FpgaExecutor>(chip); };
}

std::string DescribeFpga() { return "\nfpga: simulated"; }

constexpr Accelerator kAccelerators[] = {{.find = FindFpga, .describe = DescribeFpga}};

}  // namespace

std::span<const Accelerator> Accelerators() { return kAccelerators; }

std::span<const AcceleratorKind> AcceleratorKinds() { return kKinds; }

}  // namespace larq_engine
