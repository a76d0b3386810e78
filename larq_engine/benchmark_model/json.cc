#include "larq_engine/benchmark_model/json.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace larq_engine {
namespace {

// Returns the length of the UTF-8 character at the beginning of the text, 0 if there is none.
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  size_t length = 1;
  uint32_t code = lead;
  uint32_t lowest = 0;
  if (lead >= 0xF0 && lead < 0xF8) {
    length = 4, code = lead & 0x07, lowest = 0x10000;
  } else if (lead >= 0xE0 && lead < 0xF0) {
    length = 3, code = lead & 0x0F, lowest = 0x800;
  } else if (lead >= 0xC0 && lead < 0xE0) {
    length = 2, code = lead & 0x1F, lowest = 0x80;
  } else if (lead >= 0x80) {
    return 0;
  }
  if (length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < lowest || code > 0x10FFFF || surrogate ? 0 : length;
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
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
