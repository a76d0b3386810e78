// The external delegate: claims our operators in the host's graph, and the host's own between them,
// and runs each connected set as a plan.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>

#include "larq_engine/runtime/engine.h"
#include "larq_engine/runtime/host_calls.h"
#include "larq_engine/runtime/host_ops.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/op_error.h"
#include "larq_engine/runtime/plan.h"
#include "larq_engine/runtime/unpacked_weights.h"

namespace larq_engine {
namespace {

// A node of a host graph that could be a step.
struct Candidate {
  OpNode node;
  std::vector<TensorInfo> tensors;  // inputs, then outputs
};

// Those of a graph, and which of them were claimed.
struct Claim {
  std::vector<Candidate> candidates;
  std::vector<int> steps;
};

// What a host holds. `delegate` comes first: the host's pointer to it is the pointer to us.
struct Delegate {
  TfLiteDelegate delegate = {};
  void* reserve[8] = {};  // what a newer host may look for at the end of the delegate: nothing
  std::shared_ptr<Engine> engine;
  std::mutex mutex;  // hosts in several threads may share the delegate; guards claims
  std::map<const TfLiteContext*, Claim> claims;  // the last of each host graph
};

Delegate& FromHost(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

struct HostNode {
  TfLiteNode* node;
  TfLiteRegistration* registration;
};

HostNode NodeAt(TfLiteContext* context, int index) {
  HostNode host_node = {};
  if (context->GetNodeAndRegistration(context, index, &host_node.node, &host_node.registration) !=
      kTfLiteOk) {
    throw std::runtime_error("larq_engine: the host has no node #" + std::to_string(index));
  }
  return host_node;
}

// The node as a step of a plan; its `op` is null where it can be none. Of the host's own operators
// only the kind is looked at: see CanFuse.
OpNode DescribeNode(TfLiteContext* context, int index) {
  const auto [node, registration] = NodeAt(context, index);
  OpNode planned = {};
  planned.index = index;
  if (registration->builtin_code == static_cast<int32_t>(kTfLiteBuiltinCustom)) {
    if (registration->custom_name != nullptr) planned.op = FindOpName(registration->custom_name);
  } else if (const HostOp* host_op = FindHostOp(registration->builtin_code)) {
    if (node->builtin_data == nullptr && host_op->needs_options) return planned;
    planned.op = host_op->name;
    planned.host_options = host_op->read_options(node->builtin_data);
  }
  if (planned.op == nullptr) return planned;
  const std::span<const int> inputs = AsSpan(node->inputs);
  const std::span<const int> outputs = AsSpan(node->outputs);
  planned.inputs.assign(inputs.begin(), inputs.end());
  planned.outputs.assign(outputs.begin(), outputs.end());
  planned.options = {static_cast<const uint8_t*>(node->custom_initial_data),
                     static_cast<size_t>(std::max(node->custom_initial_data_size, 0))};
  return planned;
}

void* InitPlan(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  Plan* plan = nullptr;
  ReportingErrors(context, [&] {
    std::vector<OpNode> nodes;
    for (int index : AsSpan(params.nodes_to_replace)) nodes.push_back(DescribeNode(context, index));
    const std::span<const int> outputs = AsSpan(params.output_tensors);
    plan = new Plan(FromHost(params.delegate).engine, std::move(nodes),
                    std::set<int>(outputs.begin(), outputs.end()));
  });
  return plan;
}

void FreePlan(TfLiteContext*, void* plan) { delete static_cast<Plan*>(plan); }

TfLiteStatus WithPlan(TfLiteContext* context, TfLiteNode* node,
                      void (Plan::*method)(TfLiteContext*)) {
  auto* plan = static_cast<Plan*>(node->user_data);
  if (plan == nullptr) return kTfLiteError;  // InitPlan has said why
  return ReportingErrors(context, [&] { (plan->*method)(context); });
}

// The kernel of what is unpacked: the results are there once it is made, to run it is no work.
using WeightsList = std::vector<std::unique_ptr<UnpackedWeights>>;

void* InitWeights(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  std::unique_ptr<WeightsList> weights;
  const TfLiteStatus status = ReportingErrors(context, [&] {
    weights = std::make_unique<WeightsList>();
    for (int index : AsSpan(params.nodes_to_replace)) {
      weights->push_back(std::make_unique<UnpackedWeights>(context, DescribeNode(context, index)));
    }
  });
  return status == kTfLiteOk ? weights.release() : nullptr;
}

void FreeWeights(TfLiteContext*, void* weights) { delete static_cast<WeightsList*>(weights); }

TfLiteStatus CheckWeights(TfLiteContext*, TfLiteNode* node) {
  return node->user_data == nullptr ? kTfLiteError : kTfLiteOk;  // InitWeights has said why
}

// Throws if a node reads what a later one writes: hosts do not check that, and those before LiteRT
// crash when they cut such a graph into what is ours and what is not.
void CheckOrder(TfLiteContext* context, std::span<const int> order) {
  std::map<int, int> writer;  // tensor -> node, of those that are still to come
  for (auto index = order.rbegin(); index != order.rend(); ++index) {
    for (int tensor : AsSpan(NodeAt(context, *index).node->outputs)) writer[tensor] = *index;
  }
  for (int index : order) {
    for (int tensor : AsSpan(NodeAt(context, index).node->inputs)) {
      const auto found = writer.find(tensor);
      if (tensor != kTfLiteOptionalTensor && found != writer.end()) {
        throw std::runtime_error("larq_engine: operator #" + std::to_string(index) +
                                 " reads tensor #" + std::to_string(tensor) +
                                 ", expected one that is computed before it, got an output of "
                                 "operator #" +
                                 std::to_string(found->second) + "; the file is corrupted");
      }
    }
    for (int tensor : AsSpan(NodeAt(context, index).node->outputs)) writer.erase(tensor);
  }
}

bool IsOurs(const OpNode& node) { return FindHostOp(node.op) == nullptr; }

bool CanFuse(const TfLiteContext& context, const OpNode& node) {
  try {
    return FindHostOp(node.op)->can_fuse(DescribeOp(context, node));
  } catch (const OpError&) {
    return false;  // something that only the host may know what to do with
  }
}

// Whether the node's results depend on nothing but constants and tensors that are `fixed`.
bool IsFixed(const TfLiteContext& context, const TfLiteNode& node, const std::set<int>& fixed) {
  const std::span<const int> inputs = AsSpan(node.inputs);
  return std::all_of(inputs.begin(), inputs.end(), [&](int tensor) {
    return tensor == kTfLiteOptionalTensor || fixed.contains(tensor) ||
           (static_cast<size_t>(tensor) < context.tensors_size &&
            context.tensors[tensor].allocation_type == kTfLiteMmapRo);
  });
}

bool ReadsAnyOf(const OpNode& node, const std::set<int>& tensors) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](int tensor) { return tensors.contains(tensor); });
}

// The nodes of plans: ours, and of the host's operators those that read from a node of a plan, and
// those that LceQuantize or another of them reads.
std::vector<int> FindSteps(TfLiteContext* context, std::span<const int> order, bool fuse) {
  std::vector<OpNode> candidates;
  std::vector<bool> taken;
  std::set<int> made;    // by nodes that are taken
  std::set<int> wanted;  // by those of them that read floats
  // Computed from constants alone, such as unpacked weights. They do not grow with the batch, or
  // are constants by the time that steps are made: what reads them stays with the host.
  std::set<int> fixed;
  const auto take = [&](size_t i) {
    const OpNode& node = candidates[i];
    taken[i] = true;
    made.insert(node.outputs.begin(), node.outputs.end());
    if (!IsOurs(node) || node.op == std::string_view("LceQuantize")) {
      wanted.insert(node.inputs.begin(), node.inputs.end());
    }
  };
  for (int index : order) {
    OpNode node = DescribeNode(context, index);
    const TfLiteNode& host_node = *NodeAt(context, index).node;
    if (IsFixed(*context, host_node, fixed)) {
      const std::span<const int> outputs = AsSpan(host_node.outputs);
      fixed.insert(outputs.begin(), outputs.end());
    }
    if (node.op == nullptr || node.op == std::string_view(kUnpackWeights)) continue;
    const bool ours = IsOurs(node);
    if (!ours && !(fuse && CanFuse(*context, node) && !ReadsAnyOf(node, fixed))) continue;
    candidates.push_back(std::move(node));
    taken.push_back(false);
    if (ours) take(candidates.size() - 1);
  }
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (taken[i]) continue;
      const OpNode& node = candidates[i];
      if (!ReadsAnyOf(node, made) && !wanted.contains(node.outputs[0])) continue;
      take(i);
      more = true;
    }
  }
  std::vector<int> steps;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (taken[i]) steps.push_back(candidates[i].index);
  }
  return steps;
}

Candidate DescribeCandidate(const TfLiteContext& context, OpNode node) {
  Candidate candidate{.node = std::move(node), .tensors = {}};
  for (int tensor : candidate.node.inputs) {
    candidate.tensors.push_back(DescribeTensor(context, tensor));
  }
  for (int tensor : candidate.node.outputs) {
    candidate.tensors.push_back(DescribeTensor(context, tensor));
  }
  return candidate;
}

// All but the sizes that a resize changes.
bool IsSameTensor(const TensorInfo& a, const TensorInfo& b) {
  return a.present == b.present && a.type == b.type && a.constant == b.constant &&
         a.bytes == b.bytes && a.signature == b.signature && a.dims.size() == b.dims.size() &&
         (a.dims.empty() || a.dims.back() == b.dims.back());
}

bool IsSameCandidate(const Candidate& a, const Candidate& b) {
  static_assert(sizeof(HostOptions) == 8 * sizeof(int), "no padding that could differ");
  return a.node.op == b.node.op && a.node.index == b.node.index && a.node.inputs == b.node.inputs &&
         a.node.outputs == b.node.outputs && a.node.options.data() == b.node.options.data() &&
         std::memcmp(&a.node.host_options, &b.node.host_options, sizeof(HostOptions)) == 0 &&
         std::equal(a.tensors.begin(), a.tensors.end(), b.tensors.begin(), b.tensors.end(),
                    IsSameTensor);
}

// tflite_runtime 2.14 asks again for a graph whose inputs were resized. Shapes within it are then
// neither the old nor the new ones, and what changes hands between delegates is refused: the answer
// must be the first one.
std::vector<int> ClaimSteps(TfLiteContext* context, std::span<const int> order,
                            Delegate& delegate) {
  std::vector<Candidate> candidates;
  for (int index : order) {
    OpNode node = DescribeNode(context, index);
    if (node.op == nullptr) continue;
    try {
      candidates.push_back(DescribeCandidate(*context, std::move(node)));
    } catch (const OpError&) {
      return FindSteps(context, order, delegate.engine->fuse());  // no graph that will run
    }
  }
  const std::lock_guard<std::mutex> lock(delegate.mutex);
  Claim& claim = delegate.claims[context];
  if (!std::equal(candidates.begin(), candidates.end(), claim.candidates.begin(),
                  claim.candidates.end(), IsSameCandidate)) {
    claim = {.candidates = std::move(candidates),
             .steps = FindSteps(context, order, delegate.engine->fuse())};
  }
  return claim.steps;
}

void TakeOver(TfLiteContext* context, TfLiteDelegate* delegate, const std::vector<int>& indices,
              TfLiteRegistration registration) {
  if (indices.empty()) return;
  const IntArrayPtr nodes = MakeIntArray(indices);
  if (nodes == nullptr) throw std::bad_alloc();
  registration.builtin_code = static_cast<int32_t>(kTfLiteBuiltinDelegate);
  registration.custom_name = "larq_engine";
  registration.version = 1;
  if (context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes.get(),
                                                     delegate) != kTfLiteOk) {
    throw std::runtime_error("larq_engine: the host refused to hand over the operators");
  }
}

TfLiteStatus ClaimNodes(TfLiteContext* context, TfLiteDelegate* delegate) {
  return ReportingErrors(context, [&] {
    TfLiteIntArray* order = nullptr;
    if (context->GetExecutionPlan(context, &order) != kTfLiteOk) {
      throw std::runtime_error("larq_engine: the host gives no execution plan");
    }
    std::vector<int> weights;
    for (int index : AsSpan(order)) {
      const char* op = DescribeNode(context, index).op;
      if (op != nullptr && op == std::string_view(kUnpackWeights)) weights.push_back(index);
    }
    const std::vector<int> steps = ClaimSteps(context, AsSpan(order), FromHost(delegate));
    if (weights.empty() && steps.empty()) return;
    CheckOrder(context, AsSpan(order));
    // `order` is the host's and ends with the first call; the nodes keep their numbers.
    TfLiteRegistration registration = {};
    registration.init = InitWeights;
    registration.free = FreeWeights;
    registration.prepare = registration.invoke = CheckWeights;
    TakeOver(context, delegate, weights, registration);
    registration.init = InitPlan;
    registration.free = FreePlan;
    registration.prepare = [](TfLiteContext* c, TfLiteNode* node) {
      return WithPlan(c, node, &Plan::Prepare);
    };
    registration.invoke = [](TfLiteContext* c, TfLiteNode* node) {
      return WithPlan(c, node, &Plan::Invoke);
    };
    TakeOver(context, delegate, steps, registration);
  });
}

}  // namespace
}  // namespace larq_engine

extern "C" {

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values,
                                              size_t count, void (*report_error)(const char*)) {
  try {
    auto created = std::make_unique<larq_engine::Delegate>();
    created->engine =
        std::make_shared<larq_engine::Engine>(larq_engine::ParseEngineOptions(keys, values, count));
    TfLiteDelegate& delegate = created->delegate;
    delegate.data_ = created.get();
    delegate.Prepare = larq_engine::ClaimNodes;
    // Without AllowDynamicTensors a host prepares every node before it asks us, and fails on
    // operators that it does not know. The other flag leaves the timing of steps to our own events.
    delegate.flags =
        kTfLiteDelegateFlagsAllowDynamicTensors | kTfLiteDelegateFlagsPerOperatorProfiling;
    return &created.release()->delegate;
  } catch (const std::exception& e) {
    if (report_error != nullptr) report_error(e.what());
    return nullptr;
  }
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete &larq_engine::FromHost(delegate);
}

void larq_engine_profile_start(TfLiteDelegate* delegate) {
  larq_engine::FromHost(delegate).engine->StartProfile();
}

size_t larq_engine_profile_read(TfLiteDelegate* delegate, char* json, size_t size) {
  try {
    const std::string text = larq_engine::FromHost(delegate).engine->StopProfile();
    if (size > 0) {
      const size_t copied = std::min(text.size(), size - 1);
      std::memcpy(json, text.data(), copied);
      json[copied] = 0;
    }
    return text.size();
  } catch (const std::exception&) {  // out of memory
    if (size > 0) json[0] = 0;
    return 0;
  }
}

}  // extern "C"
