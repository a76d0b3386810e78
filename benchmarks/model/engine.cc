#include "benchmarks/model/engine.h"

#include <charconv>
#include <cstring>

#include "benchmarks/model/errors.h"
#include "benchmarks/model/flags.h"
#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
namespace {

// Reads the JSON of one writer: objects of strings and whole numbers, without spaces.
class StepParser {
 public:
  explicit StepParser(std::string_view text) : text_(text) {}

  std::vector<EngineStep> Parse() {
    std::vector<EngineStep> steps;
    Expect("{\"steps\":[");
    while (!Skip("]}")) {
      if (!steps.empty()) Expect(",");
      steps.push_back(Step());
    }
    return steps;
  }

 private:
  bool Skip(std::string_view token) {
    const bool there = text_.starts_with(token);
    if (there) text_.remove_prefix(token.size());
    return there;
  }

  void Expect(std::string_view token) {
    if (!Skip(token)) {
      throw RunError("larq_engine's profile: expected " + std::string(token) + ", got '" +
                     std::string(text_.substr(0, 20)) + "'");
    }
  }

  EngineStep Step() {
    EngineStep step;
    Expect("{\"op\":");
    step.op = String();
    Expect(",\"name\":");
    step.name = String();
    Expect(",\"node\":");
    step.node = static_cast<int>(Number());
    Expect(",\"kernel\":");
    step.kernel = String();
    Expect(",\"calls\":");
    step.calls = Number();
    Expect(",\"total_ns\":");
    step.total_ns = Number();
    Expect(",\"macs\":");
    step.macs = Number();
    Expect("}");
    return step;
  }

  uint64_t Number(int base = 10) {
    uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(text_.data(), text_.data() + text_.size(), number, base);
    if (error != std::errc()) Expect("a number");
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return number;
  }

  // Escapes are \" \\ and \u00xx.
  std::string String() {
    std::string string;
    Expect("\"");
    while (!Skip("\"")) {
      if (text_.empty()) Expect("the end of a string");
      if (text_.starts_with("\\u") && text_.size() >= 6) {
        unsigned code = 0;
        std::from_chars(text_.data() + 2, text_.data() + 6, code, 16);
        string += static_cast<char>(code);
        text_.remove_prefix(6);
        continue;
      }
      if (text_.size() > 1 && text_[0] == '\\') text_.remove_prefix(1);
      string += text_[0];
      text_.remove_prefix(1);
    }
    return string;
  }

  std::string_view text_;
};

}  // namespace

std::vector<EngineStep> ParseSteps(std::string_view json) { return StepParser(json).Parse(); }

BenchmarkedEngine::BenchmarkedEngine(const Flags& flags) {
  const std::string threads = std::to_string(flags.num_threads);
  const char* keys[] = {"num_threads", "kernel", "fuse"};
  const char* values[] = {threads.c_str(), flags.kernel.c_str(), flags.fuse ? "on" : "off"};
  static std::string refusal;  // static: the interface hands the error function no data of ours
  delegate_ = tflite_plugin_create_delegate(keys, values, std::size(keys),
                                            [](const char* message) { refusal = message; });
  if (delegate_ == nullptr) throw UsageError(refusal);
}

BenchmarkedEngine::~BenchmarkedEngine() { tflite_plugin_destroy_delegate(delegate_); }

void BenchmarkedEngine::StartProfile() { larq_engine_profile_start(delegate_); }

std::vector<EngineStep> BenchmarkedEngine::StopProfile() {
  // Some 20 KB for a large network; read again with its true size if it is longer.
  std::string json(1 << 16, 0);
  const size_t length = larq_engine_profile_read(delegate_, json.data(), json.size());
  if (length >= json.size()) {
    json.resize(length + 1);
    larq_engine_profile_read(delegate_, json.data(), json.size());
  }
  json.resize(length);
  return ParseSteps(json);
}

}  // namespace larq_engine
