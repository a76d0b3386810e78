#include "larq_engine/runtime/ops/op_name.h"

#include "gtest/gtest.h"
#include "tests/common/error_of.h"

namespace larq_engine {
namespace {

template <typename Error>
std::string MessageOf(const Error& error) {
  return testing::ErrorOf<OpError>(
      [&] { ForOperator({.kind = "ADD", .layer = "sum", .node = 7}, [&] { throw error; }); });
}

TEST(ForOperator, ErrorsBeginWithTheOperator) {
  EXPECT_EQ(MessageOf(OpError("expected this, got that")),
            "ADD 'sum' (#7): expected this, got that");
}

// The text must suit every operator: not all of them have filters.
TEST(ForOperator, WithoutMemory) {
  const std::string expected =
      "ADD 'sum' (#7): expected memory for its constants and results, got none; free some, or the "
      "file is corrupted";
  EXPECT_EQ(MessageOf(std::bad_alloc()), expected);
  EXPECT_EQ(MessageOf(std::length_error("vector")), expected);
}

}  // namespace
}  // namespace larq_engine
