#include "larq_engine/runtime/host/claim_report.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "larq_engine/runtime/json_string.h"
#include "larq_engine/runtime/ops/layer_name.h"
#include "larq_engine/runtime/printable.h"

namespace larq_engine {
namespace {

// Limits what the log quotes of a file, in bytes.
constexpr size_t kMostName = 80;
constexpr size_t kMostReason = 400;

std::string KindName(TfLiteContext* context, const HostNode& node) {
  if (node.op != nullptr) return node.op->name;
  const TfLiteRegistration& registration = *GetNode(context, node.index).registration;
  if (registration.custom_name != nullptr) return registration.custom_name;
  return "operator " + std::to_string(registration.builtin_code);
}

std::string FindLayerName(const TfLiteContext& context, const HostNode& node) {
  const auto name = [&](int tensor) -> std::string_view {
    const char* found = context.tensors[tensor].name;
    return found == nullptr ? "" : found;
  };
  const auto exists = [&](int tensor) {
    return tensor >= 0 && static_cast<size_t>(tensor) < context.tensors_size;
  };
  std::vector<std::string_view> constants;
  for (const int input : node.inputs) {
    if (exists(input) && context.tensors[input].allocation_type == kTfLiteMmapRo) {
      constants.push_back(name(input));
    }
  }
  if (node.outputs.empty() || !exists(node.outputs[0])) return "";
  return LayerName(name(node.outputs[0]), constants);
}

// Returns the devices that may compute an operator that is claimed.
std::string DevicesOf(const ClaimOperator& op, const Engine& engine) {
  const auto executors = engine.executors();
  const bool is_here = op.placed_on == PlacedOn::kCpu || op.kind == OperatorKind::kUnpacksWeights;
  if (executors.size() == 1 || is_here) return executors[0]->device();
  const bool is_there = op.placed_on == PlacedOn::kGpu ||
                        (op.kind == OperatorKind::kHosts && op.on_cpu == HostComparison::kCannot);
  if (is_there) return executors[1]->device();
  return std::string(executors[0]->device()) + " or " + executors[1]->device();
}

}  // namespace

std::vector<ReportedClaim> ReportClaims(TfLiteContext* context, const HostGraph& graph,
                                        const ClaimGraph& facts,
                                        std::span<const ClaimReason> claims, const Engine& engine) {
  std::vector<ReportedClaim> reported;
  for (size_t i = 0; i < claims.size(); ++i) {
    const HostNode& node = graph.nodes[i];
    const std::string& form = facts.operators[i].form;
    const bool is_claimed = IsClaimed(claims[i]);
    reported.push_back({.node = node.index,
                        .op = KindName(context, node),
                        .layer = FindLayerName(*context, node),
                        .is_claimed = is_claimed,
                        .device = is_claimed ? DevicesOf(facts.operators[i], engine) : "host",
                        .reason = ClaimReasonText(claims[i]) + (form.empty() ? "" : ": " + form)});
  }
  return reported;
}

bool IsClaimLogOn() {
  const char* value = std::getenv("LARQ_ENGINE_LOG_CLAIMS");
  if (value == nullptr) return false;
  const std::optional<bool> is_on = ParseSwitch(value);
  if (!is_on) {
    std::fprintf(stderr, "larq_engine: LARQ_ENGINE_LOG_CLAIMS: expected on or off, got '%s'\n",
                 Printable(value, kMostName).c_str());
  }
  return is_on.value_or(false);
}

std::string ClaimLog(int subgraph, std::span<const ReportedClaim> claims) {
  const auto count = std::count_if(claims.begin(), claims.end(),
                                   [](const ReportedClaim& claim) { return claim.is_claimed; });
  const int graph = std::max(subgraph, 0);  // of a host that does not tell it
  std::string text = "larq_engine: graph " + std::to_string(graph) + ": takes over " +
                     std::to_string(count) + " of " + std::to_string(claims.size()) +
                     " operators\n";
  for (const ReportedClaim& claim : claims) {
    text += "larq_engine: #" + GraphNode{graph, claim.node}.Text() + " " +
            Printable(claim.op, kMostName) +
            (claim.layer.empty() ? "" : " '" + Printable(claim.layer, kMostName) + "'") + ": " +
            claim.device + ", because " + Printable(claim.reason, kMostReason) + "\n";
  }
  return text;
}

std::string ClaimsJson(const std::map<int, std::vector<ReportedClaim>>& claims) {
  std::string json = "{\"claims\":[";
  for (const auto& [subgraph, operators] : claims) {
    for (const ReportedClaim& claim : operators) {
      if (json.back() == '}') json += ",";
      json += "{\"subgraph\":" + std::to_string(subgraph) +
              ",\"node\":" + std::to_string(claim.node) +
              ",\"claimed\":" + (claim.is_claimed ? "true" : "false") +
              ",\"reason\":" + JsonString(claim.reason) + "}";
    }
  }
  return json + "]}";
}

}  // namespace larq_engine
