#include "larq_engine/model_file/element_type.h"

namespace larq_engine {

int BitsOf(ElementType type) {
  switch (type) {
    case ElementType::kInt2:
      return 2;
    case ElementType::kInt4:
    case ElementType::kUint4:
      return 4;
    case ElementType::kUint8:
    case ElementType::kBool:
    case ElementType::kInt8:
    case ElementType::kFloat8E4m3fn:
    case ElementType::kFloat8E5m2:
      return 8;
    case ElementType::kFloat16:
    case ElementType::kBfloat16:
    case ElementType::kInt16:
    case ElementType::kUint16:
      return 16;
    case ElementType::kFloat32:
    case ElementType::kInt32:
    case ElementType::kUint32:
      return 32;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kFloat64:
    case ElementType::kComplex64:
      return 64;
    case ElementType::kComplex128:
      return 128;
    case ElementType::kNone:
    case ElementType::kString:
    case ElementType::kResource:
    case ElementType::kVariant:
      break;
  }
  return 0;
}

const char* TypeName(ElementType type) {
  switch (type) {
    case ElementType::kNone:
      return "no type";
    case ElementType::kFloat32:
      return "float32";
    case ElementType::kFloat16:
      return "float16";
    case ElementType::kInt32:
      return "int32";
    case ElementType::kUint8:
      return "uint8";
    case ElementType::kInt64:
      return "int64";
    case ElementType::kString:
      return "string";
    case ElementType::kBool:
      return "bool";
    case ElementType::kInt16:
      return "int16";
    case ElementType::kComplex64:
      return "complex64";
    case ElementType::kInt8:
      return "int8";
    case ElementType::kFloat64:
      return "float64";
    case ElementType::kComplex128:
      return "complex128";
    case ElementType::kUint64:
      return "uint64";
    case ElementType::kResource:
      return "resource";
    case ElementType::kVariant:
      return "variant";
    case ElementType::kUint32:
      return "uint32";
    case ElementType::kUint16:
      return "uint16";
    case ElementType::kInt4:
      return "int4";
    case ElementType::kBfloat16:
      return "bfloat16";
    case ElementType::kInt2:
      return "int2";
    case ElementType::kUint4:
      return "uint4";
    case ElementType::kFloat8E4m3fn:
      return "float8_e4m3fn";
    case ElementType::kFloat8E5m2:
      return "float8_e5m2";
  }
  return "a type unknown to larq_engine";
}

}  // namespace larq_engine
