// Tests the way from costs to a run: finds the best assignment of a network with known costs, and
// checks that it runs as predicted.
#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "gtest/gtest.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/profile.h"
#include "tests/runtime/plan/slow_network.h"

namespace larq_engine::testing {
namespace {

const std::string kDevices[] = {"cpu", "mirror"};

struct Ran {
  Outputs outputs;
  std::vector<StepProfile> operators;  // in the order of execution
  std::vector<StepProfile> transfers;
};

Ran RunProfiled(const Graph& graph, const DelegatePtr& delegate) {
  Ran ran;
  MiniHost host(graph);
  EXPECT_EQ(host.ApplyDelegate(delegate.get()), kTfLiteOk) << host.errors();
  larq_engine_profile_start(delegate.get());
  EXPECT_TRUE(RunOnce(&host, 1, 0x11, &ran.outputs)) << host.errors();
  for (const StepProfile& row : StopProfile(delegate.get())) {
    EXPECT_EQ(row.calls, 1u) << row.op << " " << row.name;
    (row.op == kTransfer ? ran.transfers : ran.operators).push_back(row);
  }
  size_t operators = ran.operators.size();  // counts those with a row; absorbed ones follow
  for (const StepProfile& row : ran.operators) operators += row.absorbed.size();
  EXPECT_EQ(operators, graph.operators.size());
  return ran;
}

void ExpectRunsAs(const SlowNetwork& network, const std::vector<size_t>& device, const Ran& ran) {
  for (const StepProfile& row : ran.operators) {
    EXPECT_EQ(row.device, kDevices[device[static_cast<size_t>(row.node)]]) << row.name;
    for (const int node : row.absorbed) {
      EXPECT_EQ(row.device, kDevices[device[static_cast<size_t>(node)]]) << row.name;
    }
  }
  using Move = std::tuple<std::string, std::string, uint64_t>;  // tensor, destination, and bytes
  std::multiset<Move> expected;
  for (const AssignTransfer& transfer : TransfersOf(network.problem(), device)) {
    const GraphTensor& tensor = network.Tensor(transfer.value);
    expected.insert({tensor.name, kDevices[transfer.device], TensorBytes(tensor)});
  }
  std::multiset<Move> found;
  for (const StepProfile& row : ran.transfers) found.insert({row.name, row.device, row.bytes});
  EXPECT_EQ(found, expected);
}

TEST(Placed, TheBestOfAllRunsAsItWasPredicted) {
  const SlowNetwork network;
  const AssignProblem& problem = network.problem();
  const size_t count = problem.ops.size();
  const Assignment best = Assign(problem.ops, problem.values, {kDevices[0], kDevices[1]});
  EXPECT_EQ(best.device, BestOfAll(problem));
  EXPECT_DOUBLE_EQ(best.seconds, SecondsOf(problem, best.device));
  const Outputs expected = RunProfiled(network.graph(), CreateDelegate({})).outputs;
  for (const size_t only : {size_t{0}, size_t{1}}) {
    SCOPED_TRACE("all on " + kDevices[only]);
    const std::vector<size_t> device(count, only);
    EXPECT_LT(best.seconds, SecondsOf(problem, device));
    const Ran ran = RunProfiled(network.graph(), network.MakePlaced(device, /*slow=*/false));
    EXPECT_EQ(ran.outputs, expected);
    ExpectRunsAs(network, device, ran);
  }
  // The network runs first with a placement, then with the engine's own choice by the same costs.
  for (const bool is_placed : {true, false}) {
    SCOPED_TRACE(is_placed ? "placed" : "chosen");
    const Ran ran = RunProfiled(network.graph(),
                                network.MakePlaced(is_placed ? best.device : std::vector<size_t>(),
                                                   /*slow=*/true));
    EXPECT_EQ(ran.outputs, expected);
    ExpectRunsAs(network, best.device, ran);
  }
}

}  // namespace
}  // namespace larq_engine::testing
