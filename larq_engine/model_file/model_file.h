// A .tflite file as plain values: only what its tables contain, and nothing derived from it.
#ifndef LARQ_ENGINE_MODEL_FILE_MODEL_FILE_H_
#define LARQ_ENGINE_MODEL_FILE_MODEL_FILE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/model_file/element_type.h"
#include "larq_engine/model_file/file_options.h"
#include "larq_engine/model_file/flatbuffer.h"

namespace larq_engine {

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
  ElementType type = ElementType::kFloat32;
  std::vector<int32_t> shape = {};
  std::vector<int32_t> signature = {};
  uint32_t buffer = 0;  // buffer 0 has no data, whatever the file says
  bool is_variable = false;
  bool is_external = false;  // a constant whose data are outside the file
  std::optional<FileQuantization> quantization = {};
  std::optional<FileSparsity> sparsity = {};
};

// The number of an input that is absent.
inline constexpr int32_t kAbsentTensor = -1;

struct FileOperator {
  uint32_t code = 0;
  std::vector<int32_t> inputs = {};
  std::vector<int32_t> outputs = {};
  std::vector<int32_t> intermediates = {};
  // Absent if the file has none of the operator's own type, or if nothing here reads that type.
  std::optional<FileOptions> builtin = {};
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
  std::optional<std::string> text = {};
  uint32_t index = 0;  // index of a tensor, or of metadata's buffer
};

struct FileSignature {
  std::optional<std::string> key = {};
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
