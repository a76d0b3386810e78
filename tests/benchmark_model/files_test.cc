#include "larq_engine/benchmark_model/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "larq_engine/benchmark_model/errors.h"

namespace larq_engine {
namespace {

std::string Path(const char* name) { return ::testing::TempDir() + name; }

TEST(Files, WhatIsWrittenIsRead) {
  const std::string path = Path("files_test.bin");
  for (const std::vector<uint8_t>& content :
       {std::vector<uint8_t>{1, 0, 255}, std::vector<uint8_t>{}}) {
    WriteFile(path, content);
    EXPECT_EQ(ReadFile(path), content);
  }
}

TEST(Files, NothingIsLeftOfAWriteThatFails) {
  WriteFile(Path("files_test_file"), {});
  EXPECT_THROW(WriteFile(Path("files_test_file") + "/below", {}), RunError);
  const std::string folder = Path("files_test_folder");
  mkdir(folder.c_str(), 0700);
  EXPECT_THROW(WriteFile(folder, {}), RunError);  // the renaming fails
  EXPECT_NE(access((folder + ".tmp" + std::to_string(getpid())).c_str(), F_OK), 0);
}

TEST(Files, WhetherAFileCanBeWrittenIsToldBefore) {
  const std::string path = Path("files_test_new");
  CheckWritable(path);
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_NE(access((path + ".tmp" + std::to_string(getpid())).c_str(), F_OK), 0);
  EXPECT_THROW(CheckWritable(Path("files_test_no_folder/report")), RunError);
  const std::string folder = Path("files_test_a_folder");
  mkdir(folder.c_str(), 0700);
  EXPECT_THROW(CheckWritable(folder), RunError);
}

TEST(Files, APipeIsRefusedAndNotWaitedFor) {
  const std::string path = Path("files_test_pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  try {
    ReadFile(path);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_EQ(error.what(), "'" + path + "': expected a file, got none");
  }
  unlink(path.c_str());
}

TEST(Files, ErrorsNameTheFileAndTheReason) {
  try {
    ReadFile("/no/such/file");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "'/no/such/file': cannot open the file: No such file or directory");
  }
  try {
    ReadFile("/");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "'/': expected a file, got none");
  }
}

}  // namespace
}  // namespace larq_engine
