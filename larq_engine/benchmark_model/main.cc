// larq_benchmark_model: times a .tflite model on a device; see docs/benchmark_binary.md.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/benchmark_model/benchmark.h"
#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/files.h"
#include "larq_engine/benchmark_model/flags.h"
#include "larq_engine/benchmark_model/machine.h"
#include "larq_engine/benchmark_model/measurements_file.h"
#include "larq_engine/benchmark_model/profile_run.h"
#include "larq_engine/benchmark_model/report.h"
#include "larq_engine/runtime/printable.h"

namespace larq_engine {
namespace {

enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2 };

ExitCode Run(std::span<const char* const> arguments) {
  const Flags flags = ParseFlags(arguments);
  if (flags.help) {
    std::fputs(HelpText().c_str(), stdout);
    return kOk;
  }
  const Machine machine = DescribeMachine();
  if (flags.list_kernels) {
    for (const std::string& kernel : machine.kernels) std::puts(kernel.c_str());
    return kOk;
  }
  if (!flags.output_json.empty()) CheckWritable(flags.output_json);  // fails now, not after minutes
  if (!flags.profile_out.empty()) CheckWritable(flags.profile_out);
  const BenchmarkResult result = RunBenchmark(flags);
  std::fputs(TextReport(flags, machine, result).c_str(), stdout);
  if (!flags.output_json.empty()) {
    const std::string json = JsonReport(flags, machine, result);
    WriteFile(flags.output_json, {reinterpret_cast<const uint8_t*>(json.data()), json.size()});
  }
  if (!flags.profile_out.empty()) {
    const std::vector<uint8_t> model = ReadFile(flags.graph);  // the file was checked before it ran
    Flags same_host = flags;
    same_host.host = result.litert_path.empty() ? HostChoice::kNone : HostChoice::kLiteRt;
    const std::string json =
        MeasurementsFile(flags, machine, model, RunForProfile(same_host, model));
    WriteFile(flags.profile_out, {reinterpret_cast<const uint8_t*>(json.data()), json.size()});
  }
  const bool ok = std::all_of(result.checks.begin(), result.checks.end(),
                              [](const CheckResult& check) { return check.ok(); });
  return ok ? kOk : kFailed;
}

// Prints an error in one line. Reasons may come from libraries and have several lines.
int Fail(const std::exception& error, ExitCode code) {
  std::string reason = error.what();
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  std::fprintf(stderr, "larq_benchmark_model: error: %s\n", Printable(reason).c_str());
  return code;
}

}  // namespace
}  // namespace larq_engine

int main(int argc, char** argv) {
  try {
    return larq_engine::Run({argv + 1, static_cast<size_t>(std::max(argc, 1) - 1)});
  } catch (const larq_engine::UsageError& error) {
    return larq_engine::Fail(error, larq_engine::kUsage);
  } catch (const std::exception& error) {
    return larq_engine::Fail(error, larq_engine::kFailed);
  }
}
