// The command line.
#ifndef BENCHMARKS_MODEL_FLAGS_H_
#define BENCHMARKS_MODEL_FLAGS_H_

#include <span>
#include <string>
#include <vector>

namespace larq_engine {

// Of inferences in one go. Their times are kept, which takes 80 MB here: a small device has no more
// to give.
inline constexpr int kMaxRuns = 10'000'000;

struct Flags {
  std::string graph;
  std::string litert;  // empty: look for it
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
  // Pairs "tensor:path", not taken apart: names may hold colons, and only the model knows them.
  std::vector<std::string> input_value_files;
  std::vector<std::string> save_outputs;
  std::vector<std::string> check;
  double check_tolerance = 0;
  bool help = false;
  bool list_kernels = false;
};

// The arguments are those after the program's name. Throws UsageError.
Flags ParseFlags(std::span<const char* const> arguments);

// What --help prints.
std::string HelpText();

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_FLAGS_H_
