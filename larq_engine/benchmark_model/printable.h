#ifndef LARQ_ENGINE_BENCHMARK_MODEL_PRINTABLE_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace larq_engine {

// Makes a text one line for a terminal, because names come from files of strangers. Bytes that are
// no UTF-8, and characters that would move the cursor, change colours or reverse the order of
// letters, become U+FFFD.
std::string Printable(std::string_view text);

// Decodes the first letter of a text. Returns how many bytes it has, 0 if they are no UTF-8.
size_t DecodeLetter(std::string_view text, uint32_t* letter);

// Returns the number of letters in a text of UTF-8.
size_t Letters(std::string_view text);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_PRINTABLE_H_
