// Cleans text that a stranger may have written, such as a name in a model's file.
#ifndef LARQ_ENGINE_RUNTIME_PRINTABLE_H_
#define LARQ_ENGINE_RUNTIME_PRINTABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace larq_engine {

// Makes a text one line for a terminal. Bytes that are no UTF-8, and characters that would move the
// cursor, change colours or reverse the order of letters, become U+FFFD. A text of more than `most`
// bytes is cut after a letter.
std::string Printable(std::string_view text, size_t most = std::string_view::npos);

// Decodes the first letter of a text. Returns how many bytes it has, 0 if they are no UTF-8.
size_t DecodeLetter(std::string_view text, uint32_t* letter);

// Returns the number of letters in a text of UTF-8.
size_t Letters(std::string_view text);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PRINTABLE_H_
