// Writes JSON: values in the order in which they are given, indented.
#ifndef BENCHMARKS_MODEL_JSON_H_
#define BENCHMARKS_MODEL_JSON_H_

#include <concepts>
#include <string>
#include <string_view>

namespace larq_engine {

// Text as a JSON string. Bytes that are no UTF-8 become U+FFFD: names come from model files.
std::string JsonString(std::string_view text);

// JSON knows no infinity and no NaN; they become null.
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

  // Of an object or array; its elements have an empty key in an array.
  void BeginObject(std::string_view key) { Open(key, '{'); }
  void BeginArray(std::string_view key) { Open(key, '['); }
  void End();

  // Ends all that is open, and takes the text.
  std::string Finish();

 private:
  void Put(std::string_view key, std::string_view value);
  void Open(std::string_view key, char bracket);
  void NewLine();

  std::string text_;
  std::string open_;  // the closing brackets that are to come, the last first
  bool first_ = true;
};

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_JSON_H_
