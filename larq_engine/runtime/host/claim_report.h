// Tells which operators the plug-in takes over and why: lines for people, and JSON.
#ifndef LARQ_ENGINE_RUNTIME_HOST_CLAIM_REPORT_H_
#define LARQ_ENGINE_RUNTIME_HOST_CLAIM_REPORT_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/runtime/host/claim.h"
#include "larq_engine/runtime/host/host_graph.h"
#include "larq_engine/runtime/plan/engine.h"

namespace larq_engine {

// The decision about an operator. Names are as the file has them.
struct ReportedClaim {
  int node;
  std::string op;     // kind of operator
  std::string layer;  // see LayerName
  bool is_claimed;
  std::string device;  // the devices that may compute it, or "host"
  std::string reason;
};

// Puts names to the decisions about a graph of the host's.
std::vector<ReportedClaim> ReportClaims(TfLiteContext* context, const HostGraph& graph,
                                        const ClaimGraph& facts,
                                        std::span<const ClaimReason> claims, const Engine& engine);

// Tells whether the environment variable LARQ_ENGINE_LOG_CLAIMS asks for the log. A value that is
// no switch is told on stderr.
bool IsClaimLogOn();

// Returns a line with the number of operators that are claimed, and one for each operator.
std::string ClaimLog(int subgraph, std::span<const ReportedClaim> claims);

// See larq_engine_claims_read. The map's keys are the numbers of graphs.
std::string ClaimsJson(const std::map<int, std::vector<ReportedClaim>>& claims);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_HOST_CLAIM_REPORT_H_
