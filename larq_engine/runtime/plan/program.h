// The operators that a plan computes, in order, the values that pass between them, and their
// shapes. No device is known here.
#ifndef LARQ_ENGINE_RUNTIME_PLAN_PROGRAM_H_
#define LARQ_ENGINE_RUNTIME_PLAN_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/runtime/ops/op.h"
#include "larq_engine/runtime/ops/op_name.h"
#include "larq_engine/runtime/ops/op_table.h"

namespace larq_engine {

// Data that an operator makes, or that comes from the host.
struct Value {
  static constexpr int kHost = -1;

  int tensor;            // number in the host's graph
  std::string name;      // name in the file
  int producer = kHost;  // number of the operator, or kHost
  size_t element_bytes = 0;
  bool is_float = false;
  bool host_reads = false;                // it lives in the host's tensor, which others read
  bool is_constant = false;               // it comes from the host, and the file has its data
  ConstantValues<int32_t> constant = {};  // those data, if their alignment counts
  std::vector<size_t> readers = {};       // numbers of operators
  // For the current inputs.
  TensorShape shape = {};
  size_t bytes = 0;
};

// A user's choice of where an operator is computed.
struct OpPlacement {
  size_t device;            // index in the engine's executors
  std::string kernel = {};  // name of a row; empty: the engine's options decide
};

struct ProgramOp {
  OpName name;
  std::vector<int> declared_dims;  // output dimensions in the file; empty if they are open
  std::unique_ptr<Op> op;
  std::vector<size_t> inputs;  // numbers of values
  size_t output;               // number of a value
  // Earlier operators whose results it also computes, in order. They check shapes, and never run.
  std::vector<std::unique_ptr<ProgramOp>> absorbed = {};
  std::optional<OpPlacement> place = std::nullopt;
  bool is_first_half = false;  // of a layer that is cut: the next operator is the second half
};

// The host's tensors behind the values.
class HostTensors {
 public:
  virtual ~HostTensors() = default;

  // The dimensions are known once the host has sized its tensors.
  virtual std::vector<int> Dims(int tensor) const = 0;
  // Throws OpError.
  virtual void Resize(int tensor, const std::vector<int>& dims) = 0;
  // Returns where a tensor lies in this run; empty for a tensor without memory.
  virtual std::span<std::byte> Data(int tensor) const = 0;
};

class Program {
 public:
  // Throws OpError, whose text names the operator. `inputs` and `output` are the host's tensors.
  void Add(const KnownOp& row, OpName& name, const OpInfo& info, std::span<const int> inputs,
           int output, bool host_reads);

  // Lets quantizations compute the products and sums that only they read, unless those are placed
  // elsewhere. Must be called once, after all operators are added and placed.
  void Absorb();

  // Cuts a convolution of one group in two, and adds a concatenation that joins the parts. The
  // first part has `channels` output channels: a multiple of 32 if the layer makes bits.
  void Split(size_t op, int64_t channels);

  // Computes all shapes for the current inputs, and resizes the host's tensors that the host reads.
  // Throws OpError, whose text names the operator. Returns false if an operator has absorbed one
  // that changes the shape, as a constant of several channels does with a tensor of one channel:
  // then that operator must be computed.
  bool Resize(HostTensors& host);

  std::span<const std::unique_ptr<ProgramOp>> ops() const { return ops_; }
  std::span<const Value> values() const { return values_; }
  const ProgramOp& op(size_t index) const { return *ops_[index]; }
  const Value& value(size_t index) const { return values_[index]; }
  std::vector<TensorShape> InputShapes(const ProgramOp& op) const;

 private:
  size_t FindValue(int tensor, const TensorInfo& info);
  std::vector<size_t> ChannelOpsBefore(const ProgramOp& last) const;
  void Renumber();
  bool ResizeOp(HostTensors& host, const ProgramOp& op);

  std::vector<std::unique_ptr<ProgramOp>> ops_;
  std::vector<Value> values_;
  std::map<int, size_t> latest_;  // for each tensor of the host: its latest value
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PROGRAM_H_
