#include "larq_engine/benchmark_model/json.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "larq_engine/runtime/printable.h"

namespace larq_engine {

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    uint32_t letter = 0;
    const size_t length = DecodeLetter(text, &letter);
    if (length == 0) {
      out += "\\ufffd";
    } else if (text[0] == '"' || text[0] == '\\') {
      out += '\\';
      out += text[0];
    } else if (static_cast<uint8_t>(text[0]) < 0x20) {
      char escape[7];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(text[0]));
      out += escape;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

std::string JsonNumber(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

void JsonWriter::NewLine() {
  if (!text_.empty()) text_ += '\n';
  text_.append(2 * open_.size(), ' ');
}

void JsonWriter::Put(std::string_view key, std::string_view value) {
  if (!first_) text_ += ',';
  first_ = false;
  NewLine();
  if (!key.empty()) text_ += JsonString(key) + ": ";
  text_ += value;
}

void JsonWriter::Open(std::string_view key, char bracket) {
  Put(key, std::string_view(&bracket, 1));
  open_ += bracket == '{' ? '}' : ']';
  first_ = true;
}

void JsonWriter::End() {
  const char bracket = open_.back();
  open_.pop_back();
  if (!first_) NewLine();
  text_ += bracket;
  first_ = false;
}

std::string JsonWriter::Finish() {
  while (!open_.empty()) End();
  return std::move(text_) + "\n";
}

}  // namespace larq_engine
