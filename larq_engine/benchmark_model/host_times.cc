#include "larq_engine/benchmark_model/host_times.h"

#include <algorithm>

#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/xnnpack_names.h"

namespace larq_engine {
namespace {

// XNNPACK's times are cut to whole microseconds, which loses half of one on average.
constexpr double kCutOff = 0.5e-6;

constexpr char kUnlike[] =
    "expected of LiteRT's profiler the same operators in each run, got others";

using Entries = std::span<const HostEntry>;

bool HasStepOf(Entries steps, const std::string& op) {
  return std::any_of(steps.begin(), steps.end(),
                     [&](const HostEntry& step) { return IsStepOf(step.name, op); });
}

// Scores of how well a step fits an operator. A step whose name is unknown may be part of any
// operator.
enum Fit { kNone = 0, kUnknown = 1, kByName = 4 };

// Returns how many steps each operator takes. Of all divisions that keep the order, it is the one
// that fits best.
std::vector<size_t> Divide(Entries steps, std::span<const std::string> ops) {
  struct Best {
    int fit = -1;      // below 0: impossible
    size_t begin = 0;  // first step of the last operator
  };
  const size_t count = steps.size();
  // best[operators][steps] divides the first steps among the first operators. Every step belongs to
  // an operator.
  std::vector<std::vector<Best>> best(ops.size() + 1, std::vector<Best>(count + 1));
  best[0][0].fit = 0;
  for (size_t op = 0; op < ops.size(); ++op) {
    std::vector<Fit> fits(count);
    for (size_t i = 0; i < count; ++i) {
      fits[i] = IsStepOf(steps[i].name, ops[op]) ? kByName
                : IsKnownStep(steps[i].name)     ? kNone
                                                 : kUnknown;
    }
    for (size_t end = 0; end <= count; ++end) {
      Best& found = best[op + 1][end];
      Fit fit = kNone;
      // Tries first no step, then more steps. So a step that fits either of two operators stays
      // with the first one.
      for (size_t begin = end + 1; begin-- > 0;) {
        if (begin < end) fit = std::max(fit, fits[begin]);
        const int before = best[op][begin].fit;
        if (before >= 0 && before + fit > found.fit) found = {.fit = before + fit, .begin = begin};
      }
    }
  }
  std::vector<size_t> counts(ops.size());
  for (size_t op = ops.size(), end = count; op-- > 0;) {
    const size_t begin = best[op + 1][end].begin;
    counts[op] = end - begin;
    end = begin;
  }
  return counts;
}

std::string SourceOf(Entries steps, const std::string& op) {
  if (HasStepOf(steps, op)) return "";
  if (steps.empty()) return "XNNPACK has no step for it: its work is part of another operator's";
  std::string names;
  for (const HostEntry& step : steps) names += (names.empty() ? "" : ", ") + step.name;
  return "what XNNPACK does at its place in the order of operators: " + names;
}

// Removes the entries of one part of the plan from the front of `left`, and returns them.
Entries TakePart(const HostPlanStep& part, Entries& left) {
  size_t count = 0;
  if (part.part == HostPart::kOperator) {
    if (!left.empty() && !left[0].is_xnnpacks &&
        left[0].number == static_cast<uint64_t>(part.nodes[0])) {
      count = 1;
    }
  } else {
    while (count < left.size() && left[count].is_xnnpacks && left[count].number == count) ++count;
  }
  if (count == 0) {
    throw ModelError("expected of LiteRT's profiler the time of operator #" +
                     std::to_string(part.nodes.empty() ? -1 : part.nodes[0]) + ", got none");
  }
  const Entries taken = left.first(count);
  left = left.subspan(count);
  return taken;
}

double SecondsOf(Entries entries) {
  double seconds = 0;
  for (const HostEntry& entry : entries) {
    seconds += static_cast<double>(entry.microseconds) / 1e6 + (entry.is_xnnpacks ? kCutOff : 0);
  }
  return seconds;
}

}  // namespace

void HostTimes::AddOps(const HostPlanStep& part, Entries entries) {
  std::vector<std::string> names;
  for (const int node : part.nodes) names.push_back(names_[static_cast<size_t>(node)].op);
  const bool is_xnnpacks = part.part == HostPart::kXnnpack;
  const std::vector<size_t> counts =
      is_xnnpacks ? Divide(entries, names) : std::vector<size_t>{entries.size()};
  for (size_t i = 0; i < counts.size(); ++i) {
    const Entries own = entries.first(counts[i]);
    ops_.push_back({.node = part.nodes[i], .source = is_xnnpacks ? SourceOf(own, names[i]) : ""});
    counts_.push_back(counts[i]);
    entries = entries.subspan(counts[i]);
  }
}

void HostTimes::AddRun(Entries entries) {
  size_t op = 0;
  for (const HostPlanStep& part : plan_) {
    if (part.part == HostPart::kEngine) continue;
    Entries left = TakePart(part, entries);
    if (op == ops_.size()) AddOps(part, left);
    for (size_t i = 0; i < part.nodes.size(); ++i, ++op) {
      if (counts_[op] > left.size()) throw ModelError(kUnlike);
      ops_[op].seconds.push_back(SecondsOf(left.first(counts_[op])));
      left = left.subspan(counts_[op]);
    }
    if (!left.empty()) throw ModelError(kUnlike);
  }
  if (!entries.empty()) {
    throw ModelError("expected of LiteRT's profiler no more than the model's operators, got '" +
                     entries[0].name + "'");
  }
}

}  // namespace larq_engine
