// Tests which operators the plug-in takes over, and for which reasons, without any host.
#include "larq_engine/runtime/host/claim.h"

#include <algorithm>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "larq_engine/runtime/host/claim_facts.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using enum ClaimReason;
using Reasons = std::vector<ClaimReason>;

constexpr ClaimOptions kCpuOnly = {};
constexpr ClaimOptions kWithGpu = {.has_gpu = true};
constexpr ClaimOptions kUnfused = {.fuse = false};

ClaimOperator Ours(std::vector<int> inputs, int output) {
  return {.kind = OperatorKind::kOurs, .inputs = std::move(inputs), .outputs = {output}};
}

ClaimOperator Unknown(std::vector<int> inputs, int output) {
  return {.inputs = std::move(inputs), .outputs = {output}};
}

ClaimOperator UnpackedWeights(std::vector<int> inputs, int output) {
  return {.kind = OperatorKind::kUnpacksWeights, .inputs = std::move(inputs), .outputs = {output}};
}

// Makes an operator of the host that all devices compute.
ClaimOperator Hosts(std::vector<int> inputs, int output) {
  return {.kind = OperatorKind::kHosts,
          .inputs = std::move(inputs),
          .outputs = {output},
          .is_form_computed = true,
          .on_cpu = HostComparison::kAsFast,
          .on_gpu = HostComparison::kAsFast};
}

ClaimOperator OnCpu(ClaimOperator op, HostComparison comparison) {
  op.on_cpu = comparison;
  return op;
}

ClaimOperator OnGpu(ClaimOperator op, HostComparison comparison) {
  op.on_gpu = comparison;
  return op;
}

ClaimOperator Placed(ClaimOperator op, PlacedOn place) {
  op.placed_on = place;
  return op;
}

ClaimOperator MustBeRead(ClaimOperator op) {
  op.must_be_read = true;
  return op;
}

// Decides about a graph whose tensors are all computed.
Reasons Decide(std::vector<ClaimOperator> operators, const ClaimOptions& options = kCpuOnly) {
  return DecideClaims({.operators = std::move(operators), .is_constant = {}}, options);
}

TEST(Claim, OursAreTakenAndUnknownOnesStay) {
  for (const ClaimOptions& options : {kCpuOnly, kWithGpu, kUnfused}) {
    EXPECT_EQ(Decide({Unknown({0}, 1), Ours({1}, 2), Unknown({2}, 3)}, options),
              Reasons({kUnknown, kOurs, kUnknown}));
  }
}

TEST(Claim, NeighboursAreTakenInBothDirectionsHoweverFar) {
  EXPECT_EQ(Decide({Hosts({0}, 1), Hosts({1}, 2), Ours({2}, 3), Hosts({3}, 4), Hosts({4}, 5)}),
            Reasons({kBesideOurs, kBesideOurs, kOurs, kBesideOurs, kBesideOurs}));
  EXPECT_EQ(Decide({Ours({0}, 1), Hosts({1}, 2), Hosts({9, 2}, 3), Hosts({8}, 9), Hosts({8}, 7)}),
            Reasons({kOurs, kBesideOurs, kBesideOurs, kBesideOurs, kNotBesideOurs}))
      << "operators that only read the same tensor are no neighbours";
}

TEST(Claim, UnknownOperatorsSeparateNeighbours) {
  EXPECT_EQ(Decide({Hosts({0}, 1), Unknown({1}, 2), Ours({2}, 3)}),
            Reasons({kNotBesideOurs, kUnknown, kOurs}));
}

TEST(Claim, WithoutFusingNeighboursStay) {
  EXPECT_EQ(Decide({Ours({0}, 1), Hosts({1}, 2)}, kUnfused), Reasons({kOurs, kFuseIsOff}));
  EXPECT_EQ(Decide({OnCpu(Hosts({0}, 1), HostComparison::kFaster)}, kUnfused),
            Reasons({kFuseIsOff}));
}

TEST(Claim, AFormThatIsNotComputedStaysWhateverElseHolds) {
  for (const PlacedOn place :
       {PlacedOn::kNowhere, PlacedOn::kHost, PlacedOn::kCpu, PlacedOn::kGpu}) {
    ClaimOperator op = Placed(Hosts({1}, 2), place);
    op.is_form_computed = false;
    for (const ClaimOptions& options : {kCpuOnly, kWithGpu, kUnfused}) {
      EXPECT_EQ(Decide({Ours({0}, 1), op, Ours({2}, 3)}, options),
                Reasons({kOurs, kFormNotComputed, kOurs}));
    }
  }
}

TEST(Claim, OnTheCpuSomeMustBeRead) {
  const ClaimOperator last = MustBeRead(Hosts({1}, 2));
  EXPECT_EQ(Decide({Ours({0}, 1), last}), Reasons({kOurs, kResultNotRead}));
  EXPECT_EQ(Decide({Ours({0}, 1), last}, kWithGpu), Reasons({kOurs, kBesideOurs}));
  EXPECT_EQ(Decide({Ours({0}, 1), last, Ours({2}, 3)}), Reasons({kOurs, kBesideOurs, kOurs}));
  // A gate: what reads the result need not be ours.
  EXPECT_EQ(Decide({Ours({0}, 1), last, Hosts({1, 2}, 3)}),
            Reasons({kOurs, kBesideOurs, kBesideOurs}));
}

TEST(Claim, TheDeviceMustComputeIt) {
  const ClaimOperator for_gpus = OnCpu(Hosts({1}, 2), HostComparison::kCannot);
  EXPECT_EQ(Decide({Ours({0}, 1), for_gpus}), Reasons({kOurs, kForGpusOnly}));
  EXPECT_EQ(Decide({Ours({0}, 1), for_gpus}, kWithGpu), Reasons({kOurs, kBesideOurs}));
  const ClaimOperator for_cpus =
      OnGpu(OnCpu(Hosts({1}, 2), HostComparison::kFaster), HostComparison::kCannot);
  EXPECT_EQ(Decide({Ours({0}, 1), for_cpus}), Reasons({kOurs, kFasterThanHost}));
  EXPECT_EQ(Decide({Ours({0}, 1), for_cpus}, kWithGpu), Reasons({kOurs, kNotForGpus}));
}

TEST(Claim, TheHostKeepsWhatItComputesFaster) {
  const ClaimOperator slower = OnCpu(Hosts({1}, 2), HostComparison::kSlower);
  EXPECT_EQ(Decide({Ours({0}, 1), slower}), Reasons({kOurs, kHostIsFaster}));
  EXPECT_EQ(Decide({Ours({0}, 1), slower}, kWithGpu), Reasons({kOurs, kBesideOurs}));
}

TEST(Claim, WhatIsFasterIsTakenAloneAndBringsNeighbours) {
  EXPECT_EQ(Decide({Hosts({0}, 1), OnCpu(Hosts({1}, 2), HostComparison::kFaster), Hosts({8}, 9)}),
            Reasons({kBesideOurs, kFasterThanHost, kNotBesideOurs}));
}

TEST(Claim, APlacementDecidesBeforeSpeedAndNeighbours) {
  const ClaimOperator slower = OnCpu(Hosts({1}, 2), HostComparison::kSlower);
  EXPECT_EQ(Decide({Ours({0}, 1), Placed(Hosts({1}, 2), PlacedOn::kHost), Ours({2}, 3)}),
            Reasons({kOurs, kPlacedOnHost, kOurs}));
  EXPECT_EQ(Decide({Placed(slower, PlacedOn::kCpu), Hosts({2}, 3)}),
            Reasons({kPlaced, kBesideOurs}));
  EXPECT_EQ(Decide({Placed(slower, PlacedOn::kCpu), Hosts({2}, 3)}, kUnfused),
            Reasons({kPlaced, kFuseIsOff}));
  // A GPU that is asked for what it does not compute says so when plans are made.
  EXPECT_EQ(
      Decide({Placed(OnGpu(Hosts({0}, 1), HostComparison::kCannot), PlacedOn::kGpu)}, kWithGpu),
      Reasons({kPlaced}));
  const ClaimOperator on_cpu =
      Placed(OnCpu(Hosts({1}, 2), HostComparison::kCannot), PlacedOn::kCpu);
  for (const ClaimOptions& options : {kCpuOnly, kWithGpu}) {
    EXPECT_EQ(Decide({Ours({0}, 1), on_cpu}, options), Reasons({kOurs, kPlacedOnCpu}));
  }
}

TEST(Claim, OursAreTakenWhereverTheyArePlaced) {
  EXPECT_EQ(Decide({Placed(Ours({0}, 1), PlacedOn::kHost)}), Reasons({kOurs}));
}

TEST(Claim, WhatReadsUnpackedWeightsStays) {
  const std::vector<bool> is_constant = {true, false, false, false, false, false};
  ClaimOperator dense = Hosts({2, 1}, 3);
  const auto decide = [&](const ClaimOperator& op, const ClaimOptions& options = kCpuOnly) {
    return DecideClaims(
        {.operators = {UnpackedWeights({0}, 1), op, Ours({3}, 4)}, .is_constant = is_constant},
        options);
  };
  EXPECT_EQ(decide(dense), Reasons({kUnpacksWeights, kReadsFixedTensor, kOurs}));
  EXPECT_EQ(decide(Placed(dense, PlacedOn::kCpu)),
            Reasons({kUnpacksWeights, kReadsFixedTensor, kOurs}));
  dense.reads_weight_bits = true;
  EXPECT_EQ(decide(dense), Reasons({kUnpacksWeights, kBesideOurs, kOurs}));
  dense.inputs = {1, 1};
  EXPECT_EQ(decide(dense), Reasons({kUnpacksWeights, kReadsFixedTensor, kOurs}));
}

TEST(Claim, FixedTensorsAreFollowed) {
  // Tensor 0 is in the file, and so is what an operator without inputs makes.
  const ClaimGraph graph = {
      .operators = {Unknown({0, kTfLiteOptionalTensor}, 1), Unknown({}, 2), Hosts({1, 2}, 3),
                    Hosts({3, 5}, 4), Hosts({5, 0}, 6), Ours({4}, 7), Ours({6}, 8)},
      .is_constant = {true}};
  EXPECT_EQ(DecideClaims(graph, kCpuOnly), Reasons({kUnknown, kUnknown, kReadsFixedTensor,
                                                    kReadsFixedTensor, kBesideOurs, kOurs, kOurs}));
}

TEST(Claim, UnpackedWeightsBringNoNeighbours) {
  EXPECT_EQ(Decide({Hosts({0}, 1), UnpackedWeights({1}, 2), Hosts({2}, 3)}),
            Reasons({kNotBesideOurs, kUnpacksWeights, kNotBesideOurs}));
}

TEST(Claim, EachReasonHasATextOfItsOwn) {
  std::set<std::string> texts;
  size_t claimed = 0;
  const auto reasons = static_cast<size_t>(kResultNotRead) + 1;
  for (size_t i = 0; i < reasons; ++i) {
    texts.insert(ClaimReasonText(static_cast<ClaimReason>(i)));
    claimed += IsClaimed(static_cast<ClaimReason>(i)) ? 1 : 0;
  }
  EXPECT_EQ(texts.size(), reasons);
  EXPECT_FALSE(texts.contains(""));
  EXPECT_EQ(claimed, 5u);
}

// Takes operators that can be taken until no more have a neighbour that is taken.
std::vector<bool> TakeStepByStep(const std::vector<ClaimOperator>& operators) {
  std::vector<bool> taken(operators.size());
  const auto share = [](const std::vector<int>& made, const std::vector<int>& read) {
    return std::ranges::find_first_of(made, read) != made.end();
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t i = 0; i < operators.size(); ++i) {
      const ClaimOperator& op = operators[i];
      bool takes = op.kind == OperatorKind::kOurs;
      for (size_t j = 0; op.kind == OperatorKind::kHosts && j < operators.size(); ++j) {
        const ClaimOperator& other = operators[j];
        takes = takes || (taken[j] && share(op.outputs, other.inputs)) ||
                (taken[j] && !op.must_be_read && share(other.outputs, op.inputs));
      }
      grows = grows || (takes && !taken[i]);
      taken[i] = taken[i] || takes;
    }
  }
  return taken;
}

TEST(Claim, AnyGraphIsFollowedToItsEnds) {
  SCOPED_TRACE(testing::ReplayHint());
  testing::Random random;
  for (int round = 0; round < 1000; ++round) {
    std::vector<ClaimOperator> operators;
    // All operators read tensor 0 or later ones, which operators make, so none is fixed.
    for (int i = 1, count = static_cast<int>(random.Int(1, 12)); i <= count; ++i) {
      const std::vector<int> inputs = {static_cast<int>(random.Int(0, i - 1)),
                                       static_cast<int>(random.Int(0, i - 1))};
      const int64_t kind = random.Int(0, 8);
      operators.push_back(kind == 0   ? Ours(inputs, i)
                          : kind == 1 ? Unknown(inputs, i)
                          : kind < 4  ? MustBeRead(Hosts(inputs, i))
                                      : Hosts(inputs, i));
    }
    const Reasons reasons = Decide(operators);
    std::vector<bool> taken;
    for (const ClaimReason reason : reasons) taken.push_back(IsClaimed(reason));
    ASSERT_EQ(taken, TakeStepByStep(operators));
  }
}

TEST(ClaimFacts, APlacementMayNameWhatOnlyAGpuComputes) {
  const ClaimOperator on_cpu =
      Placed(OnCpu(Hosts({0}, 1), HostComparison::kCannot), PlacedOn::kCpu);
  const ClaimGraph graph = {.operators = {on_cpu, Placed(Unknown({1}, 2), PlacedOn::kCpu)},
                            .is_constant = {}};
  EXPECT_EQ(DecideClaims(graph, kUnfused), Reasons({kPlacedOnCpu, kUnknown}));
  EXPECT_EQ(DecideClaims(WithAllPlaceable(graph), {.fuse = false, .has_gpu = true}),
            Reasons({kPlaced, kUnknown}));
}

}  // namespace
}  // namespace larq_engine
