// The external delegate: claims our operators in the host's graph, and the host's own between them,
// and runs each connected set as a plan.
#include "larq_engine/runtime/host/delegate.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/runtime/c_calls.h"
#include "larq_engine/runtime/executors.h"
#include "larq_engine/runtime/host/claim.h"
#include "larq_engine/runtime/host/claim_facts.h"
#include "larq_engine/runtime/host/claim_report.h"
#include "larq_engine/runtime/host/graph_check.h"
#include "larq_engine/runtime/host/host_calls.h"
#include "larq_engine/runtime/host/placement_check.h"
#include "larq_engine/runtime/host/plan_node.h"
#include "larq_engine/runtime/host/unpacked_weights.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/plan/engine.h"

namespace larq_engine {
namespace {

// The object behind a host's delegate. `delegate` comes first, so that a pointer to it is also a
// pointer to this.
struct Delegate {
  TfLiteDelegate delegate = {};
  void* reserve[8] = {};  // zeros for the fields that a newer host may expect at the end
  std::shared_ptr<Engine> engine;
  EngineOptions options;              // options of the engine
  std::atomic<int> last_subgraph{0};  // hosts ask for the graphs in order
  std::mutex mutex;               // guards the fields below: interpreters may be in several threads
  std::set<int> host_reads = {};  // tensors of the main graph that the host's operators read
  std::map<int, std::vector<ReportedClaim>> claims = {};  // of the graphs that were read last
  std::string placement_text = {};                  // text in the model file that was read last
  std::shared_ptr<const Placement> placement = {};  // what it says, shared by the plans
};

// Returns the options' placement or, if they have none, that of the model's file.
std::shared_ptr<const Placement> FindPlacement(TfLiteContext* context, Delegate& delegate) {
  const EngineOptions& options = delegate.options;
  const char* text = nullptr;
  size_t size = 0;
  if (options.placement || context->GetModelMetadata == nullptr ||
      context->GetModelMetadata(context, "larq_engine.placement", &text, &size) != kTfLiteOk) {
    return delegate.engine->placement();
  }
  const std::string_view found(text, size);
  const std::lock_guard<std::mutex> lock(delegate.mutex);
  if (delegate.placement == nullptr || delegate.placement_text != found) {
    delegate.placement = std::make_shared<const Placement>(
        MakePlacement(ParsePlacement(found, "the model's placement", options.device),
                      options.device, delegate.engine->executors()));
    delegate.placement_text = found;
  }
  return delegate.placement;
}

Delegate& FromHost(TfLiteDelegate* delegate) { return *static_cast<Delegate*>(delegate->data_); }

void* InitPlan(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  PlanNode* plan = nullptr;
  ReportingErrors(context, [&] {
    std::vector<HostNode> nodes;
    for (int index : AsSpan(params.nodes_to_replace)) nodes.push_back(ReadNode(context, index));
    const std::span<const int> outputs = AsSpan(params.output_tensors);
    Delegate& delegate = FromHost(params.delegate);
    const int subgraph = SubgraphNumber(context, delegate.last_subgraph);
    plan = new PlanNode(delegate.engine, FindPlacement(context, delegate), subgraph,
                        std::move(nodes), std::set<int>(outputs.begin(), outputs.end()));
  });
  return plan;
}

void FreePlan(TfLiteContext*, void* plan) { delete static_cast<PlanNode*>(plan); }

TfLiteStatus WithPlan(TfLiteContext* context, TfLiteNode* node,
                      void (PlanNode::*method)(TfLiteContext*)) {
  auto* plan = static_cast<PlanNode*>(node->user_data);
  if (plan == nullptr) return kTfLiteError;  // InitPlan has reported it
  return ReportingErrors(context, [&] { (plan->*method)(context); });
}

// The kernel of unpacked weights. The results exist as soon as the node is made, so a run has
// nothing to do.
using WeightsList = std::vector<std::unique_ptr<UnpackedWeights>>;

void* InitWeights(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  std::unique_ptr<WeightsList> weights;
  const TfLiteStatus status = ReportingErrors(context, [&] {
    weights = std::make_unique<WeightsList>();
    for (int index : AsSpan(params.nodes_to_replace)) {
      weights->push_back(std::make_unique<UnpackedWeights>(context, ReadNode(context, index)));
    }
  });
  return status == kTfLiteOk ? weights.release() : nullptr;
}

void FreeWeights(TfLiteContext*, void* weights) { delete static_cast<WeightsList*>(weights); }

TfLiteStatus CheckWeights(TfLiteContext*, TfLiteNode* node) {
  return node->user_data == nullptr ? kTfLiteError : kTfLiteOk;  // InitWeights has reported it
}

// Throws if operators that stay with the host read the tensor.
void GiveInput(Delegate& delegate, int tensor, const GivenInput& input) {
  const std::lock_guard<std::mutex> lock(delegate.mutex);
  if (input.data != nullptr && delegate.host_reads.contains(tensor)) {
    throw std::runtime_error(
        input.is_on_device
            ? "expected data in the host's memory, because an operator that stays with the host "
              "reads them, got a device's; copy them to the host"
            : "expected data in the host's tensor, because an operator that stays with the host "
              "reads them");
  }
  delegate.engine->GiveInput(tensor, input);
}

// Returns 0, or 1 with the reason in `error`.
int TryToGiveInput(TfLiteDelegate* delegate, int tensor, const void* data, size_t bytes,
                   bool is_on_device, char* error, size_t error_size) {
  return ReturningErrors(error, error_size, [&] {
    GiveInput(FromHost(delegate), tensor,
              {static_cast<const std::byte*>(data), bytes, is_on_device});
  });
}

void TakeOver(TfLiteContext* context, TfLiteDelegate* delegate, const std::vector<int>& indices,
              TfLiteRegistration registration) {
  if (indices.empty()) return;
  const IntArrayPtr nodes = MakeIntArray(indices);
  if (nodes == nullptr) throw std::bad_alloc();
  registration.builtin_code = builtin::kDelegate;
  registration.custom_name = "larq_engine";
  registration.version = 1;
  if (context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes.get(),
                                                     delegate) != kTfLiteOk) {
    throw std::runtime_error("larq_engine: the host refused to hand over the operators");
  }
}

// Returns the numbers of nodes whose weights are unpacked into constants.
std::vector<int> NodesToUnpack(const HostGraph& graph, std::span<const ClaimReason> claims) {
  std::vector<int> nodes;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i] == ClaimReason::kUnpacksWeights) nodes.push_back(graph.nodes[i].index);
  }
  return nodes;
}

// Returns the numbers of the other nodes that are claimed.
std::vector<int> NodesOfPlans(const HostGraph& graph, std::span<const ClaimReason> claims) {
  std::vector<int> nodes;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (!IsClaimed(claims[i]) || claims[i] == ClaimReason::kUnpacksWeights) continue;
    nodes.push_back(graph.nodes[i].index);
  }
  return nodes;
}

std::set<int> FindHostReads(const HostGraph& graph, std::span<const int> plans) {
  const std::set<int> taken(plans.begin(), plans.end());
  std::set<int> reads;
  for (const HostNode& node : graph.nodes) {
    if (!taken.contains(node.index)) reads.insert(node.inputs.begin(), node.inputs.end());
  }
  return reads;
}

// Makes it impossible to prepare any of the nodes. A host whose delegate fails goes back to the
// graph without it and prepares the operators, and illegal ones crash it.
void Forbid(TfLiteContext* context, std::span<const int> nodes) {
  for (const int index : nodes) {
    GetNode(context, index).registration->prepare = [](TfLiteContext*, TfLiteNode*) {
      return kTfLiteError;
    };
  }
}

// Keeps the decisions about a graph for those who ask for them, and logs them.
void Report(Delegate& delegate, int subgraph, std::vector<ReportedClaim> claims) {
  if (IsClaimLogOn()) std::fputs(ClaimLog(subgraph, claims).c_str(), stderr);
  const std::lock_guard<std::mutex> lock(delegate.mutex);
  if (subgraph == 0) delegate.claims.clear();  // those of a model before
  delegate.claims[subgraph] = std::move(claims);
}

// Throws std::invalid_argument if the placement cannot be met.
void CheckPlaceable(TfLiteContext* context, const Placement& placement, int subgraph,
                    const HostGraph& graph, const ClaimGraph& facts, bool fuse,
                    std::span<const int> taken) {
  const std::vector<int> known =
      NodesOfPlans(graph, DecideClaims(WithAllPlaceable(facts), {.fuse = fuse, .has_gpu = true}));
  PlaceableNodes nodes{
      .hosts = {}, .known = {known.begin(), known.end()}, .taken = {taken.begin(), taken.end()}};
  for (const HostNode& node : graph.nodes) {
    if (node.op == nullptr || !node.op->is_ours()) nodes.hosts.insert(node.index);
  }
  CheckPlacement(placement, subgraph, nodes);
  if (subgraph == 0) CheckPlacedSubgraphs(placement, context);
}

TfLiteStatus ClaimNodes(TfLiteContext* context, TfLiteDelegate* delegate) {
  return ReportingErrors(context, [&] {
    TfLiteIntArray* order = nullptr;
    if (context->GetExecutionPlan(context, &order) != kTfLiteOk) {
      throw std::runtime_error("larq_engine: the host gives no execution plan");
    }
    try {
      CheckGraph(context, AsSpan(order));
    } catch (const std::exception&) {
      Forbid(context, AsSpan(order));
      throw;
    }
    const HostGraph graph = ReadGraph(context, AsSpan(order));
    Delegate& own = FromHost(delegate);
    const int subgraph = SubgraphNumber(context, own.last_subgraph);
    own.last_subgraph = std::max(subgraph, 0);
    const Engine& engine = *own.engine;
    const std::shared_ptr<const Placement> placement = FindPlacement(context, own);
    const ClaimGraph facts = ReadClaimFacts(*context, graph, engine, *placement, subgraph);
    const std::vector<ClaimReason> claims =
        DecideClaims(facts, {.fuse = engine.fuse(), .has_gpu = engine.executors().size() > 1});
    const std::vector<int> weights = NodesToUnpack(graph, claims);
    const std::vector<int> plans = NodesOfPlans(graph, claims);
    if (subgraph >= 0 && !placement->nodes.empty()) {  // the host tells the graph's number
      CheckPlaceable(context, *placement, subgraph, graph, facts, engine.fuse(), plans);
    }
    Report(own, own.last_subgraph, ReportClaims(context, graph, facts, claims, engine));
    if (subgraph <= 0) {
      const std::lock_guard<std::mutex> lock(own.mutex);
      own.host_reads.merge(FindHostReads(graph, plans));
    }
    // `order` belongs to the host and is invalid after the first call; the nodes keep their
    // numbers.
    TfLiteRegistration registration = {};
    registration.init = InitWeights;
    registration.free = FreeWeights;
    registration.prepare = registration.invoke = CheckWeights;
    TakeOver(context, delegate, weights, registration);
    registration.init = InitPlan;
    registration.free = FreePlan;
    registration.prepare = [](TfLiteContext* c, TfLiteNode* node) {
      return WithPlan(c, node, &PlanNode::Prepare);
    };
    registration.invoke = [](TfLiteContext* c, TfLiteNode* node) {
      return WithPlan(c, node, &PlanNode::Invoke);
    };
    TakeOver(context, delegate, plans, registration);
  });
}

}  // namespace

TfLiteDelegate* MakeDelegate(std::shared_ptr<Engine> engine, EngineOptions options) {
  auto created = std::make_unique<Delegate>();
  created->engine = std::move(engine);
  created->options = std::move(options);
  TfLiteDelegate& delegate = created->delegate;
  delegate.data_ = created.get();
  delegate.Prepare = ClaimNodes;
  // Without AllowDynamicTensors a host prepares every node before it asks us, and fails on
  // operators that it does not know. The other flag leaves the timing of steps to our own events.
  delegate.flags =
      kTfLiteDelegateFlagsAllowDynamicTensors | kTfLiteDelegateFlagsPerOperatorProfiling;
  return &created.release()->delegate;
}

std::vector<MemoryReport> ReadMemory(TfLiteDelegate* delegate) {
  return FromHost(delegate).engine->Memory();
}

std::string ReadClaims(TfLiteDelegate* delegate) {
  Delegate& own = FromHost(delegate);
  const std::lock_guard<std::mutex> lock(own.mutex);
  return ClaimsJson(own.claims);
}

std::vector<StepProfile> StopProfile(TfLiteDelegate* delegate) {
  return FromHost(delegate).engine->StopProfile();
}

}  // namespace larq_engine

extern "C" {

TfLiteDelegate* tflite_plugin_create_delegate(const char* const* keys, const char* const* values,
                                              size_t count, void (*report_error)(const char*)) {
  try {
    const larq_engine::EngineOptions options = larq_engine::ParseEngineOptions(keys, values, count);
    return larq_engine::MakeDelegate(larq_engine::MakeEngine(options), options);
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
  return larq_engine::WriteText(
      json, size, [&] { return larq_engine::ProfileJson(larq_engine::StopProfile(delegate)); });
}

size_t larq_engine_memory_read(TfLiteDelegate* delegate, char* json, size_t size) {
  return larq_engine::WriteText(
      json, size, [&] { return larq_engine::MemoryJson(larq_engine::ReadMemory(delegate)); });
}

size_t larq_engine_claims_read(TfLiteDelegate* delegate, char* json, size_t size) {
  return larq_engine::WriteText(json, size, [&] { return larq_engine::ReadClaims(delegate); });
}

int larq_engine_set_device_input(TfLiteDelegate* delegate, int tensor, const void* data,
                                 size_t bytes, char* error, size_t error_size) {
  return larq_engine::TryToGiveInput(delegate, tensor, data, bytes, /*is_on_device=*/true, error,
                                     error_size);
}

int larq_engine_set_host_input(TfLiteDelegate* delegate, int tensor, const void* data, size_t bytes,
                               char* error, size_t error_size) {
  return larq_engine::TryToGiveInput(delegate, tensor, data, bytes, /*is_on_device=*/false, error,
                                     error_size);
}

}  // extern "C"
