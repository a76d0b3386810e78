// Decides which operators of a host's graph the plug-in takes over, and says why. The decision
// knows no host: it depends on the values below and on nothing else.
#ifndef LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
#define LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "larq_engine/runtime/ops/host_comparison.h"

namespace larq_engine {

enum class OperatorKind : uint8_t {
  kUnknown,
  kOurs,
  kUnpacksWeights,  // LceUnpackWeights, whose result exists before anything runs
  kHosts,           // one that the host has too, and that the plug-in knows
};

// The place that a placement gives an operator. An operator on the CPU and a GPU is on the GPU.
enum class PlacedOn : uint8_t { kNowhere, kHost, kCpu, kGpu };

// Facts about an operator of the host's graph. Tensors are given by their numbers.
struct ClaimOperator {
  OperatorKind kind = OperatorKind::kUnknown;
  std::vector<int> inputs = {};
  std::vector<int> outputs = {};
  PlacedOn placed_on = PlacedOn::kNowhere;
  // The rest is for kHosts only.
  bool is_form_computed = false;
  std::string form = {};           // describes a form that is not computed
  bool must_be_read = false;       // see KnownOp
  bool reads_weight_bits = false;  // reads input 1 as the bits that LceUnpackWeights reads
  HostComparison on_cpu = HostComparison::kCannot;
  HostComparison on_gpu = HostComparison::kCannot;
};

struct ClaimGraph {
  std::vector<ClaimOperator> operators;  // in the order in which they run
  std::vector<bool> is_constant;         // for each tensor
};

struct ClaimOptions {
  bool fuse = true;  // takes the host's operators beside ours
  bool has_gpu = false;
};

enum class ClaimReason : uint8_t {
  // Reasons to take the operator.
  kOurs,
  kUnpacksWeights,
  kPlaced,
  kFasterThanHost,
  kBesideOurs,
  // Reasons to leave it with the host.
  kUnknown,
  kFormNotComputed,
  kReadsFixedTensor,
  kPlacedOnHost,
  kPlacedOnCpu,
  kForGpusOnly,
  kNotForGpus,
  kHostIsFaster,
  kFuseIsOff,
  kNotBesideOurs,
  kResultNotRead,
};

inline bool IsClaimed(ClaimReason reason) { return reason <= ClaimReason::kBesideOurs; }

// Returns a sentence's text without its end, such as "the placement leaves it with the host".
const char* ClaimReasonText(ClaimReason reason);

// Returns a reason for each operator. The plug-in takes its own operators and those of the host
// that are placed on its devices or that it computes faster. With `fuse`, it also takes operators
// that read from one that is taken or that one that is taken reads from; for some
// (`must_be_read`), on the CPU only the latter counts.
//
// The result is the same for a graph whose inputs were resized. tflite_runtime 2.14 asks again for
// it while some tensors still have their old shapes, and refuses nodes that change hands between
// delegates.
std::vector<ClaimReason> DecideClaims(const ClaimGraph& graph, const ClaimOptions& options);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_CLAIM_H_
