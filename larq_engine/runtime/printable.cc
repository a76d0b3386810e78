#include "larq_engine/runtime/printable.h"

#include <algorithm>

namespace larq_engine {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Control characters, invisible marks, separators of lines, and marks that reverse the order of
// letters.
constexpr Range kNotShown[] = {
    {0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},       {0x61C, 0x61C},
    {0x180E, 0x180E}, {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
    {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
};

}  // namespace

size_t DecodeLetter(std::string_view text, uint32_t* letter) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  const size_t size = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size == 0 || lead > 0xF4 || text.size() < size) return 0;
  *letter = size == 1 ? lead : lead & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    *letter = *letter << 6 | (byte(i) & 0x3Fu);
  }
  const bool is_longer_than_needed =
      (size == 3 && *letter < 0x800) || (size == 4 && *letter < 0x10000);
  const bool is_surrogate = *letter >= 0xD800 && *letter <= 0xDFFF;
  return is_longer_than_needed || is_surrogate || *letter > 0x10FFFF ? 0 : size;
}

std::string Printable(std::string_view text, size_t most) {
  std::string shown;
  size_t read = 0;
  while (!text.empty()) {
    uint32_t letter = 0;
    const size_t size = DecodeLetter(text, &letter);
    read += std::max<size_t>(size, 1);
    if (read > most) return shown + "...";
    const bool is_shown =
        size > 0 && std::none_of(std::begin(kNotShown), std::end(kNotShown), [&](Range range) {
          return letter >= range.first && letter <= range.last;
        });
    shown += is_shown ? text.substr(0, size) : "\xEF\xBF\xBD";
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return shown;
}

size_t Letters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<uint8_t>(byte) & 0xC0) != 0x80;
  }));
}

}  // namespace larq_engine
