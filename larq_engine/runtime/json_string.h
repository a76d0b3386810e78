// Text as a string of JSON.
#ifndef LARQ_ENGINE_RUNTIME_JSON_STRING_H_
#define LARQ_ENGINE_RUNTIME_JSON_STRING_H_

#include <string>

namespace larq_engine {

// Returns the text in quotes. It may be a name in a model's file. Bytes outside ASCII stand for
// themselves: the reader decides what to do with text that is not UTF-8.
std::string JsonString(const std::string& text);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_JSON_STRING_H_
