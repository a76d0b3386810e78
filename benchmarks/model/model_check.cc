#include "benchmarks/model/model_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "benchmarks/model/errors.h"
#include "benchmarks/model/flatbuffer.h"
#include "third_party/litert/litert_abi.h"

namespace larq_engine {
namespace {

// Fields by number, as TensorFlow Lite's schema has them.
enum ModelField { kOperatorCodes = 1, kSubgraphs = 2, kBuffers = 4, kMetadata = 6 };
enum SubgraphField { kTensors = 0, kOperators = 3 };
enum TensorField { kShape = 0, kType = 1, kBuffer = 2, kQuantization = 4, kSignature = 7 };
enum QuantizationField { kScale = 2, kZeroPoint = 3, kDetailsType = 4, kDetails = 5 };
enum BlockwiseField { kScales = 0, kZeroPoints = 1 };
enum OperatorCodeField { kOldKind = 0, kKind = 3 };
enum OperatorField {
  kOpcode = 0,
  kInputs = 1,
  kOutputs = 2,
  kOptionsType = 3,
  kOptions = 4,
  kOptionsOffset = 9,
  kOptionsSize = 10,
};
enum BufferField { kDataOffset = 1, kDataSize = 2 };
enum MetadataField { kMetadataName = 0, kMetadataBuffer = 1 };

constexpr int kUint8 = 3;  // of the types of tensors
constexpr int kInt8 = 9;
constexpr uint8_t kBlockwiseQuantization = 2;  // of the union QuantizationDetails
constexpr int kSplit = 49;                     // of the operators
constexpr uint8_t kSplitOptions = 35;          // of the union BuiltinOptions

constexpr char kRemedy[] = "; the file is corrupted: copy or convert it again";

class Checker {
 public:
  explicit Checker(std::span<const uint8_t> file) : file_(file), buffer_(file) {}

  void Check() {
    if (file_.size() < 8 || std::memcmp(&file_[4], "TFL3", 4) != 0) {
      throw ModelError(
          "expected a TensorFlow Lite flatbuffer with 'TFL3' at byte 4, got none; give "
          "the path of a .tflite file");
    }
    const uint64_t model = buffer_.Read<uint32_t>(0);
    const std::vector<uint64_t> buffers = buffer_.Tables(model, kBuffers);
    for (const uint64_t data : buffers) CheckOutsideData(data, kDataOffset, kDataSize);
    buffers_ = buffers.size();
    operator_codes_ = buffer_.Tables(model, kOperatorCodes);
    for (const uint64_t entry : buffer_.Tables(model, kMetadata)) CheckMetadata(entry);
    const std::vector<uint64_t> subgraphs = buffer_.Tables(model, kSubgraphs);
    if (subgraphs.empty()) Refuse("a graph", "none");
    for (const uint64_t subgraph : subgraphs) CheckSubgraph(subgraph);
  }

 private:
  [[noreturn]] static void Refuse(const std::string& expected, const std::string& got) {
    throw ModelError("expected " + expected + ", got " + got + kRemedy);
  }

  void CheckIndex(const std::string& what, int64_t index, size_t count) {
    if (index < 0 || static_cast<uint64_t>(index) >= count) {
      Refuse(what + " of " + std::to_string(count), "#" + std::to_string(index));
    }
  }

  // 0 and 1 mean that there are no data outside the flatbuffer.
  void CheckOutsideData(uint64_t table, int offset_field, int size_field) {
    const uint64_t offset = buffer_.Scalar<uint64_t>(table, offset_field);
    const uint64_t size = buffer_.Scalar<uint64_t>(table, size_field);
    if (offset > 1 && (offset > file_.size() || size > file_.size() - offset)) {
      Refuse("data of " + std::to_string(size) + " bytes at byte " + std::to_string(offset),
             "a file of " + std::to_string(file_.size()));
    }
  }

  void CheckMetadata(uint64_t entry) {
    if (!buffer_.Has(entry, kMetadataName)) Refuse("metadata with a name", "none");
    CheckIndex("metadata in a buffer", buffer_.Scalar<uint32_t>(entry, kMetadataBuffer), buffers_);
  }

  void CheckSubgraph(uint64_t subgraph) {
    const std::vector<uint64_t> tensors = buffer_.Tables(subgraph, kTensors);
    for (size_t i = 0; i < tensors.size(); ++i) {
      CheckTensor(tensors[i], "tensor #" + std::to_string(i), tensors.size());
    }
    CheckOperators(buffer_.Tables(subgraph, kOperators));
  }

  void CheckTensor(uint64_t tensor, const std::string& name, size_t tensors) {
    for (const int field : {kShape, kSignature}) {
      const size_t rank = buffer_.Vector<int32_t>(tensor, field).size();
      if (rank > kLiteRtTensorMaxRank) {
        throw ModelError(name + ": expected at most the " + std::to_string(kLiteRtTensorMaxRank) +
                         " dimensions of LiteRT's C interface, got " + std::to_string(rank));
      }
    }
    const uint32_t data = buffer_.Scalar<uint32_t>(tensor, kBuffer);
    if (data != 0) CheckIndex(name + ": a buffer", data, buffers_);
    const uint64_t quantization = buffer_.Table(tensor, kQuantization);
    if (quantization == 0) return;
    if (buffer_.Scalar<uint8_t>(quantization, kDetailsType) == kBlockwiseQuantization) {
      const uint64_t details = buffer_.Table(quantization, kDetails);
      if (details == 0) Refuse(name + ": a quantization with details", "none");
      CheckIndex(name + ": scales in a tensor", buffer_.Scalar<int32_t>(details, kScales), tensors);
      const int32_t zero_points = buffer_.Scalar<int32_t>(details, kZeroPoints);
      if (zero_points != -1) CheckIndex(name + ": zero points in a tensor", zero_points, tensors);
    }
    CheckQuantization(quantization, buffer_.Scalar<int8_t>(tensor, kType), name);
  }

  // XNNPACK divides by scales of these types and computes tables from both.
  void CheckQuantization(uint64_t quantization, int type, const std::string& name) {
    if (type != kUint8 && type != kInt8) return;
    for (const float scale : buffer_.Vector<float>(quantization, kScale)) {
      // It takes no denormal numbers.
      if (!std::isnormal(scale) || scale < 0) {
        Refuse(name + ": positive scales", std::to_string(scale));
      }
    }
    const int64_t lowest = type == kUint8 ? 0 : -128;
    for (const int64_t zero_point : buffer_.Vector<int64_t>(quantization, kZeroPoint)) {
      if (zero_point < lowest || zero_point > lowest + 255) {
        Refuse(name + ": zero points within its type", std::to_string(zero_point));
      }
    }
  }

  // An absent output crashes every host; one that is read before it is computed, those that cut the
  // graph into parts.
  void CheckOperators(const std::vector<uint64_t>& operators) {
    std::map<int32_t, size_t> writers;
    for (size_t i = 0; i < operators.size(); ++i) {
      const std::string name = "operator #" + std::to_string(i);
      const std::vector<int32_t> outputs = buffer_.Vector<int32_t>(operators[i], kOutputs);
      CheckKind(operators[i], name, outputs.size());
      CheckOutsideData(operators[i], kOptionsOffset, kOptionsSize);
      for (const int32_t tensor : outputs) {
        if (tensor == -1) Refuse(name + ": a tensor for each output", "one that is absent");
        writers[tensor] = i;
      }
    }
    for (size_t i = 0; i < operators.size(); ++i) {
      for (const int32_t tensor : buffer_.Vector<int32_t>(operators[i], kInputs)) {
        const auto writer = writers.find(tensor);
        if (writer != writers.end() && writer->second >= i) {
          Refuse("operator #" + std::to_string(i) + ": inputs that are known before it runs",
                 "the output of operator #" + std::to_string(writer->second));
        }
      }
    }
  }

  // XNNPACK crashes on a SPLIT into another number of parts than it has outputs.
  void CheckKind(uint64_t table, const std::string& name, size_t outputs) {
    const uint32_t index = buffer_.Scalar<uint32_t>(table, kOpcode);
    CheckIndex(name + ": a kind", index, operator_codes_.size());
    const int kind = std::max<int>(buffer_.Scalar<int8_t>(operator_codes_[index], kOldKind),
                                   buffer_.Scalar<int32_t>(operator_codes_[index], kKind));
    if (kind != kSplit) return;
    const bool has_options = buffer_.Scalar<uint8_t>(table, kOptionsType) == kSplitOptions &&
                             buffer_.Has(table, kOptions);
    const int64_t parts =
        has_options ? buffer_.Scalar<int32_t>(buffer_.Table(table, kOptions), 0) : 0;
    if (parts != static_cast<int64_t>(outputs)) {
      Refuse(name + ": a SPLIT into its " + std::to_string(outputs) + " outputs",
             std::to_string(parts));
    }
  }

  std::span<const uint8_t> file_;
  Flatbuffer buffer_;
  size_t buffers_ = 0;
  std::vector<uint64_t> operator_codes_;
};

}  // namespace

void CheckModel(std::span<const uint8_t> file) { Checker(file).Check(); }

}  // namespace larq_engine
