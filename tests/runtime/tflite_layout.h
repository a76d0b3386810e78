// Describes the TFLite structures as text, one fact a line, for the golden file. It is included
// after the declarations that it describes (the official ones or ours), with `Profiler` naming the
// class.
#ifndef LARQ_ENGINE_TESTS_RUNTIME_TFLITE_LAYOUT_H_
#define LARQ_ENGINE_TESTS_RUNTIME_TFLITE_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// Returns the index of a virtual function in the table, counted from the address that an object
// points to (0 and 1 are the two destructors). By the Itanium ABI, the first word of a pointer to a
// virtual member function is the byte offset into the table, plus one on x86.
template <typename Member>
size_t VirtualSlot(Member member) {
  uintptr_t word;
  static_assert(sizeof(member) == 2 * sizeof(word));
  std::memcpy(&word, &member, sizeof(word));
  return (word & ~uintptr_t{1}) / sizeof(void*);
}

inline std::vector<std::string> DescribeLayout() {
  std::vector<std::string> lines;
  auto add = [&lines](std::string what, auto... numbers) {
    ((what += " " + std::to_string(numbers)), ...);
    lines.push_back(what);
  };
  // NOLINTBEGIN
#define STRUCT(type) add("struct " #type, sizeof(type));
#define FIELD(type, name) \
  add("field " #type "." #name, offsetof(type, name), sizeof(static_cast<type*>(nullptr)->name));
#define ENUM(name) add("enum " #name, static_cast<long long>(name));
#define EVENT(name) add("event " #name, static_cast<long long>(Profiler::EventType::name));
#define SLOT(name, overload, result, parameters) \
  add("slot " #name "/" #overload,               \
      VirtualSlot(static_cast<result(Profiler::*) parameters>(&Profiler::name)));
#include "tests/runtime/tflite_layout.inc"
  // NOLINTEND
  return lines;
}

#endif  // LARQ_ENGINE_TESTS_RUNTIME_TFLITE_LAYOUT_H_
