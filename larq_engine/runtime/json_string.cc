#include "larq_engine/runtime/json_string.h"

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

}  // namespace larq_engine
