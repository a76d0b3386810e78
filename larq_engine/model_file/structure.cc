#include "larq_engine/model_file/structure.h"

#include <algorithm>
#include <cstdio>
#include <unordered_set>

namespace larq_engine {
namespace {

enum Kind : uint8_t {
  kModel,
  kOperatorCode,
  kSubgraph,
  kTensor,
  kQuantizationParameters,
  kCustomQuantization,
  kSparsityParameters,
  kDimensionMetadata,
  kInt32Vector,
  kUint16Vector,
  kUint8Vector,
  kVariantSubType,
  kOperator,
  kBuffer,
  kMetadataEntry,
  kSignatureDef,
  kTensorMap,
  // Options of builtin operators that hold vectors. All others hold scalars only.
  kConcatEmbeddingsOptions,
  kFullyConnectedOptions,
  kReshapeOptions,
  kSqueezeOptions,
  kVarHandleOptions,
  kBucketizeOptions,
  kScalarOptions,
  kUnknown,  // a member of a union that no host reads unchecked
};

// The kind of a field, or of what its offset points to.
struct Field {
  enum Type : uint8_t { kScalar, kString, kVector, kTable, kTables, kUnion } type;
  uint8_t width = 4;  // bytes of a scalar, or of a vector's element
  Kind kind = kUnknown;
  // For a union: returns the table that its type, which is the field before it, selects.
  Kind (*select)(uint8_t type) = nullptr;
};

constexpr Field Scalar(uint8_t width) { return {.type = Field::kScalar, .width = width}; }
constexpr Field Vector(uint8_t width) { return {.type = Field::kVector, .width = width}; }
constexpr Field Table(Kind kind) { return {.type = Field::kTable, .kind = kind}; }
constexpr Field Tables(Kind kind) { return {.type = Field::kTables, .kind = kind}; }
constexpr Field Union(Kind (*select)(uint8_t)) { return {.type = Field::kUnion, .select = select}; }
constexpr Field kText = {.type = Field::kString};

Kind QuantizationDetails(uint8_t type) { return type == 1 ? kCustomQuantization : kUnknown; }

Kind SparseIndexVector(uint8_t type) {
  switch (type) {
    case 1:
      return kInt32Vector;
    case 2:
      return kUint16Vector;
    case 3:
      return kUint8Vector;
  }
  return kUnknown;
}

Kind BuiltinOptions(uint8_t type) {
  switch (type) {
    case 3:
      return kConcatEmbeddingsOptions;
    case 8:
      return kFullyConnectedOptions;
    case 17:
      return kReshapeOptions;
    case 30:
      return kSqueezeOptions;
    case 111:
      return kVarHandleOptions;
    case 115:
      return kBucketizeOptions;
  }
  return kScalarOptions;
}

struct TableRow {
  const char* name;
  std::vector<Field> fields;
};

// The rows of all Kinds, in their order. Fields after the listed ones are newer than every host
// that does not check them itself.
const std::vector<TableRow>& TableRows() {
  static const std::vector<TableRow> rows = {
      {"Model",
       {Scalar(4), Tables(kOperatorCode), Tables(kSubgraph), kText, Tables(kBuffer), Vector(4),
        Tables(kMetadataEntry), Tables(kSignatureDef)}},
      {"OperatorCode", {Scalar(1), kText, Scalar(4), Scalar(4)}},
      {"SubGraph", {Tables(kTensor), Vector(4), Vector(4), Tables(kOperator), kText}},
      {"Tensor",
       {Vector(4), Scalar(1), Scalar(4), kText, Table(kQuantizationParameters), Scalar(1),
        Table(kSparsityParameters), Vector(4), Scalar(1), Tables(kVariantSubType)}},
      {"QuantizationParameters",
       {Vector(4), Vector(4), Vector(4), Vector(8), Scalar(1), Union(QuantizationDetails),
        Scalar(4)}},
      {"CustomQuantization", {Vector(1)}},
      {"SparsityParameters", {Vector(4), Vector(4), Tables(kDimensionMetadata)}},
      {"DimensionMetadata",
       {Scalar(1), Scalar(4), Scalar(1), Union(SparseIndexVector), Scalar(1),
        Union(SparseIndexVector)}},
      {"Int32Vector", {Vector(4)}},
      {"Uint16Vector", {Vector(2)}},
      {"Uint8Vector", {Vector(1)}},
      {"VariantSubType", {Vector(4), Scalar(1), Scalar(1)}},
      {"Operator",
       {Scalar(4), Vector(4), Vector(4), Scalar(1), Union(BuiltinOptions), Vector(1), Scalar(1),
        Vector(1), Vector(4), Scalar(8), Scalar(8)}},
      {"Buffer", {Vector(1), Scalar(8), Scalar(8)}},
      {"Metadata", {kText, Scalar(4)}},
      {"SignatureDef", {Tables(kTensorMap), Tables(kTensorMap), kText, kText, Scalar(4)}},
      {"TensorMap", {kText, Scalar(4)}},
      {"ConcatEmbeddingsOptions", {Scalar(4), Vector(4), Vector(4)}},
      {"FullyConnectedOptions", {Scalar(1), Scalar(1), Scalar(1), Scalar(1), Scalar(1), Vector(1)}},
      {"ReshapeOptions", {Vector(4)}},
      {"SqueezeOptions", {Vector(4)}},
      {"VarHandleOptions", {kText, kText}},
      {"BucketizeOptions", {Vector(4)}},
      {"the options of an operator", {}},
  };
  return rows;
}

std::string Escaped(std::span<const uint8_t> text) {
  std::string result;
  for (const uint8_t byte : text.first(std::min<size_t>(text.size(), 20))) {
    char code[5] = {static_cast<char>(byte)};
    if (byte < 0x20 || byte >= 0x7F) std::snprintf(code, sizeof(code), "\\x%02x", byte);
    result += code;
  }
  return "'" + result + "'";
}

class Checker {
 public:
  explicit Checker(Flatbuffer& file) : file_(file) {}

  void Check() {
    const std::span<const uint8_t> identifier =
        file_.size() < 8 ? std::span<const uint8_t>() : file_.Slice(4, 4, "an identifier");
    if (identifier.empty() || std::memcmp(identifier.data(), "TFL3", 4) != 0) {
      throw FileError(
          "expected a TensorFlow Lite flatbuffer with the identifier 'TFL3' at byte 4, got " +
          (identifier.empty() ? "the end of the file" : Escaped(identifier)) +
          "; give the content of a .tflite file");
    }
    CheckTable(file_.Follow(0, "root"), kModel);
  }

 private:
  void CheckTable(uint64_t start, Kind kind) {
    // Tables may be shared, but each is checked only once.
    if (!checked_.insert(start << 8 | kind).second) return;
    file_.Spend(kBytesOfAnEntry);
    const TableRow& row = TableRows()[kind];
    const uint64_t layout = file_.Layout(start, row.name);
    const uint16_t layout_size = file_.Read<uint16_t>(layout, "a layout");
    const uint16_t size = file_.Read<uint16_t>(layout + 2, "a layout");
    if (layout_size < 4 || layout_size % 2 != 0 || size < 4) {
      throw FileError("expected " + std::string(row.name) + " at byte " + std::to_string(start) +
                      ", got a layout of " + std::to_string(layout_size) +
                      " bytes for a table of " + std::to_string(size) +
                      "; it is corrupted: copy or convert it again");
    }
    file_.Slice(layout, layout_size, "a layout");
    file_.Slice(start, size, row.name);
    uint8_t union_type = 0;
    for (size_t i = 0; i < row.fields.size(); ++i) {
      const Field& field = row.fields[i];
      const size_t width = field.type == Field::kScalar ? field.width : sizeof(uint32_t);
      const uint64_t position = file_.Field(start, static_cast<int>(i), width);
      if (field.type == Field::kScalar) {
        union_type = position != 0 && width == 1 ? file_.Read<uint8_t>(position, row.name) : 0;
      } else if (position != 0) {
        CheckTarget(file_.Follow(position, row.name), field, union_type);
      }
    }
    if (kind == kBuffer) CheckOutsideData(start, 1);
    if (kind == kOperator) CheckOutsideData(start, 9);
  }

  // Checks data outside the flatbuffer, which are given by the position of their first byte in the
  // file and by their size. No host checks these; 0 and 1 mean that there are none.
  void CheckOutsideData(uint64_t table, int field) {
    const uint64_t offset = file_.Scalar<uint64_t>(table, field);
    const uint64_t size = file_.Scalar<uint64_t>(table, field + 1);
    if (offset > 1 && (offset > file_.size() || size > file_.size() - offset)) {
      throw FileError("expected data of " + std::to_string(size) + " bytes at byte " +
                      std::to_string(offset) + ", got a file of " + std::to_string(file_.size()) +
                      "; it is truncated or corrupted: copy or convert it again");
    }
  }

  void CheckTarget(uint64_t start, const Field& field, uint8_t union_type) {
    switch (field.type) {
      case Field::kScalar:
        return;
      case Field::kString:
        return CheckString(start);
      case Field::kVector:
        CheckVector(start, field.width);
        return;
      case Field::kTable:
        return CheckTable(start, field.kind);
      case Field::kTables: {
        const uint64_t length = CheckVector(start, sizeof(uint32_t));
        file_.Spend(length * sizeof(uint32_t));
        for (uint64_t i = 0; i < length; ++i) {
          CheckTable(file_.Follow(start + 4 + 4 * i, "a table"), field.kind);
        }
        return;
      }
      case Field::kUnion: {
        const Kind kind = union_type == 0 ? kUnknown : field.select(union_type);
        if (kind != kUnknown) CheckTable(start, kind);
      }
    }
  }

  uint64_t CheckVector(uint64_t start, size_t width) {
    const uint64_t length = file_.Read<uint32_t>(start, "a vector");
    file_.Slice(start + 4, length * width, "a vector");
    return length;
  }

  // Checks a string of any encoding, because hosts take strings as bytes.
  void CheckString(uint64_t start) {
    const uint64_t length = CheckVector(start, 1);
    if (file_.Read<uint8_t>(start + 4 + length, "the end of a string") == 0) return;
    throw FileError("expected a string with a zero at its end at byte " + std::to_string(start) +
                    ", got none; it is corrupted: copy or convert it again");
  }

  static constexpr uint64_t kBytesOfAnEntry = 64;  // memory of an entry of the set

  Flatbuffer& file_;
  std::unordered_set<uint64_t> checked_;
};

}  // namespace

void CheckStructure(Flatbuffer& file) { Checker(file).Check(); }

}  // namespace larq_engine
