// A .tflite file as plain values: only what its tables contain, and nothing derived from it.
#ifndef LARQ_ENGINE_MODEL_FILE_MODEL_FILE_H_
#define LARQ_ENGINE_MODEL_FILE_MODEL_FILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/model_file/flatbuffer.h"

namespace larq_engine {

// The file's numbers of types of tensors. A file may have others.
enum class FileType : int8_t {
  kFloat32,
  kFloat16,
  kInt32,
  kUint8,
  kInt64,
  kString,
  kBool,
  kInt16,
  kComplex64,
  kInt8,
  kFloat64,
  kComplex128,
  kUint64,
  kResource,
  kVariant,
  kUint32,
  kUint16,
  kInt4,
  kBfloat16,
  kInt2,
  kUint4,
  kFloat8E4m3fn,
  kFloat8E5m2,
};

// Returns the bits of a value of this type, or 0 if its values differ in size.
int BitsOf(FileType type);

// The file's numbers of the operators whose meaning matters to a check.
namespace builtin {
constexpr int kAdd = 0, kAveragePool2d = 1, kConv2d = 3, kDepthwiseConv2d = 4, kFullyConnected = 9,
              kL2Pool2d = 12, kLocalResponseNormalization = 13, kLstm = 16, kMaxPool2d = 17,
              kReshape = 22, kSvdf = 27, kCustom = 32, kSub = 41, kUnidirectionalSequenceLstm = 44,
              kBidirectionalSequenceRnn = 46, kSplit = 49, kDelegate = 51,
              kBidirectionalSequenceLstm = 52, kLess = 58, kGreater = 61, kGreaterEqual = 62,
              kLessEqual = 63, kTransposeConv = 67, kEqual = 71, kNotEqual = 72,
              kSquaredDifference = 99, kReverseSequence = 112, kMatrixDiag = 113, kQuantize = 114,
              kMatrixSetDiag = 115, kBatchMatmul = 126, kConv3d = 132, kVarHandle = 142,
              kReadVariable = 143, kAssignVariable = 144, kConv3dTranspose = 141;
}

bool IsPool(int kind);

// Quantization in blocks that share a scale, which is in another tensor.
struct BlockwiseQuantization {
  int32_t scales = 0;
  int32_t zero_points = 0;
  int32_t block_size = 0;
  bool has_block_shape = false;  // given instead of the size
};

struct FileQuantization {
  std::vector<float> scales = {};
  std::vector<int64_t> zero_points = {};
  int32_t dimension = 0;
  std::optional<BlockwiseQuantization> blockwise = {};
};

struct SparseDimension {
  bool is_sparse = false;
  int32_t dense_size = 0;
  std::optional<std::vector<uint64_t>> segments = {};
  std::optional<std::vector<uint64_t>> indices = {};
};

struct FileSparsity {
  std::vector<int32_t> traversal_order = {};
  std::vector<int32_t> block_map = {};
  std::vector<SparseDimension> dimensions = {};
};

struct FileTensor {
  std::string name = {};
  FileType type = FileType::kFloat32;
  std::vector<int32_t> shape = {};
  std::vector<int32_t> signature = {};
  uint32_t buffer = 0;  // buffer 0 has no data, whatever the file says
  bool is_variable = false;
  bool is_external = false;  // a constant whose data are outside the file
  std::optional<FileQuantization> quantization = {};
  std::optional<FileSparsity> sparsity = {};
};

struct FileOperator {
  uint32_t code = 0;
  std::vector<int32_t> inputs = {};  // -1 if an input is absent
  std::vector<int32_t> outputs = {};
  std::vector<int32_t> intermediates = {};
  int32_t split_parts = 0;   // for a SPLIT
  int32_t radius = 0;        // for a LOCAL_RESPONSE_NORMALIZATION
  int32_t filter_width = 0;  // for a pool
  int32_t filter_height = 0;
  int32_t sequence_dimension = 0;         // for a REVERSE_SEQUENCE
  std::string state = {};                 // the state that a VAR_HANDLE names: container, 0, name
  std::vector<int64_t> graphs = {};       // graphs that the operator calls
  std::span<const uint8_t> options = {};  // for a custom operator
};

struct FileGraph {
  std::vector<FileTensor> tensors = {};
  std::vector<int32_t> inputs = {};
  std::vector<int32_t> outputs = {};
  std::vector<FileOperator> operators = {};
};

struct FileOperatorCode {
  int kind = 0;  // "builtin code"
  int version = 1;
  std::string custom_name = {};
};

struct FileName {
  bool is_present = false;
  uint32_t index = 0;  // index of a tensor, or of metadata's buffer
};

struct FileSignature {
  bool has_key = false;
  uint32_t graph = 0;
  std::vector<FileName> inputs = {};
  std::vector<FileName> outputs = {};
};

struct ModelFile {
  std::vector<FileOperatorCode> operator_codes = {};
  std::vector<FileGraph> graphs = {};  // the first is the main one
  std::vector<std::span<const uint8_t>> buffers = {};
  std::vector<FileName> metadata = {};
  std::vector<FileSignature> signatures = {};
};

// Throws FileError if the file ends too early. The spans point into the file.
ModelFile ReadModelFile(Flatbuffer& file);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_MODEL_FILE_H_
