#include "larq_engine/model_file/model_file.h"

#include <algorithm>

#include "larq_engine/model_file/read_options.h"

namespace larq_engine {
namespace {

// Numbers of fields in TensorFlow Lite's schema.
enum ModelField { kOperatorCodes = 1, kSubgraphs = 2, kBuffers = 4, kMetadata = 6, kSignatures };
enum OperatorCodeField { kOldKind = 0, kCustomName = 1, kVersion = 2, kKind = 3 };
enum GraphField { kTensors = 0, kGraphInputs = 1, kGraphOutputs = 2, kOperators = 3 };
enum TensorField {
  kShape = 0,
  kType = 1,
  kTensorBuffer = 2,
  kName = 3,
  kQuantization = 4,
  kIsVariable = 5,
  kSparsity = 6,
  kSignature = 7,
  kExternalBuffer = 10,
};
enum QuantizationField {
  kScale = 2,
  kZeroPoint = 3,
  kDetailsType = 4,
  kDetails = 5,
  kDimension = 6
};
enum BlockwiseField { kScales = 0, kZeroPoints = 1, kBlockSize = 2, kBlockShape = 3 };
enum SparsityField { kTraversalOrder = 0, kBlockMap = 1, kDimensions = 2 };
enum DimensionField { kFormat = 0, kDenseSize = 1, kSegmentsType = 2, kIndicesType = 4 };
enum OperatorField {
  kOpcode = 0,
  kInputs = 1,
  kOutputs = 2,
  kOptionsType = 3,
  kOptions = 4,
  kCustomOptions = 5,
  kIntermediates = 8,
  kOptionsOffset = 9,
  kOptions2Type = 11,
  kOptions2 = 12,
};
enum BufferField { kData = 0, kDataOffset = 1 };
enum EntryField { kEntryName = 0, kEntryIndex = 1 };
enum SignatureField { kSignatureInputs = 0, kSignatureOutputs = 1, kKey = 2, kSignatureGraph = 4 };

constexpr uint8_t kBlockwiseQuantization = 2;  // member of the union QuantizationDetails
constexpr int8_t kSparseFormat = 1;            // format of a dimension

// Operators that call graphs, and the fields of their options that hold the graphs' numbers. An
// operator without options of this type calls graph 0.
struct Caller {
  int kind;
  bool second_options;  // the options are of the union BuiltinOptions2
  uint8_t options_type;
  std::vector<int> fields;
  bool vector = false;  // the field is a vector of numbers
};

const std::vector<Caller>& Callers() {
  static const std::vector<Caller> callers = {
      {31, false, 16, {0}},        // CALL
      {118, false, 92, {0, 1}},    // IF
      {119, false, 93, {0, 1}},    // WHILE
      {129, false, 103, {0}},      // CALL_ONCE
      {174, true, 6, {1}},         // STABLEHLO_REDUCE
      {190, true, 7, {6}},         // STABLEHLO_SCATTER
      {198, true, 13, {5}},        // STABLEHLO_REDUCE_WINDOW
      {199, true, 14, {2}},        // STABLEHLO_SORT
      {200, true, 15, {0, 1}},     // STABLEHLO_WHILE
      {206, true, 21, {1}},        // STABLEHLO_COMPOSITE
      {209, true, 23, {0}, true},  // STABLEHLO_CASE
  };
  return callers;
}

// Returns what `read` makes of each table of a vector. A file may name one table many times, so the
// memory of the results is taken from the budget.
template <typename Read>
auto ReadAll(Flatbuffer& file, uint64_t table, int field, Read read) {
  const std::vector<uint64_t> tables = file.Tables(table, field);
  std::vector<decltype(read(table))> result;
  file.Spend(tables.size() * sizeof(result[0]));
  result.reserve(tables.size());
  for (const uint64_t one : tables) result.push_back(read(one));
  return result;
}

// Returns data within the flatbuffer, or else at the position in the file that two fields give.
std::span<const uint8_t> ReadData(const Flatbuffer& file, uint64_t table, int field,
                                  int offset_field) {
  if (file.Has(table, field)) return file.Bytes(table, field);
  const uint64_t offset = file.Scalar<uint64_t>(table, offset_field);
  if (offset <= 1) return {};
  return file.Slice(offset, file.Scalar<uint64_t>(table, offset_field + 1), "data");
}

template <typename Number>
std::vector<uint64_t> ReadIndices(Flatbuffer& file, uint64_t table) {
  const std::vector<Number> numbers = file.Vector<Number>(table, 0);
  file.Spend(numbers.size() * sizeof(uint64_t));
  return {numbers.begin(), numbers.end()};
}

std::optional<std::vector<uint64_t>> ReadSparseIndices(Flatbuffer& file, uint64_t dimension,
                                                       int type_field) {
  const uint64_t table = file.Table(dimension, type_field + 1);
  if (table == 0) return std::nullopt;
  switch (file.Scalar<uint8_t>(dimension, type_field)) {
    case 1:
      return ReadIndices<int32_t>(file, table);
    case 2:
      return ReadIndices<uint16_t>(file, table);
    case 3:
      return ReadIndices<uint8_t>(file, table);
  }
  return std::nullopt;
}

FileSparsity ReadSparsity(Flatbuffer& file, uint64_t table) {
  FileSparsity result;
  result.traversal_order = file.Vector<int32_t>(table, kTraversalOrder);
  result.block_map = file.Vector<int32_t>(table, kBlockMap);
  result.dimensions = ReadAll(file, table, kDimensions, [&](uint64_t dimension) {
    return SparseDimension{
        .is_sparse = file.Scalar<int8_t>(dimension, kFormat) == kSparseFormat,
        .dense_size = file.Scalar<int32_t>(dimension, kDenseSize),
        .segments = ReadSparseIndices(file, dimension, kSegmentsType),
        .indices = ReadSparseIndices(file, dimension, kIndicesType),
    };
  });
  return result;
}

FileQuantization ReadQuantization(Flatbuffer& file, uint64_t table) {
  FileQuantization result;
  result.scales = file.Vector<float>(table, kScale);
  result.zero_points = file.Vector<int64_t>(table, kZeroPoint);
  result.dimension = file.Scalar<int32_t>(table, kDimension);
  if (file.Scalar<uint8_t>(table, kDetailsType) == kBlockwiseQuantization) {
    const uint64_t details = file.Table(table, kDetails);
    result.blockwise = BlockwiseQuantization();
    if (details != 0) {
      *result.blockwise = {.scales = file.Scalar<int32_t>(details, kScales),
                           .zero_points = file.Scalar<int32_t>(details, kZeroPoints),
                           .block_size = file.Scalar<int32_t>(details, kBlockSize),
                           .has_block_shape = file.Has(details, kBlockShape)};
    }
  }
  return result;
}

FileTensor ReadTensor(Flatbuffer& file, uint64_t table) {
  FileTensor result;
  result.name = file.Text(table, kName);
  result.type = static_cast<ElementType>(file.Scalar<int8_t>(table, kType));
  result.shape = file.Vector<int32_t>(table, kShape);
  result.signature = file.Vector<int32_t>(table, kSignature);
  result.buffer = file.Scalar<uint32_t>(table, kTensorBuffer);
  result.is_variable = file.Scalar<uint8_t>(table, kIsVariable) != 0;
  result.is_external = file.Scalar<uint32_t>(table, kExternalBuffer) != 0;
  if (const uint64_t quantization = file.Table(table, kQuantization); quantization != 0) {
    result.quantization = ReadQuantization(file, quantization);
  }
  if (const uint64_t sparsity = file.Table(table, kSparsity); sparsity != 0) {
    result.sparsity = ReadSparsity(file, sparsity);
  }
  return result;
}

std::vector<int64_t> ReadCalledGraphs(Flatbuffer& file, uint64_t table, const Caller& caller) {
  const int type_field = caller.second_options ? kOptions2Type : kOptionsType;
  const uint64_t options = file.Scalar<uint8_t>(table, type_field) == caller.options_type
                               ? file.Table(table, type_field + 1)
                               : 0;
  std::vector<int64_t> graphs;
  for (const int field : caller.fields) {
    if (options == 0) {
      graphs.push_back(0);
    } else if (caller.vector) {
      for (const int32_t graph : file.Vector<int32_t>(options, field)) graphs.push_back(graph);
    } else {
      graphs.push_back(file.Scalar<int32_t>(options, field));
    }
  }
  return graphs;
}

FileOperator ReadOperator(Flatbuffer& file, uint64_t table,
                          const std::vector<FileOperatorCode>& codes) {
  FileOperator result;
  result.code = file.Scalar<uint32_t>(table, kOpcode);
  result.inputs = file.Vector<int32_t>(table, kInputs);
  result.outputs = file.Vector<int32_t>(table, kOutputs);
  result.intermediates = file.Vector<int32_t>(table, kIntermediates);
  result.options = ReadData(file, table, kCustomOptions, kOptionsOffset);
  if (result.code >= codes.size()) return result;
  const int kind = codes[result.code].kind;
  result.builtin = ReadFileOptions(file, file.Table(table, kOptions), kind,
                                   file.Scalar<uint8_t>(table, kOptionsType));
  for (const Caller& caller : Callers()) {
    if (caller.kind == kind) result.graphs = ReadCalledGraphs(file, table, caller);
  }
  return result;
}

std::optional<std::string> ReadText(Flatbuffer& file, uint64_t table, int field) {
  if (!file.Has(table, field)) return std::nullopt;
  return file.Text(table, field);
}

std::vector<FileName> ReadNames(Flatbuffer& file, uint64_t table, int field) {
  return ReadAll(file, table, field, [&](uint64_t entry) {
    return FileName{.text = ReadText(file, entry, kEntryName),
                    .index = file.Scalar<uint32_t>(entry, kEntryIndex)};
  });
}

}  // namespace

ModelFile ReadModelFile(Flatbuffer& file) {
  ModelFile result;
  const uint64_t model = file.Follow(0, "root");
  result.operator_codes = ReadAll(file, model, kOperatorCodes, [&](uint64_t table) {
    // Numbers above 127 did not fit the first field, so a second one was added; the larger one
    // counts.
    return FileOperatorCode{
        .kind =
            std::max<int>(file.Scalar<int8_t>(table, kOldKind), file.Scalar<int32_t>(table, kKind)),
        .version = file.Scalar<int32_t>(table, kVersion, 1),
        .custom_name = file.Text(table, kCustomName),
    };
  });
  result.buffers = ReadAll(file, model, kBuffers, [&](uint64_t table) {
    return ReadData(file, table, kData, kDataOffset);
  });
  result.metadata = ReadNames(file, model, kMetadata);
  result.graphs = ReadAll(file, model, kSubgraphs, [&](uint64_t table) {
    FileGraph graph;
    graph.tensors =
        ReadAll(file, table, kTensors, [&](uint64_t tensor) { return ReadTensor(file, tensor); });
    graph.inputs = file.Vector<int32_t>(table, kGraphInputs);
    graph.outputs = file.Vector<int32_t>(table, kGraphOutputs);
    graph.operators = ReadAll(file, table, kOperators, [&](uint64_t op) {
      return ReadOperator(file, op, result.operator_codes);
    });
    return graph;
  });
  result.signatures = ReadAll(file, model, kSignatures, [&](uint64_t table) {
    return FileSignature{
        .key = ReadText(file, table, kKey),
        .graph = file.Scalar<uint32_t>(table, kSignatureGraph),
        .inputs = ReadNames(file, table, kSignatureInputs),
        .outputs = ReadNames(file, table, kSignatureOutputs),
    };
  });
  return result;
}

}  // namespace larq_engine
