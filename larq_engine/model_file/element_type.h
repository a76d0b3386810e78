// Types of tensors' elements.
#ifndef LARQ_ENGINE_MODEL_FILE_ELEMENT_TYPE_H_
#define LARQ_ENGINE_MODEL_FILE_ELEMENT_TYPE_H_

#include <cstdint>

namespace larq_engine {

// The numbers are those of .tflite files. A file may have others.
enum class ElementType : int8_t {
  kNone = -1,  // none of the file's
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
int BitsOf(ElementType type);

const char* TypeName(ElementType type);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_ELEMENT_TYPE_H_
