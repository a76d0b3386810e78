// A device that computes through simulated pipelines. Tests have it, to see that a placed model
// runs on a chip as its placement says.
#ifndef LARQ_ENGINE_TESTS_FPGA_DEVICE_SIMULATED_FPGA_H_
#define LARQ_ENGINE_TESTS_FPGA_DEVICE_SIMULATED_FPGA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "larq_engine/runtime/executor.h"
#include "tests/fpga/device/pipeline.h"

namespace larq_engine {

// A pipeline of the chip: the hardware of the nodes [first, end) of the main graph.
struct Pipeline {
  int first;
  int end;
  size_t in_bits;
  size_t out_bits;
  decltype(&pipeline_run) run;
};

struct Chip {
  std::vector<Pipeline> pipelines;
  double megahertz = 100;
  unsigned pauses = 0;  // see pipeline_run
};

// Opens the libraries that the text names: "megahertz,pauses", and then each "first:end:path", with
// semicolons between them. Throws OpError.
std::shared_ptr<const Chip> OpenChip(const std::string& text);

class FpgaMemory : public DeviceMemory {
 public:
  std::byte* Allocate(size_t bytes) override;
  void Free(std::byte* memory) noexcept override;
  double Seconds(size_t bytes) const override;
  void Wait() noexcept override {}
  void CopyIn(const std::byte* host, size_t bytes, std::byte* device) override;
  void CopyOut(const std::byte* device, size_t bytes, std::byte* host) override;
  void AwaitMade(const std::byte* made, size_t bytes) override;
  void CopyMade(const std::byte* made, size_t bytes, std::byte* device) override;
};

class FpgaExecutor : public Executor {
 public:
  explicit FpgaExecutor(std::shared_ptr<const Chip> chip) : chip_(std::move(chip)) {}

  const char* device() const override { return "fpga"; }
  std::string Refusal(const Program& program, const ProgramOp& op) const override;
  std::vector<double> Seconds(const Program& program, std::span<const size_t> ops,
                              int host_threads) const override;
  HostComparison CompareWithHost(const KnownOp&, const OpInfo&) const override {
    return HostComparison::kCannot;
  }
  std::unique_ptr<Segment> Compile(const Program& program, std::span<const size_t> ops,
                                   const std::vector<bool>& is_shared) override;
  DeviceMemory* memory() override { return &memory_; }

 private:
  std::shared_ptr<const Chip> chip_;
  FpgaMemory memory_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_TESTS_FPGA_DEVICE_SIMULATED_FPGA_H_
