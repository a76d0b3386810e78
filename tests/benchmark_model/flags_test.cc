#include "larq_engine/benchmark_model/flags.h"

#include "gtest/gtest.h"
#include "larq_engine/benchmark_model/errors.h"

namespace larq_engine {
namespace {

Flags Parse(std::vector<const char*> arguments) { return ParseFlags(arguments); }

std::string ErrorOf(std::vector<const char*> arguments) {
  try {
    ParseFlags(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Flags, Defaults) {
  const Flags flags = Parse({"--graph=a.tflite"});
  EXPECT_EQ(flags.graph, "a.tflite");
  EXPECT_EQ(flags.num_threads, 1);
  EXPECT_EQ(flags.num_runs, 50);
  EXPECT_EQ(flags.kernel, "auto");
  EXPECT_EQ(flags.device, "cpu");
  EXPECT_EQ(flags.placement, "");
  EXPECT_TRUE(flags.fuse);
  EXPECT_FALSE(flags.enable_op_profiling);
  EXPECT_EQ(flags.check_tolerance, 0);
}

TEST(Flags, ValueAfterAnEqualsSignOrAfterASpace) {
  const Flags flags = Parse({"--graph", "a=b.tflite", "--num_runs=3", "--min_secs", "0.25",
                             "--litert=x/libLiteRt.so", "--device=cuda:1", "--kernel", "reference",
                             "--placement=3:cpu,7:cuda"});
  EXPECT_EQ(flags.graph, "a=b.tflite");
  EXPECT_EQ(flags.num_runs, 3);
  EXPECT_EQ(flags.min_secs, 0.25);
  EXPECT_EQ(flags.litert, "x/libLiteRt.so");
  EXPECT_EQ(flags.kernel, "reference");
  EXPECT_EQ(flags.device, "cuda:1");
  EXPECT_EQ(flags.placement, "3:cpu,7:cuda");
}

TEST(Flags, SwitchesTakeNoValueFromTheNextArgument) {
  const Flags flags = Parse({"--enable_op_profiling", "--fuse=false", "--graph=a"});
  EXPECT_TRUE(flags.enable_op_profiling);
  EXPECT_FALSE(flags.fuse);
  EXPECT_FALSE(Parse({"--enable_op_profiling=false", "--graph=a"}).enable_op_profiling);
}

TEST(Flags, WhoeverNamesALibraryWantsIt) {
  EXPECT_EQ(Parse({"--graph=a"}).host, HostChoice::kDefault);
  EXPECT_EQ(Parse({"--graph=a", "--host=none"}).host, HostChoice::kNone);
  EXPECT_EQ(Parse({"--graph=a", "--litert=b"}).host, HostChoice::kLiteRt);
  EXPECT_EQ(Parse({"--graph=a", "--litert=b", "--host=auto"}).host, HostChoice::kAuto);
}

TEST(Flags, ListsOfFiles) {
  const std::vector<std::string> expected = {"serving_default_x:0:a.bin", "1:b.bin"};
  EXPECT_EQ(Parse({"--graph=a", "--check=serving_default_x:0:a.bin,1:b.bin"}).check, expected);
}

TEST(Flags, HelpAndListNeedNoGraph) {
  EXPECT_TRUE(Parse({"--help"}).help);
  EXPECT_TRUE(Parse({"--list_kernels"}).list_kernels);
  EXPECT_EQ(ErrorOf({}), "--graph: expected the path of a .tflite file, got none; see --help");
}

TEST(Flags, HelpHasEveryFlag) {
  for (const char* flag : {"--graph=", "--litert=", "--num_runs=", "--check=", "--help"}) {
    EXPECT_NE(HelpText().find(flag), std::string::npos) << flag;
  }
}

TEST(Flags, WhatCannotBeMeant) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"--grahp=a"}, "expected a flag of --help, got '--grahp=a'"},
      {{"--=a"}, "expected a flag of --help, got '--=a'"},
      {{"--"}, "expected a flag of --help, got '--'"},
      {{"-h"}, "expected --flag=value, got '-h'"},
      {{"a.tflite"}, "expected --flag=value, got 'a.tflite'"},
      {{"--graph"}, "--graph: expected a value after it, got none"},
      {{"--graph="}, "--graph: expected a value, got ''"},
      {{"--num_threads=0"}, "--num_threads: expected a whole number from 1 to 256, got '0'"},
      {{"--num_threads=2x"}, "--num_threads: expected a whole number from 1 to 256, got '2x'"},
      {{"--num_threads=4294967297"},
       "--num_threads: expected a whole number from 1 to 256, got '4294967297'"},
      {{"--min_secs=-1"}, "--min_secs: expected a number from 0 to 1000000, got '-1'"},
      {{"--min_secs=nan"}, "--min_secs: expected a number from 0 to 1000000, got 'nan'"},
      {{"--min_secs="}, "--min_secs: expected a number from 0 to 1000000, got ''"},
      {{"--check_tolerance=-0.1"},
       "--check_tolerance: expected a number of at least 0, got '-0.1'"},
      {{"--device="}, "--device: expected a value, got ''"},
      {{"--fuse=yes"}, "--fuse: expected on or off (true or false, 1 or 0), got 'yes'"},
      {{"--check=a.bin"},
       "--check: expected tensor:path, by name or number, separated by commas, got 'a.bin'"},
      {{"--check=0:a,"},
       "--check: expected tensor:path, by name or number, separated by commas, got '0:a,'"},
  };
  for (const auto& [arguments, message] : cases) EXPECT_EQ(ErrorOf(arguments), message);
}

}  // namespace
}  // namespace larq_engine
