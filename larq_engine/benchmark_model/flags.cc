#include "larq_engine/benchmark_model/flags.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>

#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/runtime/engine_options.h"

namespace larq_engine {
namespace {

constexpr double kMaxSeconds = 1e6;

[[noreturn]] void Refuse(std::string_view flag, std::string_view expected, std::string_view got) {
  throw UsageError("--" + std::string(flag) + ": expected " + std::string(expected) + ", got '" +
                   std::string(got) + "'");
}

struct FlagSpec {
  std::string_view name;
  std::string_view form;  // the value in --help; empty: a switch, which is true without a value
  std::string_view help;
  std::function<void(Flags& flags, std::string_view value)> set;
};

auto Text(std::string Flags::*field, std::string_view name) {
  return [field, name](Flags& flags, std::string_view value) {
    if (value.empty()) Refuse(name, "a value", value);
    flags.*field = value;
  };
}

std::optional<int> ReadWhole(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// from_chars is not used, because the libc++ of Android's NDK has it for whole numbers only.
std::optional<double> ReadReal(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) || *end != 0) {
    return std::nullopt;
  }
  return number;
}

auto Whole(int Flags::*field, std::string_view name, int lowest, int highest) {
  return [=](Flags& flags, std::string_view value) {
    const std::optional<int> number = ReadWhole(value);
    if (!number || *number < lowest || *number > highest) {
      Refuse(name,
             "a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest),
             value);
    }
    flags.*field = *number;
  };
}

auto Real(double Flags::*field, std::string_view name, double highest) {
  return [=](Flags& flags, std::string_view value) {
    const std::optional<double> number = ReadReal(std::string(value));
    if (!number || !(*number >= 0) || *number > highest) {
      Refuse(name, std::isinf(highest) ? "a number of at least 0" : "a number from 0 to 1000000",
             value);
    }
    flags.*field = *number;
  };
}

auto Switch(bool Flags::*field, std::string_view name) {
  return [=](Flags& flags, std::string_view value) {
    const std::optional<bool> on = ParseSwitch(value);
    if (!on) Refuse(name, kSwitchValues, value);
    flags.*field = *on;
  };
}

void SetHost(Flags& flags, std::string_view value) {
  if (value == "litert") {
    flags.host = HostChoice::kLiteRt;
  } else if (value == "none") {
    flags.host = HostChoice::kNone;
  } else if (value == "auto") {
    flags.host = HostChoice::kAuto;
  } else {
    Refuse("host", "litert, none or auto", value);
  }
}

auto TensorFiles(std::vector<std::string> Flags::*field, std::string_view name) {
  return [=](Flags& flags, std::string_view value) {
    for (size_t start = 0; start <= value.size();) {
      const size_t end = std::min(value.find(',', start), value.size());
      const std::string_view item = value.substr(start, end - start);
      const size_t colon = item.find(':');
      if (colon == 0 || colon == std::string_view::npos || item.back() == ':') {
        Refuse(name, "tensor:path, by name or number, separated by commas", value);
      }
      (flags.*field).emplace_back(item);
      start = end + 1;
    }
  };
}

const std::vector<FlagSpec>& Specs() {
  static const std::vector<FlagSpec> specs = {
      {"graph", "PATH", "the .tflite file to run; required", Text(&Flags::graph, "graph")},
      {"host", "litert|none|auto",
       "what computes the operators that the engine leaves: LiteRT, nothing (the\n"
       "engine must compute all), or auto, LiteRT only if it is needed (litert;\n"
       "none if there is no library of LiteRT)",
       SetHost},
      {"litert", "PATH",
       "LiteRT's library; by default libLiteRt.so beside this program, or where\n"
       "the dynamic loader finds it",
       Text(&Flags::litert, "litert")},
      {"num_threads", "N", "threads of the engine and of the host (1)",
       Whole(&Flags::num_threads, "num_threads", 1, kMaxThreads)},
      {"num_runs", "N", "measure at least so many inferences (50)",
       Whole(&Flags::num_runs, "num_runs", 1, kMaxRuns)},
      {"min_secs", "SECONDS", "measure for at least so long (1)",
       Real(&Flags::min_secs, "min_secs", kMaxSeconds)},
      {"max_secs", "SECONDS",
       "stop measuring after so long, but not before one inference, whatever\n"
       "--num_runs and --min_secs say (150)",
       Real(&Flags::max_secs, "max_secs", kMaxSeconds)},
      {"warmup_runs", "N", "inferences between the first one and the measured ones, at least (1)",
       Whole(&Flags::warmup_runs, "warmup_runs", 0, kMaxRuns)},
      {"warmup_min_secs", "SECONDS", "warm up for at least so long (0.5)",
       Real(&Flags::warmup_min_secs, "warmup_min_secs", kMaxSeconds)},
      {"kernel", "NAME",
       "kernel of binarized layers: auto, reference, a row of --list_kernels, or\n"
       "a row for GPUs (auto)",
       Text(&Flags::kernel, "kernel")},
      {"fuse", "on|off", "compute float operators between binarized ones in the engine, too (on)",
       Switch(&Flags::fuse, "fuse")},
      {"device", "NAME",
       "what the engine computes on: cpu, cuda (the first GPU), cuda:N (GPU N),\n"
       "or auto, for each operator the one that is expected to be faster (cpu)",
       Text(&Flags::device, "device")},
      {"placement", "NODE:NAME,...",
       "where single operators are computed, such as 3:cpu,7:host; the table of\n"
       "--enable_op_profiling has their numbers",
       Text(&Flags::placement, "placement")},
      {"enable_op_profiling", "",
       "time each operator too, in --num_runs inferences after the others",
       Switch(&Flags::enable_op_profiling, "enable_op_profiling")},
      {"output_json", "PATH", "write the results to this file too, as JSON",
       Text(&Flags::output_json, "output_json")},
      {"profile_out", "PATH",
       "write measurements to this file, of which `larq-engine place` and\n"
       "`report` make a profile. The model runs --num_runs times in each of three\n"
       "ways: as it is, with the engine's operators one by one, and with all that\n"
       "the host can compute on the host",
       Text(&Flags::profile_out, "profile_out")},
      {"input_value_files", "TENSOR:PATH,...",
       "files of the inputs' raw bytes, little-endian; an input without a file\n"
       "gets random data, the same on every machine",
       TensorFiles(&Flags::input_value_files, "input_value_files")},
      {"save_outputs", "TENSOR:PATH,...",
       "write outputs of the first inference to these files, as raw bytes",
       TensorFiles(&Flags::save_outputs, "save_outputs")},
      {"check", "TENSOR:PATH,...",
       "compare outputs of the first inference with such files; exit code 1 if\n"
       "one differs",
       TensorFiles(&Flags::check, "check")},
      {"check_tolerance", "X", "how far a value may be from the file's (0: no bit differs)",
       Real(&Flags::check_tolerance, "check_tolerance", HUGE_VAL)},
      {"list_kernels", "", "print the kernel rows that this CPU runs",
       Switch(&Flags::list_kernels, "list_kernels")},
      {"help", "", "print this", Switch(&Flags::help, "help")},
  };
  return specs;
}

const FlagSpec& FindFlag(std::string_view name, std::string_view argument) {
  for (const FlagSpec& spec : Specs()) {
    if (spec.name == name) return spec;
  }
  throw UsageError("expected a flag of --help, got '" + std::string(argument) + "'");
}

}  // namespace

Flags ParseFlags(std::span<const char* const> arguments) {
  Flags flags;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (!argument.starts_with("--")) {
      throw UsageError("expected --flag=value, got '" + std::string(argument) + "'");
    }
    const size_t equals = std::min(argument.find('='), argument.size());
    const FlagSpec& spec = FindFlag(argument.substr(2, equals - 2), argument);
    if (equals < argument.size()) {
      spec.set(flags, argument.substr(equals + 1));
    } else if (spec.form.empty()) {
      spec.set(flags, "true");
    } else if (i + 1 < arguments.size()) {
      spec.set(flags, arguments[++i]);
    } else {
      throw UsageError("--" + std::string(spec.name) + ": expected a value after it, got none");
    }
  }
  if (flags.host == HostChoice::kNone && !flags.litert.empty()) {
    throw UsageError("--litert: expected no library beside --host=none, got '" + flags.litert +
                     "'");
  }
  if (flags.host == HostChoice::kDefault && !flags.litert.empty()) flags.host = HostChoice::kLiteRt;
  if (flags.graph.empty() && !flags.help && !flags.list_kernels) {
    throw UsageError("--graph: expected the path of a .tflite file, got none; see --help");
  }
  return flags;
}

std::string HelpText() {
  constexpr size_t kHelpColumn = 39;
  std::string text =
      "larq_benchmark_model: times a .tflite model in this engine, with or without LiteRT\n\n"
      "usage: larq_benchmark_model --graph=PATH [--flag=value ...]\n\n"
      "Defaults stand in parentheses at the end. A TENSOR is a name or a number.\n\n";
  for (const FlagSpec& spec : Specs()) {
    std::string line = "  --" + std::string(spec.name);
    if (!spec.form.empty()) line += "=" + std::string(spec.form);
    line.resize(std::max(line.size() + 2, kHelpColumn), ' ');
    for (const char c : spec.help) {
      line += c;
      if (c == '\n') line += std::string(kHelpColumn, ' ');
    }
    text += line + "\n";
  }
  return text +
         "\nexit code: 0; 1 if something failed or --check found a difference; 2 for a flag\n"
         "that is unknown or has an impossible value\n";
}

}  // namespace larq_engine
