// Compares what is read of a file with what LiteRT's schema module read (file_values.py).
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/model_file/model_file.h"
#include "larq_engine/model_file/structure.h"
#include "tests/host/tflite_file.h"

namespace larq_engine {
namespace {

constexpr char kFile[] = "tests/model_file/file_values.tflite";
constexpr char kGolden[] = "tests/model_file/file_values.golden";

template <typename Number>
std::string Text(Number number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

std::string Text(ElementType type) { return Text(static_cast<int>(type)); }

std::string Text(const std::vector<int32_t>& numbers) {
  std::string text;
  for (const int32_t number : numbers) text += (text.empty() ? "" : ", ") + Text(number);
  return "[" + text + "]";
}

std::string Text(std::string text) {
  for (char& c : text) {
    if (c == '\0') c = '/';
  }
  return text;
}

using TextOfFields = std::map<std::string, std::string>;

TextOfFields Fields(const FileOptions& options) {
#define FIELD(name) \
  { #name, Text(options.name) }
  return {FIELD(activation),
          FIELD(align_corners),
          FIELD(alpha),
          FIELD(approximate),
          FIELD(asymmetric_inputs),
          FIELD(axis),
          FIELD(batch_dimension),
          FIELD(batch_dims),
          FIELD(begin_mask),
          FIELD(beta),
          FIELD(bias),
          FIELD(block_size),
          FIELD(depth_multiplier),
          FIELD(dilation_height),
          FIELD(dilation_width),
          FIELD(ellipsis_mask),
          FIELD(end_mask),
          FIELD(exclusive),
          FIELD(filter_height),
          FIELD(filter_width),
          FIELD(half_pixel_centers),
          FIELD(input_type),
          FIELD(keep_dims),
          FIELD(new_axis_mask),
          FIELD(new_shape),
          FIELD(offset),
          FIELD(output_type),
          FIELD(pad_mode),
          FIELD(padding),
          FIELD(parts),
          FIELD(pot_scale_int16),
          FIELD(radius),
          FIELD(reverse),
          FIELD(sequence_dimension),
          FIELD(shrink_axis_mask),
          FIELD(squeeze_dims),
          FIELD(state),
          FIELD(stride_height),
          FIELD(stride_width),
          FIELD(transpose_left),
          FIELD(transpose_right),
          FIELD(weights_format)};
#undef FIELD
}

std::string Joined(std::string head, const TextOfFields& fields) {
  for (const auto& [name, value] : fields) head += " " + name + "=" + value;
  return head;
}

std::string Describe(const std::string& name, const FileOperator& op) {
  if (!op.builtin.has_value()) return name + " has no options";
  TextOfFields fields = Fields(*op.builtin);
  for (const auto& [field, value] : Fields(FileOptions())) {
    if (fields[field] == value) fields.erase(field);
  }
  return Joined(name, fields);
}

std::string Describe(const std::string& kind, const FileName& name) {
  return kind + " " + name.text.value_or("(none)") + ": " + Text(name.index);
}

std::vector<std::string> Describe(const ModelFile& model) {
  std::vector<std::string> lines = {Joined("defaults", Fields(FileOptions()))};
  for (const FileOperator& op : model.graphs.at(0).operators) {
    lines.push_back(Describe(BuiltinName(model.operator_codes.at(op.code).kind), op));
  }
  for (const FileSignature& signature : model.signatures) {
    lines.push_back("signature " + signature.key.value_or("(none)") + " of graph " +
                    Text(signature.graph));
    for (const FileName& name : signature.inputs) lines.push_back(Describe("input", name));
    for (const FileName& name : signature.outputs) lines.push_back(Describe("output", name));
  }
  for (const FileName& entry : model.metadata) lines.push_back(Describe("metadata", entry));
  return lines;
}

TEST(FileValues, AreWhatTheSchemaReads) {
  const std::vector<uint8_t> bytes = testing::ReadFileBytes(kFile);
  Flatbuffer file(bytes);
  CheckStructure(file);
  const std::vector<std::string> ours = Describe(ReadModelFile(file));
  std::ifstream golden(kGolden);
  size_t lines = 0;
  for (std::string line; std::getline(golden, line); ++lines) {
    ASSERT_LT(lines, ours.size());
    EXPECT_EQ(ours[lines], line);
  }
  EXPECT_EQ(lines, ours.size());
  EXPECT_GT(lines, 200u);
}

}  // namespace
}  // namespace larq_engine
