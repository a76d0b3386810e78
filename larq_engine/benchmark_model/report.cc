#include "larq_engine/benchmark_model/report.h"

#include <cstdarg>
#include <cstdio>

#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/printable.h"

namespace larq_engine {
namespace {

__attribute__((format(printf, 2, 3))) void Print(std::string& text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  const size_t start = text.size();
  text.resize(start + static_cast<size_t>(length) + 1);
  std::vsnprintf(&text[start], static_cast<size_t>(length) + 1, format, again);
  va_end(again);
  text.pop_back();
}

std::string Join(const std::vector<std::string>& parts, const char* if_none) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + Printable(part);
  return text.empty() ? if_none : text;
}

std::string Shape(const ModelTensor& tensor) {
  std::string text = "'" + tensor.name + "' " + ElementName(tensor.type);
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    text += (i == 0 ? " " : "x") + std::to_string(tensor.dims[i]);
  }
  return text;
}

std::string Shapes(const std::vector<ModelTensor>& tensors) {
  std::vector<std::string> parts;
  for (const ModelTensor& tensor : tensors) parts.push_back(Shape(tensor));
  return Join(parts, "none");
}

template <typename Bytes>
double Megabytes(Bytes bytes) {
  return static_cast<double>(bytes) / 1e6;
}

void AddStatistics(JsonWriter& json, const char* key, const Statistics& statistics) {
  json.BeginObject(key);
  json.Add("runs", statistics.count);
  json.Add("mean_ms", statistics.mean);
  json.Add("std_ms", statistics.deviation);
  json.Add("min_ms", statistics.min);
  json.Add("max_ms", statistics.max);
  json.Add("p50_ms", statistics.p50);
  json.Add("p90_ms", statistics.p90);
  json.Add("p95_ms", statistics.p95);
  json.Add("p99_ms", statistics.p99);
  json.End();
}

void AddStrings(JsonWriter& json, const char* key, const std::vector<std::string>& values) {
  json.BeginArray(key);
  for (const std::string& value : values) json.Add("", value);
  json.End();
}

void AddTensors(JsonWriter& json, const char* key, const std::vector<ModelTensor>& tensors) {
  json.BeginArray(key);
  for (const ModelTensor& tensor : tensors) {
    json.BeginObject("");
    json.Add("name", tensor.name);
    json.Add("type", ElementName(tensor.type));
    json.BeginArray("shape");
    for (const int32_t dim : tensor.dims) json.Add("", dim);
    json.End();
    json.End();
  }
  json.End();
}

void AddOps(JsonWriter& json, const OpTable& table) {
  json.BeginObject("ops");
  json.Add("runs", table.runs);
  json.Add("ms_per_run", table.ms_per_run);
  json.BeginArray("rows");
  for (const OpRow& row : table.rows) {
    json.BeginObject("");
    json.Add("op", row.op);
    json.Add("name", row.name);
    json.Add("tensor", row.tensor);
    json.Add("node", row.node);
    json.Add("device", row.device);
    json.Add("kernel", row.kernel);
    json.Add("calls", row.calls);
    json.Add("ms_per_call", row.ms_per_call);
    json.Add("percent", row.percent);
    if (row.gmac_per_s != 0) json.Add("gmac_per_s", row.gmac_per_s);
    json.End();
  }
  json.End();
  json.End();
}

void AddChecks(JsonWriter& json, const std::vector<CheckResult>& checks) {
  json.BeginArray("checks");
  for (const CheckResult& check : checks) {
    json.BeginObject("");
    json.Add("output", check.output);
    json.Add("file", check.path);
    json.Add("ok", check.ok());
    json.Add("elements", check.elements);
    json.Add("different", check.difference.values);
    json.Add("max_difference", check.difference.largest);
    json.End();
  }
  json.End();
}

}  // namespace

std::string TextReport(const Flags& flags, const Machine& machine, const BenchmarkResult& result) {
  std::string text;
  Print(
      text, "larq_engine %s, %s\n", larq_engine_version(),
      result.litert_path.empty() ? "without a host" : ("LiteRT at " + result.litert_path).c_str());
  Print(text, "machine       %s, %d processors, %s, %s; ISAs: %s\n", machine.cpu.c_str(),
        machine.processors, machine.architecture.c_str(), machine.system.c_str(),
        Join(machine.isas, "none").c_str());
  Print(text, "model         %s, %.2f MB\n", Printable(flags.graph).c_str(),
        Megabytes(result.model_bytes));
  Print(text, "inputs        %s\n", Shapes(result.inputs).c_str());
  Print(text, "outputs       %s\n", Shapes(result.outputs).c_str());
  Print(text, "kernels       %s\n", Join(result.kernels, "none: no binarized convolution").c_str());
  Print(text, "threads       %d\n", flags.num_threads);
  Print(text, "device        %s%s%s\n\n", flags.device.c_str(), flags.placement.empty() ? "" : ", ",
        flags.placement.c_str());
  Print(text, "init          %.3f ms: library %.3f, model %.3f, compile %.3f\n", result.init_ms(),
        result.library_ms, result.load_ms, result.compile_ms);
  Print(text, "first         %.3f ms\n", result.first_ms);
  Print(text, "warm-up       %.3f ms, mean of %zu runs\n", result.warmup.mean, result.warmup.count);
  const Statistics& times = result.measured;
  Print(text, "inference     %.3f ms, mean of %zu runs; std %.3f, min %.3f, max %.3f\n", times.mean,
        times.count, times.deviation, times.min, times.max);
  Print(text, "percentiles   p50 %.3f, p90 %.3f, p95 %.3f, p99 %.3f ms\n", times.p50, times.p90,
        times.p95, times.p99);
  Print(text, "memory        peak %.1f MB; %.1f MB before init, which took %.1f MB more\n",
        Megabytes(result.peak_bytes), Megabytes(result.bytes_before_init),
        Megabytes(result.bytes_after_init - result.bytes_before_init));
  for (const MemoryReport& report : result.device_memory) {
    Print(text, "%-13s weights %.1f MB, activations %.1f MB; %.1f MB pinned on the host\n",
          report.device.c_str(), Megabytes(report.weights), Megabytes(report.activations),
          Megabytes(report.staging));
  }
  for (const CheckResult& check : result.checks) {
    Print(text,
          "check         %s: '%s' and %s: %zu of %zu values differ by more than %g, the largest "
          "difference is %g\n",
          check.ok() ? "ok" : "FAILED", Printable(check.output).c_str(),
          Printable(check.path).c_str(), check.difference.values, check.elements,
          flags.check_tolerance, check.difference.largest);
  }
  if (result.ops) {
    Print(text, "\n%s%.3f ms per run, mean of %lld profiled runs\n",
          FormatOpTable(*result.ops).c_str(), result.ops->ms_per_run,
          static_cast<long long>(result.ops->runs));
  }
  return text;
}

void AddMachine(JsonWriter& json, const Machine& machine) {
  json.BeginObject("machine");
  json.Add("cpu", machine.cpu);
  json.Add("architecture", machine.architecture);
  json.Add("system", machine.system);
  json.Add("processors", machine.processors);
  AddStrings(json, "isas", machine.isas);
  AddStrings(json, "kernels", machine.kernels);
  json.End();
}

void AddOptions(JsonWriter& json, const Flags& flags) {
  json.BeginObject("options");
  json.Add("num_threads", flags.num_threads);
  json.Add("kernel", flags.kernel);
  json.Add("fuse", flags.fuse);
  json.Add("device", flags.device);
  json.Add("placement", flags.placement);
  json.End();
}

std::string JsonReport(const Flags& flags, const Machine& machine, const BenchmarkResult& result) {
  JsonWriter json;
  json.Add("larq_engine", larq_engine_version());
  json.Add("litert", result.litert_path);
  AddMachine(json, machine);
  AddOptions(json, flags);
  json.BeginObject("model");
  json.Add("path", flags.graph);
  json.Add("bytes", result.model_bytes);
  AddTensors(json, "inputs", result.inputs);
  AddTensors(json, "outputs", result.outputs);
  AddStrings(json, "kernels", result.kernels);
  json.End();
  json.BeginObject("init");
  json.Add("total_ms", result.init_ms());
  json.Add("library_ms", result.library_ms);
  json.Add("model_ms", result.load_ms);
  json.Add("compile_ms", result.compile_ms);
  json.End();
  json.Add("first_ms", result.first_ms);
  AddStatistics(json, "warmup", result.warmup);
  AddStatistics(json, "inference", result.measured);
  json.BeginObject("memory");
  json.Add("peak_bytes", result.peak_bytes);
  json.Add("before_init_bytes", result.bytes_before_init);
  json.Add("after_init_bytes", result.bytes_after_init);
  json.BeginArray("devices");
  for (const MemoryReport& report : result.device_memory) {
    json.BeginObject("");
    json.Add("device", report.device);
    json.Add("weights_bytes", report.weights);
    json.Add("activations_bytes", report.activations);
    json.Add("staging_bytes", report.staging);
    json.End();
  }
  json.End();
  json.End();
  if (!result.checks.empty()) {
    json.Add("check_tolerance", flags.check_tolerance);
    AddChecks(json, result.checks);
  }
  if (result.ops) AddOps(json, *result.ops);
  return json.Finish();
}

}  // namespace larq_engine
