// Text as a string of JSON.
#ifndef LARQ_ENGINE_RUNTIME_JSON_STRING_H_
#define LARQ_ENGINE_RUNTIME_JSON_STRING_H_

#include <string>
#include <string_view>

namespace larq_engine {

// Returns the text in quotes. Bytes that are no UTF-8 become U+FFFD: names come from model files.
std::string JsonString(std::string_view text);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_JSON_STRING_H_
