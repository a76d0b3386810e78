// Cleans text that a stranger may have written, such as a name in a model's file.
#ifndef LARQ_ENGINE_RUNTIME_PRINTABLE_H_
#define LARQ_ENGINE_RUNTIME_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace larq_engine {

// Makes a text fit for a terminal: letters outside printable ASCII become '?', and a text longer
// than `most` is cut.
std::string Printable(std::string_view text, size_t most = 80);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_PRINTABLE_H_
