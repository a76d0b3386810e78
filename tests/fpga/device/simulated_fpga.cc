#include "tests/fpga/device/simulated_fpga.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <sstream>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// Bytes a second of the link that device files of exported networks have.
constexpr double kLinkBytesPerSecond = 2.5e9;

template <typename Function>
Function* Find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) throw OpError(std::string("simulated FPGA: no function ") + name);
  return reinterpret_cast<Function*>(found);
}

Pipeline OpenPipeline(const std::string& text) {
  std::istringstream fields(text);
  Pipeline pipeline{};
  char colon = 0;
  std::string path;
  fields >> pipeline.first >> colon >> pipeline.end >> colon;
  std::getline(fields, path);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw OpError("simulated FPGA: " + std::string(dlerror()));
  pipeline.in_bits = Find<decltype(pipeline_in_bits)>(library, "pipeline_in_bits")();
  pipeline.out_bits = Find<decltype(pipeline_out_bits)>(library, "pipeline_out_bits")();
  pipeline.run = Find<decltype(pipeline_run)>(library, "pipeline_run");
  return pipeline;
}

// Returns the nodes of the file that the operator computes.
std::set<int> NodesOf(const ProgramOp& op) {
  std::set<int> nodes = {op.name.node};
  for (const auto& absorbed : op.absorbed) nodes.insert(absorbed->name.node);
  return nodes;
}

size_t Pixels(const Value& value) {
  size_t pixels = 1;
  for (size_t i = 0; i + 1 < value.shape.dims.size(); ++i) {
    pixels *= static_cast<size_t>(value.shape.dims[i]);
  }
  return pixels;
}

// Computes its operators by one pipeline.
class FpgaSegment : public Segment {
 public:
  FpgaSegment(std::shared_ptr<const Chip> chip, const Pipeline& pipeline, const Program& program,
              std::span<const size_t> ops, const std::vector<bool>& is_shared)
      : chip_(std::move(chip)),
        pipeline_(pipeline),
        program_(program),
        ops_(ops.begin(), ops.end()) {
    std::set<size_t> made;
    std::set<size_t> inputs;
    std::vector<size_t> outputs;
    for (size_t op : ops_) {
      for (size_t value : program_.op(op).inputs) {
        if (!made.contains(value)) inputs.insert(value);
      }
      made.insert(program_.op(op).output);
      if (is_shared[program_.op(op).output]) outputs.push_back(program_.op(op).output);
    }
    if (inputs.size() != 1 || outputs.size() != 1) {
      throw OpError("simulated FPGA: expected one input and one output of nodes " +
                    std::to_string(pipeline_.first) + " to " + std::to_string(pipeline_.end - 1));
    }
    input_ = *inputs.begin();
    output_ = outputs[0];
  }

  void Resize(int) override {
    CheckPixel(program_.value(input_), pipeline_.in_bits);
    CheckPixel(program_.value(output_), pipeline_.out_bits);
  }

  void Run(const SegmentRun& run) override {
    const Value& input = program_.value(input_);
    const Value& output = program_.value(output_);
    const PipelineImage image = {.in = reinterpret_cast<const uint8_t*>(run.places[input_]),
                                 .pixels_in = Pixels(input),
                                 .in_step = input.bytes / Pixels(input),
                                 .out = reinterpret_cast<uint8_t*>(run.places[output_]),
                                 .pixels_out = Pixels(output),
                                 .out_step = output.bytes / Pixels(output)};
    const uint64_t cycles = pipeline_.run(&image, chip_->pauses, seed_++);
    if (cycles == 0) throw OpError("simulated FPGA: the pipeline hangs");
    // A profile has the time that the chip would take, not that of the simulation.
    if (run.profiling) {
      counter_.Add(static_cast<uint64_t>(static_cast<double>(cycles) * 1e3 / chip_->megahertz));
    }
  }

  void ClearProfile() override { counter_.Clear(); }

  // The first operator's row has the time of all.
  void AppendProfile(std::vector<StepProfile>& steps) const override {
    for (size_t op : ops_) {
      const ProgramOp& computed = program_.op(op);
      steps.push_back({.op = computed.name.kind,
                       .name = program_.value(computed.output).name,
                       .layer = computed.name.layer,
                       .node = computed.name.node,
                       .device = "fpga",
                       .kernel = "pipeline",
                       .calls = counter_.calls(),
                       .total_ns = op == ops_[0] ? counter_.total_ns() : 0,
                       .group = program_.op(ops_[0]).name.node});
    }
  }

 private:
  // A pixel is as many bits in the host's memory, with zeros up to whole words or bytes.
  void CheckPixel(const Value& value, size_t bits) const {
    const size_t bytes = value.bytes / Pixels(value);
    if (bits > 8 * bytes || 8 * bytes >= bits + 32 || value.is_float) {
      throw OpError("simulated FPGA: expected pixels of " + std::to_string(bits) + " bits for '" +
                    value.name + "', got " + std::to_string(bytes) + " bytes");
    }
  }

  std::shared_ptr<const Chip> chip_;
  const Pipeline& pipeline_;
  const Program& program_;
  std::vector<size_t> ops_;
  size_t input_ = 0;
  size_t output_ = 0;
  unsigned seed_ = 0;
  ProfileCounter counter_;
};

}  // namespace

std::shared_ptr<const Chip> OpenChip(const std::string& text) {
  auto chip = std::make_shared<Chip>();
  std::istringstream items(text);
  std::string item;
  std::getline(items, item, ';');
  char comma = 0;
  std::istringstream(item) >> chip->megahertz >> comma >> chip->pauses;
  while (std::getline(items, item, ';')) chip->pipelines.push_back(OpenPipeline(item));
  return chip;
}

std::byte* FpgaMemory::Allocate(size_t bytes) {
  return static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}));
}

void FpgaMemory::Free(std::byte* memory) noexcept {
  ::operator delete (memory, std::align_val_t{64});
}

double FpgaMemory::Seconds(size_t bytes) const {
  return static_cast<double>(bytes) / kLinkBytesPerSecond;
}

void FpgaMemory::CopyIn(const std::byte* host, size_t bytes, std::byte* device) {
  std::memcpy(device, host, bytes);
}

void FpgaMemory::CopyOut(const std::byte* device, size_t bytes, std::byte* host) {
  std::memcpy(host, device, bytes);
}

void FpgaMemory::AwaitMade(const std::byte*, size_t) {
  throw OpError("simulated FPGA: nothing else makes data in its memory");
}

void FpgaMemory::CopyMade(const std::byte*, size_t, std::byte*) { AwaitMade(nullptr, 0); }

std::string FpgaExecutor::Refusal(const Program&, const ProgramOp& op) const {
  for (const Pipeline& pipeline : chip_->pipelines) {
    if (pipeline.first <= op.name.node && op.name.node < pipeline.end) return "";
  }
  return "no pipeline has it";
}

std::vector<double> FpgaExecutor::Seconds(const Program&, std::span<const size_t> ops, int) const {
  return std::vector<double>(ops.size(), 0);
}

std::unique_ptr<Segment> FpgaExecutor::Compile(const Program& program, std::span<const size_t> ops,
                                               const std::vector<bool>& is_shared) {
  std::set<int> nodes;
  for (size_t op : ops) nodes.merge(NodesOf(program.op(op)));
  for (const Pipeline& pipeline : chip_->pipelines) {
    if (*nodes.begin() == pipeline.first && *nodes.rbegin() == pipeline.end - 1 &&
        nodes.size() == static_cast<size_t>(pipeline.end - pipeline.first)) {
      return std::make_unique<FpgaSegment>(chip_, pipeline, program, ops, is_shared);
    }
  }
  throw OpError("simulated FPGA: expected a pipeline for nodes " + std::to_string(*nodes.begin()) +
                " to " + std::to_string(*nodes.rbegin()) + ", got none");
}

}  // namespace larq_engine
