#include "larq_engine/runtime/placement_option.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/runtime/printable.h"

namespace larq_engine {
namespace {

constexpr std::string_view kFallback = "fallback";

// Limits what an error quotes of a placement, in bytes.
constexpr size_t kMostShown = 80;

// Limits the time that a placement can cost: each cut goes through the whole program once.
constexpr size_t kMaxCuts = 1024;

bool IsNameOfKernel(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Removes the text up to the first separator, and the separator, and returns what was before it.
// Without a separator, this is all of the text.
std::string_view CutFirst(std::string_view& text, char separator) {
  const std::string_view first = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), first.size() + 1));
  return first;
}

// Parses text such as "3" or "1/3". Returns -1 for a number that the text does not have.
GraphNode ParseNode(std::string_view text) {
  if (text.find('/') == text.npos) return {0, ParseNumber(text)};
  const int subgraph = ParseNumber(CutFirst(text, '/'));
  return {subgraph, subgraph < 0 ? -1 : ParseNumber(text)};
}

// Parses text such as "cpu" or "cuda:bconv2d_popc"; returns nothing for other text.
std::optional<PartOption> ParsePart(std::string_view text) {
  const bool names_kernel = text.find(':') != text.npos;
  const std::string_view device = CutFirst(text, ':');
  if (names_kernel && !IsNameOfKernel(text)) return std::nullopt;
  if (device == "cpu") return PartOption{.accelerator = {}, .kernel = std::string(text)};
  for (size_t kind = 0; kind < AcceleratorKinds().size(); ++kind) {
    if (device != AcceleratorKinds()[kind].name) continue;
    return PartOption{.accelerator = kind, .kernel = std::string(text)};
  }
  return std::nullopt;
}

// Parses text such as "host", "cpu" or "cpu@64+cuda"; returns nothing for other text.
std::optional<NodeOption> ParsePlace(std::string_view text) {
  if (text == "host") return NodeOption{.parts = {}};
  const bool is_cut = text.find('@') != text.npos;
  const std::optional<PartOption> first = ParsePart(CutFirst(text, '@'));
  if (!first) return std::nullopt;
  if (!is_cut) return NodeOption{.parts = {*first}};
  const int channels = ParseNumber(CutFirst(text, '+'));
  const std::optional<PartOption> second = ParsePart(text);
  if (channels < 1 || !second) return std::nullopt;
  return NodeOption{.parts = {*first, *second}, .channels = channels};
}

// Throws std::invalid_argument if the device or its row does not exist.
void CheckPart(const PartOption& part, const std::string& start, DeviceOption device) {
  if (part.accelerator && device == DeviceOption::kCpu) {
    const auto& [name, title] = AcceleratorKinds()[*part.accelerator];
    throw std::invalid_argument(start + " is placed on " + std::string(name) + "; set device to " +
                                std::string(name) + " as well, or to auto for the CPU where " +
                                "there is no " + std::string(title));
  }
  if (part.kernel.empty()) return;
  if (!part.accelerator) {
    ParseKernel(part.kernel, start);
  } else if (!IsRowForGpus(part.kernel)) {
    throw std::invalid_argument(start + ": expected a row for GPUs, got '" + part.kernel +
                                "'; the profile shows their names");
  }
}

// Returns "host, cpu or cuda, such as 3:cpu,7:cuda".
std::string PlacesWithExample() {
  const std::string last(AcceleratorKinds().back().name);
  std::string places = "host, cpu";
  for (const AcceleratorKind& kind : AcceleratorKinds()) {
    places += (kind.name == last ? " or " : ", ") + std::string(kind.name);
  }
  return places + ", such as 3:cpu,7:" + last;
}

}  // namespace

int ParseNumber(std::string_view text) {
  int number = -1;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stop == end && number >= 0 ? number : -1;
}

bool IsRowForGpus(std::string_view name) {
  const std::span<const cuda::Bconv2dRow> rows = cuda::Bconv2dRows();
  return std::any_of(rows.begin(), rows.end(), [&](const cuda::Bconv2dRow& row) {
    return cuda::RowOf(row.kernel).name == name;
  });
}

std::string NamesOfGpuKernels(std::string_view separator) {
  std::string text;
  for (const cuda::Bconv2dRow& row : cuda::Bconv2dRows()) {
    text += (text.empty() ? "" : std::string(separator)) + cuda::RowOf(row.kernel).name;
  }
  return text;
}

std::string ParseKernel(std::string_view name, const std::string& source) {
  if (name == kAutoKernel || name == kReferenceKernel) return std::string(name);
  // The layer's fields are left empty, as only the name and the CPU are checked here.
  const ProductChoice choice = SelectProduct(DetectCpuFeatures(), {}, name);
  if (!choice.has_row()) throw std::invalid_argument(source + ": " + choice.error);
  return std::string(name);
}

PlacementOption ParsePlacement(std::string_view text, const std::string& source,
                               DeviceOption device) {
  PlacementOption placement;
  bool falls_back = false;
  size_t cuts = 0;
  std::vector<std::string_view> items;
  for (std::string_view rest = text == "none" ? "" : text; !rest.empty();) {
    const std::string_view item = CutFirst(rest, ',');
    if (item == kFallback) {
      falls_back = true;
    } else {
      items.push_back(item);
    }
  }
  for (const std::string_view item : items) {
    std::string_view place = item;
    const GraphNode node = ParseNode(CutFirst(place, ':'));
    const std::optional<NodeOption> placed = ParsePlace(place);
    if (node.node < 0 || !placed) {
      throw std::invalid_argument(source + ": expected a node's number (see the profile) and " +
                                  PlacesWithExample() + ", got '" + Printable(item, kMostShown) +
                                  "'");
    }
    if (!placement.try_emplace(node, *placed).second) {
      throw std::invalid_argument(source + ": node " + node.Text() + " stands in it twice");
    }
    if (placed->parts.size() == 2 && ++cuts > kMaxCuts) {
      throw std::invalid_argument(source + ": expected at most " + std::to_string(kMaxCuts) +
                                  " layers that are cut in two, got more");
    }
    try {
      for (const PartOption& part : placed->parts) {
        CheckPart(part, source + ": node " + node.Text(), device);
      }
    } catch (const std::invalid_argument&) {
      if (!falls_back) throw;
      placement.erase(node);
    }
  }
  return placement;
}

}  // namespace larq_engine
