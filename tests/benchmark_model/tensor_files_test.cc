#include "larq_engine/benchmark_model/tensor_files.h"

#include "gtest/gtest.h"
#include "larq_engine/benchmark_model/errors.h"

namespace larq_engine {
namespace {

const std::vector<std::string> kNames = {"x", "x:0", "mask"};

std::vector<TensorFile> Match(std::vector<std::string> pairs) {
  return MatchTensorFiles(pairs, kNames, "check");
}

std::string ErrorOf(std::vector<std::string> pairs) {
  try {
    Match(std::move(pairs));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TensorFiles, ByNameAndByNumber) {
  const std::vector<TensorFile> files = Match({"mask:a.bin", "0:/tmp/b:c"});
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].tensor, 2u);
  EXPECT_EQ(files[0].path, "a.bin");
  EXPECT_EQ(files[1].tensor, 0u);
  EXPECT_EQ(files[1].path, "/tmp/b:c");
}

TEST(TensorFiles, TheLongestNameThatFits) {
  EXPECT_EQ(Match({"x:0:a.bin"})[0].tensor, 1u);
  EXPECT_EQ(Match({"x:a.bin"})[0].tensor, 0u);
}

TEST(TensorFiles, WhatIsRefused) {
  EXPECT_EQ(ErrorOf({"y:a.bin"}),
            "--check: expected a tensor out of 0 'x', 1 'x:0', 2 'mask', got 'y:a.bin'");
  EXPECT_EQ(ErrorOf({"3:a.bin"}),
            "--check: expected a tensor out of 0 'x', 1 'x:0', 2 'mask', got '3:a.bin'");
  EXPECT_EQ(ErrorOf({"2:a", "mask:b"}),
            "--check: expected one file for each tensor, got two of 'mask'");
}

}  // namespace
}  // namespace larq_engine
