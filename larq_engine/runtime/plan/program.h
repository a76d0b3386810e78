// What a plan computes: operators in order, the values that pass between them, and their shapes. No
// device is known here.
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

  int tensor;         // of the host's graph
  std::string name;   // in the file
  int maker = kHost;  // the operator, or the host
  size_t element_bytes = 0;
  bool host_reads = false;                // it lives in the host's tensor: others read that
  bool is_constant = false;               // of the host's: the file has its data
  ConstantValues<int32_t> constant = {};  // those data, if their alignment counts
  std::vector<size_t> readers = {};       // operators
  // For the inputs at hand.
  TensorShape shape = {};
  size_t bytes = 0;
};

// What a user has said of where an operator is computed.
struct OpPlace {
  size_t device;            // of the engine's executors
  std::string kernel = {};  // the name of a row; empty: as the engine's options say
};

struct ProgramOp {
  OpName name;
  std::vector<int> declared_dims;  // of the output, in the file; none stand for an open shape
  std::unique_ptr<Op> op;
  std::vector<size_t> inputs;  // values
  size_t output;               // value
  // Operators before it that it computes too, in order: they check shapes, and never run.
  std::vector<std::unique_ptr<ProgramOp>> absorbed = {};
  std::optional<OpPlace> place = std::nullopt;
  bool is_first_half = false;  // of a layer that is cut: the next operator is the other
};

// The host's side of the values.
class HostTensors {
 public:
  virtual ~HostTensors() = default;

  // Known once the host has sized its tensors.
  virtual std::vector<int> Dims(int tensor) const = 0;
  // Throws OpError.
  virtual void Resize(int tensor, const std::vector<int>& dims) = 0;
  // Where a tensor lies for the run at hand; nothing of one without memory.
  virtual std::span<std::byte> Data(int tensor) const = 0;
};

class Program {
 public:
  // Throws OpError, whose text names the operator. `inputs` and `output` are the host's tensors.
  void Add(const KnownOp& row, OpName& name, const OpInfo& info, std::span<const int> inputs,
           int output, bool host_reads);

  // Lets quantizations compute the products and sums that only they read, unless those are placed
  // elsewhere; once, after all are added and placed.
  void Absorb();

  // Cuts a convolution of one group in two: the first has as many output channels, and a
  // concatenation joins them. A multiple of 32 where the layer makes bits.
  void Split(size_t op, int64_t channels);

  // Finds all shapes for the inputs at hand, and gives the host the shapes of what it reads. Throws
  // OpError, whose text names the operator. False if an operator has absorbed one that changes the
  // shape, which only computing it can do: a constant of several channels makes as many of one.
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
  std::map<int, size_t> latest_;  // of each tensor of the host: its value
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PLAN_PROGRAM_H_
