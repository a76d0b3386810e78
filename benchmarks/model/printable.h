#ifndef BENCHMARKS_MODEL_PRINTABLE_H_
#define BENCHMARKS_MODEL_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace larq_engine {

// One line of text for a terminal: names come from files of strangers. What would move its cursor,
// change its colours or turn the order of letters, and bytes that are no UTF-8, become U+FFFD.
std::string Printable(std::string_view text);

// How many letters a text of UTF-8 has.
size_t Letters(std::string_view text);

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_PRINTABLE_H_
