// Tests what is read of a host's graphs, without any graph.
#include "larq_engine/runtime/host/host_graph.h"

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

// The graphs of one model, and which of them delegates have acquired.
TfLiteContext g_graphs[3];
bool g_acquired[3];
int g_looked_at;

TfLiteStatus Acquire(TfLiteContext*, int index, TfLiteContext** graph) {
  ++g_looked_at;
  if (index >= 3) return kTfLiteError;
  g_acquired[index] = true;
  *graph = &g_graphs[index];
  return kTfLiteOk;
}

TfLiteStatus Release(TfLiteContext*, int index) {
  g_acquired[index] = false;
  return kTfLiteOk;
}

class SubgraphNumberTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (TfLiteContext& graph : g_graphs) {
      graph = {};
      graph.AcquireSubgraphContext = Acquire;
      graph.ReleaseSubgraphContext = Release;
    }
  }
};

TEST_F(SubgraphNumberTest, IsFoundAndOnlyTheGraphAtHandStaysOpen) {
  for (int number = 0; number < 3; ++number) {
    for (int guess = 0; guess < 4; ++guess) {
      for (int i = 0; i < 3; ++i) g_acquired[i] = i == number;
      EXPECT_EQ(SubgraphNumber(&g_graphs[number], guess), number);
      for (int i = 0; i < 3; ++i) EXPECT_EQ(g_acquired[i], i == number) << i;
    }
  }
}

// Hosts ask for one graph after the other, so each search begins where the last ended.
TEST_F(SubgraphNumberTest, IsFoundAtOnceNextToTheGuess) {
  g_looked_at = 0;
  SubgraphNumber(&g_graphs[2], 1);
  EXPECT_EQ(g_looked_at, 2);
}

TEST_F(SubgraphNumberTest, IsNotKnownWhereTheHostDoesNotTell) {
  TfLiteContext other = g_graphs[0];
  EXPECT_EQ(SubgraphNumber(&other, 0), -1);
  other.AcquireSubgraphContext = nullptr;
  EXPECT_EQ(SubgraphNumber(&other, 1), -1);
}

}  // namespace
}  // namespace larq_engine
