#include "larq_engine/runtime/profile.h"

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(ProfileJson, NoSteps) { EXPECT_EQ(ProfileJson({}), "{\"steps\":[]}"); }

TEST(ProfileJson, StepsInOrderWithTheirNamesEscaped) {
  const StepProfile steps[] = {{.op = "LceQuantize",
                                .name = "a \"b\"\\c\n",
                                .layer = "a",
                                .node = 3,
                                .subgraph = 1,
                                .device = "cpu",
                                .kernel = "",
                                .calls = 2,
                                .total_ns = 1000,
                                .macs = 0},
                               {.op = "LceBconv2d",
                                .name = "conv}",
                                .layer = "\"conv\"",
                                .node = 4,
                                .device = "cpu",
                                .kernel = "bgemm",
                                .calls = 2,
                                .total_ns = 18446744073709551615u,
                                .macs = 115605504,
                                .group = 3,
                                .absorbed = {1, 2},
                                .absorbed_macs = 7}};
  EXPECT_EQ(
      ProfileJson(steps),
      "{\"steps\":[{\"op\":\"LceQuantize\",\"name\":\"a "
      "\\\"b\\\"\\\\c\\u000a\",\"layer\":\"a\",\"node\":3,"
      "\"subgraph\":1,\"device\":\"cpu\",\"kernel\":\"\",\"calls\":2,\"total_ns\":1000,\"macs\":0,"
      "\"absorbed_macs\":0,\"bytes\":0,\"reason\":\"\",\"group\":-1,\"absorbed\":[]},"
      "{\"op\":\"LceBconv2d\",\"name\":\"conv}\",\"layer\":\"\\\"conv\\\"\",\"node\":4,"
      "\"subgraph\":-1,\"device\":\"cpu\",\"kernel\":\"bgemm\",\"calls\":2,"
      "\"total_ns\":18446744073709551615,\"macs\":115605504,"
      "\"absorbed_macs\":7,\"bytes\":0,\"reason\":\"\",\"group\":3,\"absorbed\":[1,2]}]}");
}

}  // namespace
}  // namespace larq_engine
