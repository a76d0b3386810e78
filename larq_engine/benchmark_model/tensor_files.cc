#include "larq_engine/benchmark_model/tensor_files.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "larq_engine/benchmark_model/errors.h"

namespace larq_engine {
namespace {

std::optional<TensorFile> Match(const std::string& pair, std::span<const std::string> names) {
  std::optional<size_t> found;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool fits = pair.starts_with(names[i]) && pair[names[i].size()] == ':';
    if (fits && (!found || names[i].size() > names[*found].size())) found = i;
  }
  if (found) return TensorFile{*found, pair.substr(names[*found].size() + 1)};
  const size_t colon = pair.find(':');
  size_t number = 0;
  const auto [end, error] = std::from_chars(pair.data(), pair.data() + colon, number);
  if (error != std::errc() || end != pair.data() + colon || number >= names.size()) return {};
  return TensorFile{number, pair.substr(colon + 1)};
}

std::string List(std::span<const std::string> names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? "" : ", ") + std::to_string(i) + " '" + names[i] + "'";
  }
  return list;
}

}  // namespace

std::vector<TensorFile> MatchTensorFiles(std::span<const std::string> pairs,
                                         std::span<const std::string> names,
                                         std::string_view flag) {
  std::vector<TensorFile> files;
  for (const std::string& pair : pairs) {
    const std::optional<TensorFile> file = Match(pair, names);
    if (!file) {
      throw UsageError("--" + std::string(flag) + ": expected a tensor out of " + List(names) +
                       ", got '" + pair + "'");
    }
    const bool twice = std::any_of(files.begin(), files.end(), [&](const TensorFile& other) {
      return other.tensor == file->tensor;
    });
    if (twice) {
      throw UsageError("--" + std::string(flag) +
                       ": expected one file for each tensor, got two of '" + names[file->tensor] +
                       "'");
    }
    files.push_back(*file);
  }
  return files;
}

}  // namespace larq_engine
