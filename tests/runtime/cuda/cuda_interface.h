// Describes the CUDA driver's interface as text, one fact a line, for the golden file. It is
// included after the declarations that it describes (the official ones or ours).
#ifndef LARQ_ENGINE_TESTS_RUNTIME_CUDA_CUDA_INTERFACE_H_
#define LARQ_ENGINE_TESTS_RUNTIME_CUDA_CUDA_INTERFACE_H_

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

// Describes a type in the terms on which a caller and a function must agree. All handles are alike.
template <typename T>
struct TypeText {
  static std::string Text() {
    if constexpr (std::is_enum_v<T>) return TypeText<std::underlying_type_t<T>>::Text();
    if constexpr (std::is_same_v<T, void>) return "void";
    if constexpr (std::is_same_v<T, char>) return "char";
    if constexpr (std::is_class_v<T>) return "opaque";
    if constexpr (std::is_arithmetic_v<T>) {
      return (std::is_floating_point_v<T> ? "float"
              : std::is_signed_v<T>       ? "int"
                                          : "unsigned") +
             std::to_string(8 * sizeof(T));
    }
  }
};
template <typename T>
struct TypeText<const T> {
  static std::string Text() { return "const " + TypeText<T>::Text(); }
};
template <typename T>
struct TypeText<T*> {
  static std::string Text() { return TypeText<T>::Text() + "*"; }
};
template <typename Result, typename... Args>
struct TypeText<Result(Args...)> {
  static std::string Text() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + TypeText<Args>::Text()), ...);
    return TypeText<Result>::Text() + "(" + text + ")";
  }
};

inline std::vector<std::string> DescribeInterface() {
  std::vector<std::string> lines;
  // NOLINTBEGIN
#define VALUE(name) \
  lines.push_back("value " #name " " + std::to_string(static_cast<long long>(name)));
#define TYPE(name) lines.push_back("type " #name " " + TypeText<name>::Text());
#define FUNCTION(name) \
  lines.push_back("function " #name " " + TypeText<FUNCTION_TYPE(name)>::Text());
#include "tests/runtime/cuda/cuda_interface.inc"
  // NOLINTEND
  return lines;
}

#endif  // LARQ_ENGINE_TESTS_RUNTIME_CUDA_CUDA_INTERFACE_H_
