// The command line.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_FLAGS_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_FLAGS_H_

#include <span>
#include <string>
#include <vector>

namespace larq_engine {

// The most inferences in a row. Their times are kept, and so many take 80 MB: a small device can
// spare no more.
inline constexpr int kMaxRuns = 10'000'000;

// The host computes the operators that the engine leaves.
enum class HostChoice {
  kDefault,  // LiteRT, or nothing if its library is nowhere
  kLiteRt,
  kNone,  // the engine must compute all operators
  kAuto,  // nothing if the engine computes all operators, else LiteRT
};

struct Flags {
  std::string graph;
  HostChoice host = HostChoice::kDefault;
  std::string litert;  // empty: it is searched for
  int num_threads = 1;
  int num_runs = 50;
  double min_secs = 1;
  double max_secs = 150;
  int warmup_runs = 1;
  double warmup_min_secs = 0.5;
  std::string kernel = "auto";
  bool fuse = true;
  std::string device = "cpu";
  std::string placement;
  bool enable_op_profiling = false;
  std::string output_json;
  std::string profile_out;
  // Pairs "tensor:path". They are not split here, because names may contain colons, and only the
  // model knows the names.
  std::vector<std::string> input_value_files;
  std::vector<std::string> save_outputs;
  std::vector<std::string> check;
  double check_tolerance = 0;
  bool help = false;
  bool list_kernels = false;
};

// Parses the arguments after the program's name. Throws UsageError.
Flags ParseFlags(std::span<const char* const> arguments);

// Returns the text that --help prints.
std::string HelpText();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_FLAGS_H_
