#include "larq_engine/model_file/read_options.h"

#include "larq_engine/model_file/builtin.h"

namespace larq_engine {
namespace {

// The fields of a table of options, by their numbers in TensorFlow Lite's schema.
class Fields {
 public:
  Fields(Flatbuffer& file, uint64_t table) : file_(file), table_(table) {}

  int32_t Int(int field, int32_t fallback = 0) const {
    return file_.Scalar<int32_t>(table_, field, fallback);
  }
  int32_t Enum(int field) const { return file_.Scalar<int8_t>(table_, field); }
  ElementType Type(int field) const { return static_cast<ElementType>(Enum(field)); }
  bool Flag(int field, bool fallback = false) const {
    return file_.Scalar<uint8_t>(table_, field, fallback ? 1 : 0) != 0;
  }
  float Float(int field) const { return file_.Scalar<float>(table_, field); }
  std::vector<int32_t> Ints(int field) const { return file_.Vector<int32_t>(table_, field); }
  std::string Text(int field) const { return file_.Text(table_, field); }

 private:
  Flatbuffer& file_;
  uint64_t table_;
};

FileOptions ReadConv2d(const Fields& table) {
  return {.activation = table.Enum(3),
          .padding = table.Enum(0),
          .stride_height = table.Int(2),
          .stride_width = table.Int(1),
          .dilation_height = table.Int(5, 1),
          .dilation_width = table.Int(4, 1)};
}

FileOptions ReadDepthwiseConv2d(const Fields& table) {
  return {.activation = table.Enum(4),
          .padding = table.Enum(0),
          .stride_height = table.Int(2),
          .stride_width = table.Int(1),
          .dilation_height = table.Int(6, 1),
          .dilation_width = table.Int(5, 1),
          .depth_multiplier = table.Int(3)};
}

FileOptions ReadTransposeConv(const Fields& table) {
  return {.activation = table.Enum(3),
          .padding = table.Enum(0),
          .stride_height = table.Int(2),
          .stride_width = table.Int(1)};
}

FileOptions ReadPool2d(const Fields& table) {
  return {.activation = table.Enum(5),
          .padding = table.Enum(0),
          .stride_height = table.Int(2),
          .stride_width = table.Int(1),
          .filter_height = table.Int(4),
          .filter_width = table.Int(3)};
}

FileOptions ReadFullyConnected(const Fields& table) {
  return {.activation = table.Enum(0),
          .weights_format = table.Enum(1),
          .asymmetric_inputs = table.Flag(3),
          .keep_dims = table.Flag(2)};
}

FileOptions ReadBatchMatmul(const Fields& table) {
  return {.asymmetric_inputs = table.Flag(2),
          .transpose_left = table.Flag(0),
          .transpose_right = table.Flag(1)};
}

FileOptions ReadActivation(const Fields& table) { return {.activation = table.Enum(0)}; }

FileOptions ReadSum(const Fields& table) {
  return {.activation = table.Enum(0), .pot_scale_int16 = table.Flag(1, true)};
}

FileOptions ReadConcatenation(const Fields& table) {
  return {.activation = table.Enum(1), .axis = table.Int(0)};
}

FileOptions ReadPartsAlongAxis(const Fields& table) {
  return {.axis = table.Int(1), .parts = table.Int(0)};
}

FileOptions ReadParts(const Fields& table) { return {.parts = table.Int(0)}; }

FileOptions ReadGather(const Fields& table) {
  return {.axis = table.Int(0), .batch_dims = table.Int(1)};
}

FileOptions ReadStridedSlice(const Fields& table) {
  return {.begin_mask = table.Int(0),
          .end_mask = table.Int(1),
          .ellipsis_mask = table.Int(2),
          .new_axis_mask = table.Int(3),
          .shrink_axis_mask = table.Int(4),
          .offset = table.Flag(5)};
}

FileOptions ReadReverseSequence(const Fields& table) {
  return {.sequence_dimension = table.Int(0), .batch_dimension = table.Int(1)};
}

FileOptions ReadReshape(const Fields& table) { return {.new_shape = table.Ints(0)}; }
FileOptions ReadSqueeze(const Fields& table) { return {.squeeze_dims = table.Ints(0)}; }
FileOptions ReadReducer(const Fields& table) { return {.keep_dims = table.Flag(0)}; }
FileOptions ReadSoftmax(const Fields& table) { return {.beta = table.Float(0)}; }
FileOptions ReadLeakyRelu(const Fields& table) { return {.alpha = table.Float(0)}; }
FileOptions ReadGelu(const Fields& table) { return {.approximate = table.Flag(0)}; }
FileOptions ReadMirrorPad(const Fields& table) { return {.pad_mode = table.Enum(0)}; }
FileOptions ReadBlockSize(const Fields& table) { return {.block_size = table.Int(0)}; }
FileOptions ReadOutputType(const Fields& table) { return {.output_type = table.Type(0)}; }

FileOptions ReadCast(const Fields& table) {
  return {.input_type = table.Type(0), .output_type = table.Type(1)};
}

FileOptions ReadCumsum(const Fields& table) {
  return {.exclusive = table.Flag(0), .reverse = table.Flag(1)};
}

FileOptions ReadLocalResponseNormalization(const Fields& table) {
  return {.alpha = table.Float(2),
          .beta = table.Float(3),
          .bias = table.Float(1),
          .radius = table.Int(0)};
}

// Fields 0 and 1 are deprecated: an input gives the size.
FileOptions ReadResizeBilinear(const Fields& table) {
  return {.align_corners = table.Flag(2), .half_pixel_centers = table.Flag(3)};
}

FileOptions ReadResizeNearestNeighbor(const Fields& table) {
  return {.align_corners = table.Flag(0), .half_pixel_centers = table.Flag(1)};
}

FileOptions ReadVarHandle(const Fields& table) {
  return {.state = table.Text(0) + '\0' + table.Text(1)};
}

struct OptionsRow {
  int kind;
  uint8_t type;  // member of the union BuiltinOptions
  FileOptions (*read)(const Fields& table);
};

constexpr OptionsRow kRows[] = {
    {builtin::kConv2d, 1, ReadConv2d},
    {builtin::kDepthwiseConv2d, 2, ReadDepthwiseConv2d},
    {builtin::kAveragePool2d, 5, ReadPool2d},
    {builtin::kL2Pool2d, 5, ReadPool2d},
    {builtin::kMaxPool2d, 5, ReadPool2d},
    {builtin::kFullyConnected, 8, ReadFullyConnected},
    {builtin::kSoftmax, 9, ReadSoftmax},
    {builtin::kConcatenation, 10, ReadConcatenation},
    {builtin::kAdd, 11, ReadSum},
    {builtin::kLocalResponseNormalization, 13, ReadLocalResponseNormalization},
    {builtin::kResizeBilinear, 15, ReadResizeBilinear},
    {builtin::kReshape, 17, ReadReshape},
    {builtin::kSpaceToDepth, 19, ReadBlockSize},
    {builtin::kMul, 21, ReadActivation},
    {builtin::kGather, 23, ReadGather},
    {builtin::kMean, 27, ReadReducer},
    {builtin::kSum, 27, ReadReducer},
    {builtin::kReduceProd, 27, ReadReducer},
    {builtin::kReduceMax, 27, ReadReducer},
    {builtin::kReduceMin, 27, ReadReducer},
    {builtin::kReduceAny, 27, ReadReducer},
    {builtin::kReduceAll, 27, ReadReducer},
    {builtin::kSub, 28, ReadSum},
    {builtin::kDiv, 29, ReadActivation},
    {builtin::kSqueeze, 30, ReadSqueeze},
    {builtin::kStridedSlice, 32, ReadStridedSlice},
    {builtin::kSplit, 35, ReadParts},
    {builtin::kCast, 37, ReadCast},
    {builtin::kArgMax, 40, ReadOutputType},
    {builtin::kTransposeConv, 49, ReadTransposeConv},
    {builtin::kShape, 55, ReadOutputType},
    {builtin::kArgMin, 57, ReadOutputType},
    {builtin::kPack, 59, ReadPartsAlongAxis},
    {builtin::kUnpack, 64, ReadPartsAlongAxis},
    {builtin::kResizeNearestNeighbor, 74, ReadResizeNearestNeighbor},
    {builtin::kLeakyRelu, 75, ReadLeakyRelu},
    {builtin::kMirrorPad, 77, ReadMirrorPad},
    {builtin::kSplitV, 79, ReadParts},
    {builtin::kReverseSequence, 87, ReadReverseSequence},
    {builtin::kDepthToSpace, 94, ReadBlockSize},
    {builtin::kBatchMatmul, 101, ReadBatchMatmul},
    {builtin::kCumsum, 102, ReadCumsum},
    {builtin::kVarHandle, 111, ReadVarHandle},
    {builtin::kGelu, 116, ReadGelu},
};

}  // namespace

std::optional<FileOptions> ReadFileOptions(Flatbuffer& file, uint64_t table, int kind,
                                           uint8_t type) {
  if (table == 0) return std::nullopt;
  for (const OptionsRow& row : kRows) {
    if (row.kind == kind && row.type == type) return row.read(Fields(file, table));
  }
  return std::nullopt;
}

}  // namespace larq_engine
