// Tests that whole legal files are accepted, and that no byte outside a file is read, whatever its
// bytes are.
#include "larq_engine/model_file/model_check.h"

#include <dirent.h>

#include <memory>

#include "gtest/gtest.h"
#include "larq_engine/model_file/flatbuffer.h"
#include "tests/common/seed.h"
#include "tests/host/tflite_file.h"

namespace larq_engine {
namespace {

std::vector<std::vector<uint8_t>> Models(const std::string& folder = "tests/interop/data/") {
  std::vector<std::vector<uint8_t>> models;
  DIR* entries = opendir(folder.c_str());
  while (const dirent* entry = readdir(entries)) {
    const std::string name = entry->d_name;
    if (name.ends_with(".tflite")) models.push_back(testing::ReadFileBytes(folder + name));
  }
  closedir(entries);
  return models;
}

// Tells whether the file is legal. It is copied to memory of exactly its size, so that a sanitizer
// finds a read behind it.
bool IsAccepted(std::span<const uint8_t> bytes) {
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), copy.get());
  try {
    CheckModel({copy.get(), bytes.size()});
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos) << error.what();
    return false;
  }
  return true;
}

TEST(ModelCheck, WholeFilesAreAccepted) {
  const std::vector<std::vector<uint8_t>> models = Models();
  EXPECT_GE(models.size(), 19u);
  for (const std::vector<uint8_t>& model : models) EXPECT_TRUE(IsAccepted(model));
}

// TensorFlow's converter made these files; convert_models.py says what is unlikely about them.
TEST(ModelCheck, UnlikelyFilesAreAccepted) {
  const std::vector<std::vector<uint8_t>> models = Models("tests/model_file/data/");
  EXPECT_EQ(models.size(), 10u);
  for (const std::vector<uint8_t>& model : models) EXPECT_TRUE(IsAccepted(model));
}

TEST(ModelCheck, BeginningsOfFiles) {
  const std::vector<uint8_t> model = Models()[0];
  for (size_t size = 0; size < model.size(); ++size) {
    EXPECT_FALSE(IsAccepted({model.data(), size})) << size;
  }
}

TEST(ModelCheck, RandomDamage) {
  SCOPED_TRACE(testing::ReplayHint());
  testing::Random random;
  std::vector<std::vector<uint8_t>> models = Models();
  models.push_back(testing::ReadFileBytes("tests/model_file/file_values.tflite"));
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint8_t> model = models[static_cast<size_t>(i) % models.size()];
    const int64_t last = static_cast<int64_t>(model.size()) - 1;
    for (int64_t bytes = random.Int(1, 30); bytes > 0; --bytes) {
      model[static_cast<size_t>(random.Int(0, last))] = static_cast<uint8_t>(random.Word());
    }
    refused += IsAccepted(model) ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace larq_engine
