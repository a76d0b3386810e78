// Writes JSON: indented, with values in the order in which they are added.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_JSON_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_JSON_H_

#include <concepts>
#include <span>
#include <string>
#include <string_view>

#include "larq_engine/runtime/json_string.h"

namespace larq_engine {

// Writes a number. Infinities and NaN, which JSON does not know, become null.
std::string JsonNumber(double value);

class JsonWriter {
 public:
  JsonWriter() { Open("", '{'); }

  void Add(std::string_view key, std::string_view value) { Put(key, JsonString(value)); }
  void Add(std::string_view key, const char* value) { Put(key, JsonString(value)); }
  void Add(std::string_view key, bool value) { Put(key, value ? "true" : "false"); }
  void Add(std::string_view key, double value) { Put(key, JsonNumber(value)); }
  template <std::integral Integer>
  void Add(std::string_view key, Integer value) {
    Put(key, std::to_string(value));
  }

  // Adds an array of numbers in one line.
  template <std::integral Integer>
  void Add(std::string_view key, std::span<const Integer> values) {
    std::string list;
    for (const Integer value : values) list += (list.empty() ? "" : ", ") + std::to_string(value);
    Put(key, "[" + list + "]");
  }

  // Begin an object or array. Elements of an array have an empty key.
  void BeginObject(std::string_view key) { Open(key, '{'); }
  void BeginArray(std::string_view key) { Open(key, '['); }
  void End();

  // Ends all open objects and arrays, and returns the text.
  std::string Finish();

 private:
  void Put(std::string_view key, std::string_view value);
  void Open(std::string_view key, char bracket);
  void NewLine();

  std::string text_;
  std::string open_;  // closing brackets still to be written, the last one first
  bool first_ = true;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_JSON_H_
