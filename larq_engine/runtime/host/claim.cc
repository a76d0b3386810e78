#include "larq_engine/runtime/host/claim.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {
namespace {

// Finds tensors that are computed from constants only, such as unpacked weights. They do not grow
// with the batch, or are constants by the time that plans are made.
class FixedTensors {
 public:
  explicit FixedTensors(const std::vector<bool>& is_constant) : is_constant_(is_constant) {}

  // Adds the results of the operator if they are fixed. Operators come in the order in which they
  // run.
  void AddResults(const ClaimOperator& op) {
    const bool is_fixed = std::all_of(op.inputs.begin(), op.inputs.end(), [&](int tensor) {
      return tensor == kAbsentTensor || fixed_.contains(tensor) ||
             (static_cast<size_t>(tensor) < is_constant_.size() &&
              is_constant_[static_cast<size_t>(tensor)]);
    });
    if (is_fixed) fixed_.insert(op.outputs.begin(), op.outputs.end());
  }

  // Tells whether the operator reads a tensor that is fixed but in no file. Weights that it reads
  // as bits do not count.
  bool AreReadBy(const ClaimOperator& op) const {
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const bool are_weights = i == 1 && op.reads_weight_bits;
      if (!are_weights && fixed_.contains(op.inputs[i])) return true;
    }
    return false;
  }

 private:
  const std::vector<bool>& is_constant_;
  std::set<int> fixed_;
};

// Returns the reason for what happens to the operator whatever its neighbours are; nothing if they
// decide.
std::optional<ClaimReason> DecideAlone(const ClaimOperator& op, const FixedTensors& fixed,
                                       const ClaimOptions& options) {
  switch (op.kind) {
    case OperatorKind::kUnknown:
      return ClaimReason::kUnknown;
    case OperatorKind::kOurs:
      return ClaimReason::kOurs;
    case OperatorKind::kUnpacksWeights:
      return ClaimReason::kUnpacksWeights;
    case OperatorKind::kHosts:
      break;
  }
  if (!op.is_form_computed) return ClaimReason::kFormNotComputed;
  if (fixed.AreReadBy(op)) return ClaimReason::kReadsFixedTensor;
  switch (op.placed_on) {
    case PlacedOn::kHost:
      return ClaimReason::kPlacedOnHost;
    case PlacedOn::kCpu:
      return op.on_cpu == HostComparison::kCannot ? ClaimReason::kPlacedOnCpu
                                                  : ClaimReason::kPlaced;
    case PlacedOn::kGpu:
      return ClaimReason::kPlaced;
    case PlacedOn::kNowhere:
      break;
  }
  // Each operator that stays beside a GPU costs two transfers, so the GPU decides if there is one.
  const HostComparison comparison = options.has_gpu ? op.on_gpu : op.on_cpu;
  if (comparison == HostComparison::kCannot) {
    return options.has_gpu ? ClaimReason::kNotForGpus : ClaimReason::kForGpusOnly;
  }
  if (comparison == HostComparison::kSlower) return ClaimReason::kHostIsFaster;
  if (!options.fuse) return ClaimReason::kFuseIsOff;
  if (comparison == HostComparison::kFaster) return ClaimReason::kFasterThanHost;
  return std::nullopt;
}

// Takes operators beside those that are taken already, and follows the tensors between them.
class Neighbours {
 public:
  explicit Neighbours(std::span<const ClaimOperator> operators)
      : operators_(operators), is_taken_(operators.size()) {}

  void Take(size_t i) {
    if (is_taken_[i]) return;
    is_taken_[i] = true;
    queue_.push_back(i);
  }

  // Adds an operator to take if one that reads its result is taken or, without `must_be_read`, any
  // neighbour.
  void AddCandidate(size_t i, bool must_be_read) {
    if (!must_be_read) {
      for (int tensor : operators_[i].inputs) readers_[tensor].push_back(i);
    }
    for (int tensor : operators_[i].outputs) makers_[tensor].push_back(i);
  }

  // Returns for each operator whether it is taken. Every tensor is followed once in each direction.
  const std::vector<bool>& Finish() {
    while (!queue_.empty()) {
      const ClaimOperator& op = operators_[queue_.back()];
      queue_.pop_back();
      for (int tensor : op.outputs) TakeAll(readers_, tensor);
      for (int tensor : op.inputs) TakeAll(makers_, tensor);
    }
    return is_taken_;
  }

 private:
  using Candidates = std::map<int, std::vector<size_t>>;  // for each tensor

  void TakeAll(Candidates& candidates, int tensor) {
    const auto found = candidates.find(tensor);
    if (found == candidates.end()) return;
    for (size_t i : found->second) Take(i);
    candidates.erase(found);
  }

  std::span<const ClaimOperator> operators_;
  std::vector<bool> is_taken_;
  std::vector<size_t> queue_;
  Candidates readers_;
  Candidates makers_;
};

}  // namespace

const char* ClaimReasonText(ClaimReason reason) {
  switch (reason) {
    case ClaimReason::kOurs:
      return "the operator is the plug-in's own";
    case ClaimReason::kUnpacksWeights:
      return "its weights are unpacked once, when the model is loaded";
    case ClaimReason::kPlaced:
      return "the placement says so";
    case ClaimReason::kFasterThanHost:
      return "it is faster there than in the host";
    case ClaimReason::kBesideOurs:
      return "it is beside an operator that the plug-in takes";
    case ClaimReason::kUnknown:
      return "the plug-in does not know the operator";
    case ClaimReason::kFormNotComputed:
      return "the plug-in does not compute this form";
    case ClaimReason::kReadsFixedTensor:
      return "an input is computed from constants only";
    case ClaimReason::kPlacedOnHost:
      return "the placement leaves it with the host";
    case ClaimReason::kPlacedOnCpu:
      return "the placement puts it on the CPU, where only the host computes it";
    case ClaimReason::kForGpusOnly:
      return "the plug-in computes it on GPUs only, and uses none";
    case ClaimReason::kNotForGpus:
      return "GPUs do not compute it, and the plug-in uses one";
    case ClaimReason::kHostIsFaster:
      return "the host computes it faster on this CPU";
    case ClaimReason::kFuseIsOff:
      return "the option fuse is off";
    case ClaimReason::kNotBesideOurs:
      return "it is not beside an operator that the plug-in takes";
    case ClaimReason::kResultNotRead:
      return "no operator that the plug-in takes reads its result";
  }
  return "";
}

std::vector<ClaimReason> DecideClaims(const ClaimGraph& graph, const ClaimOptions& options) {
  const std::vector<ClaimOperator>& operators = graph.operators;
  FixedTensors fixed(graph.is_constant);
  Neighbours neighbours(operators);
  std::vector<std::optional<ClaimReason>> alone;
  const auto must_be_read = [&](size_t i) { return operators[i].must_be_read && !options.has_gpu; };
  for (size_t i = 0; i < operators.size(); ++i) {
    fixed.AddResults(operators[i]);
    alone.push_back(DecideAlone(operators[i], fixed, options));
    if (!alone[i]) {
      neighbours.AddCandidate(i, must_be_read(i));
    } else if (IsClaimed(*alone[i]) && *alone[i] != ClaimReason::kUnpacksWeights) {
      neighbours.Take(i);  // unpacked weights are constants, which bring no neighbours
    }
  }
  const std::vector<bool>& is_taken = neighbours.Finish();
  std::vector<ClaimReason> reasons;
  for (size_t i = 0; i < operators.size(); ++i) {
    const ClaimReason otherwise =
        must_be_read(i) ? ClaimReason::kResultNotRead : ClaimReason::kNotBesideOurs;
    reasons.push_back(alone[i].value_or(is_taken[i] ? ClaimReason::kBesideOurs : otherwise));
  }
  return reasons;
}

}  // namespace larq_engine
