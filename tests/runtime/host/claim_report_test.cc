// Tests the texts that tell what the plug-in takes over.
#include "larq_engine/runtime/host/claim_report.h"

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

const std::vector<ReportedClaim> kClaims = {{.node = 0,
                                             .op = "ADD",
                                             .layer = "block/add",
                                             .is_claimed = true,
                                             .device = "cpu",
                                             .reason = "it is near"},
                                            {.node = 7,
                                             .op = "own\x1b[2J",
                                             .layer = "",
                                             .is_claimed = false,
                                             .device = "host",
                                             .reason = "\"far\"\n"}};

TEST(ClaimReport, LinesAreFitForATerminal) {
  EXPECT_EQ(ClaimLog(1, kClaims),
            "larq_engine: graph 1: takes over 1 of 2 operators\n"
            "larq_engine: #1/0 ADD 'block/add': cpu, because it is near\n"
            "larq_engine: #1/7 own\uFFFD[2J: host, because \"far\"\uFFFD\n");
}

TEST(ClaimReport, AGraphWhoseNumberIsNotKnownCountsAsTheMainOne) {
  EXPECT_EQ(ClaimLog(-1, std::span(kClaims).first(1)),
            "larq_engine: graph 0: takes over 1 of 1 operators\n"
            "larq_engine: #0 ADD 'block/add': cpu, because it is near\n");
}

TEST(ClaimReport, JsonHasAllGraphs) {
  EXPECT_EQ(ClaimsJson({{0, {kClaims[0]}}, {2, {kClaims[1]}}}),
            R"({"claims":[{"subgraph":0,"node":0,"claimed":true,"reason":"it is near"},)"
            R"({"subgraph":2,"node":7,"claimed":false,"reason":"\"far\"\u000a"}]})");
  EXPECT_EQ(ClaimsJson({}), R"({"claims":[]})");
}

}  // namespace
}  // namespace larq_engine
