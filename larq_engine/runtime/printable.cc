#include "larq_engine/runtime/printable.h"

namespace larq_engine {

std::string Printable(std::string_view text, size_t most) {
  std::string shown(text.substr(0, most));
  for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > most ? "..." : "");
}

}  // namespace larq_engine
