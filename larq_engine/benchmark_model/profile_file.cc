#include "larq_engine/benchmark_model/profile_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/json.h"
#include "larq_engine/benchmark_model/operator_names.h"
#include "larq_engine/benchmark_model/sha256.h"
#include "larq_engine/benchmark_model/statistics.h"
#include "larq_engine/model_file/flatbuffer.h"
#include "larq_engine/model_file/model_file.h"
#include "larq_engine/model_file/walk.h"
#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
namespace {

constexpr char kHost[] = "host";
constexpr char kCpu[] = "cpu";
constexpr char kOfTheHost[] = "the model's time less that of the engine's operators, in one row: ";

bool IsRandom(const std::string& op) {
  return op == "RANDOM_STANDARD_NORMAL" || op == "RANDOM_UNIFORM" || op == "MULTINOMIAL";
}

// The main graph, without operators whose inputs are all constant.
class MainGraph {
 public:
  explicit MainGraph(std::span<const uint8_t> file) : flatbuffer_(file) {
    model_ = ReadModelFile(flatbuffer_);
    const FileGraph& graph = model_.graphs[0];
    std::set<int32_t> fixed;
    for (size_t i = 0; i < graph.tensors.size(); ++i) {
      if (IsConstant(model_, graph.tensors[i])) fixed.insert(static_cast<int32_t>(i));
    }
    fixed.insert(kAbsent);
    for (const int32_t input : graph.inputs) AddValue(input);
    for (size_t node = 0; node < graph.operators.size(); ++node) {
      const FileOperator& op = graph.operators[node];
      const bool is_fixed = !op.inputs.empty() && !IsRandom(NamesOf(op).op) &&
                            std::all_of(op.inputs.begin(), op.inputs.end(),
                                        [&](int32_t t) { return fixed.contains(t); });
      if (is_fixed) {
        fixed.insert(op.outputs.begin(), op.outputs.end());
        continue;
      }
      op_of_node_[static_cast<int>(node)] = nodes_.size();
      nodes_.push_back(node);
      for (const int32_t output : op.outputs) AddValue(output);
    }
  }

  const FileGraph& graph() const { return model_.graphs[0]; }
  const std::vector<size_t>& nodes() const { return nodes_; }
  const std::vector<int32_t>& values() const { return values_; }  // numbers of tensors
  int64_t batch() const {
    const FileGraph& main = graph();
    const bool has_one =
        !main.inputs.empty() && !main.tensors[static_cast<size_t>(main.inputs[0])].shape.empty();
    return has_one ? std::max(main.tensors[static_cast<size_t>(main.inputs[0])].shape[0], 1) : 1;
  }

  OperatorNames NamesOf(const FileOperator& op) const {
    return larq_engine::NamesOf(model_, graph(), op);
  }

  uint64_t BytesOf(int32_t tensor) const {
    const FileTensor& found = graph().tensors[static_cast<size_t>(tensor)];
    return (ValuesOf(found.shape) * static_cast<uint64_t>(BitsOf(found.type)) + 7) / 8;
  }

  const char* KindOf(int32_t tensor) const {
    const auto is_in = [&](const std::vector<int32_t>& list) {
      return std::find(list.begin(), list.end(), tensor) != list.end();
    };
    return is_in(graph().inputs) ? "input" : is_in(graph().outputs) ? "output" : "inner";
  }

  // Returns those of the tensors that are no constants, each once.
  std::vector<size_t> ValuesAmong(const std::vector<int32_t>& tensors) const {
    std::vector<size_t> found;
    for (const int32_t tensor : tensors) {
      const auto value = value_of_.find(tensor);
      if (value == value_of_.end()) continue;
      if (std::find(found.begin(), found.end(), value->second) == found.end()) {
        found.push_back(value->second);
      }
    }
    return found;
  }

  std::set<size_t> OpsOfNode(int node) const {
    const auto op = op_of_node_.find(node);
    return op == op_of_node_.end() ? std::set<size_t>{} : std::set<size_t>{op->second};
  }

  // Adds the operators of a step, and those that it absorbed.
  void AddOps(const StepProfile& step, std::set<size_t>& ops) const {
    ops.merge(OpsOfNode(step.node));
    for (const int node : step.absorbed) ops.merge(OpsOfNode(node));
  }

 private:
  void AddValue(int32_t tensor) {
    if (value_of_.try_emplace(tensor, values_.size()).second) values_.push_back(tensor);
  }

  Flatbuffer flatbuffer_;
  ModelFile model_;
  std::vector<size_t> nodes_;
  std::map<int, size_t> op_of_node_;
  std::vector<int32_t> values_;
  std::map<int32_t, size_t> value_of_;  // indexed by tensors
};

void AddNumbers(JsonWriter& json, const char* key, const std::set<size_t>& numbers) {
  json.BeginArray(key);
  for (const size_t number : numbers) json.Add("", number);
  json.End();
}

void AddSeconds(JsonWriter& json, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(seconds.size() - 1);
    const size_t below = static_cast<size_t>(at);
    const size_t above = std::min(below + 1, seconds.size() - 1);
    return std::lerp(seconds[below], seconds[above], at - static_cast<double>(below));
  };
  json.BeginObject("seconds");
  json.Add("median", quantile(0.5));
  json.Add("q1", quantile(0.25));
  json.Add("q3", quantile(0.75));
  json.Add("runs", seconds.size());
  json.End();
}

// Writes the contents of "measurements", each once.
class Measurements {
 public:
  Measurements(const Flags& flags, const MainGraph& network, JsonWriter& json)
      : flags_(flags), network_(network), json_(json) {}

  // Adds a measurement for each group of steps that ran together: those with the same `group`.
  void AddSteps(const TimedRuns& runs) {
    std::map<int, std::vector<const TimedStep*>> groups;
    for (const TimedStep& timed : runs.steps) {
      if (timed.step.op != kTransfer) groups[timed.step.group].push_back(&timed);
    }
    for (const auto& [group, steps] : groups) {
      std::set<size_t> ops;
      std::vector<double> seconds(steps[0]->seconds.size());
      std::string kernel;
      for (const TimedStep* timed : steps) {
        network_.AddOps(timed->step, ops);
        for (size_t i = 0; i < seconds.size(); ++i) seconds[i] += timed->seconds[i];
        if (!timed->step.kernel.empty() &&
            ("+" + kernel + "+").find("+" + timed->step.kernel + "+") == std::string::npos) {
          kernel += (kernel.empty() ? "" : "+") + timed->step.kernel;
        }
      }
      Add(ops, steps[0]->step.device, kernel, seconds, "");
    }
  }

  // Divides the host's time among its operators in the proportions of LiteRT's profiler. If the
  // profiler refused, adds one row for all of them.
  void AddHost(const TimedRuns& runs) {
    if (!runs.host.refusal.empty()) AddRestOfHost(runs);
    std::vector<double> times;
    const std::span<const HostOpTimes> ops = runs.host.ops();
    for (const HostOpTimes& op : ops) times.push_back(MiddleMean(op.seconds));
    const double all = std::accumulate(times.begin(), times.end(), 0.0);
    for (size_t i = 0; i < times.size(); ++i) {
      const double share = all > 0 ? times[i] / all : 1 / static_cast<double>(times.size());
      std::vector<double> seconds = runs.host_seconds;
      for (double& one : seconds) one *= share;
      Add(network_.OpsOfNode(ops[i].node), kHost, "", seconds, ops[i].source);
    }
  }

 private:
  void AddRestOfHost(const TimedRuns& runs) {
    std::set<size_t> ours;
    for (const TimedStep& timed : runs.steps) {
      if (timed.step.op != kTransfer) network_.AddOps(timed.step, ours);
    }
    std::set<size_t> rest;
    for (size_t op = 0; op < network_.nodes().size(); ++op) {
      if (!ours.contains(op)) rest.insert(op);
    }
    Add(rest, kHost, "", runs.host_seconds, kOfTheHost + runs.host.refusal);
  }

  void Add(const std::set<size_t>& ops, const std::string& device, const std::string& kernel,
           const std::vector<double>& seconds, const std::string& source) {
    if (ops.empty() || !known_.insert({ops, device, kernel}).second) return;
    json_.BeginObject("");
    AddNumbers(json_, "ops", ops);
    json_.Add("batch", network_.batch());
    json_.Add("device", device);
    json_.Add("threads", flags_.num_threads);
    if (!kernel.empty()) json_.Add("kernel", kernel);
    AddSeconds(json_, seconds);
    if (!source.empty()) json_.Add("source", source);
    json_.End();
  }

  const Flags& flags_;
  const MainGraph& network_;
  JsonWriter& json_;
  std::set<std::tuple<std::set<size_t>, std::string, std::string>> known_;
};

void AddTotal(JsonWriter& json, const Flags& flags, const MainGraph& network,
              const std::string& device, const std::vector<double>& seconds) {
  json.BeginObject("");
  json.Add("batch", network.batch());
  json.Add("device", device);
  json.Add("threads", flags.num_threads);
  AddSeconds(json, seconds);
  json.End();
}

void AddOp(JsonWriter& json, const MainGraph& network, size_t id,
           const std::map<size_t, const StepProfile*>& step_of) {
  const FileOperator& op = network.graph().operators[network.nodes()[id]];
  const OperatorNames names = network.NamesOf(op);
  const auto step = step_of.find(id);
  json.BeginObject("");
  json.Add("id", id);
  json.Add("node", network.nodes()[id]);
  json.Add("op", step == step_of.end() ? names.op : step->second->op);
  json.Add("layer", step == step_of.end() ? names.layer : step->second->layer);
  json.Add("name", names.tensor);
  json.BeginObject("macs");
  if (step != step_of.end() && step->second->macs > 0) {
    json.Add(std::to_string(network.batch()), step->second->macs);
  }
  json.End();
  for (const auto& [key, tensors] : {std::pair{"inputs", &op.inputs}, {"outputs", &op.outputs}}) {
    json.BeginArray(key);
    for (const size_t value : network.ValuesAmong(*tensors)) json.Add("", value);
    json.End();
  }
  json.End();
}

void AddGraph(JsonWriter& json, const MainGraph& network, const ProfileRuns& runs) {
  json.BeginArray("values");
  for (size_t id = 0; id < network.values().size(); ++id) {
    const int32_t tensor = network.values()[id];
    json.BeginObject("");
    json.Add("id", id);
    json.Add("name", network.graph().tensors[static_cast<size_t>(tensor)].name);
    json.BeginObject("bytes");
    json.Add(std::to_string(network.batch()), network.BytesOf(tensor));
    json.End();
    json.Add("kind", network.KindOf(tensor));
    json.End();
  }
  json.End();
  std::map<size_t, const StepProfile*> step_of;
  for (const TimedRuns* of : {&runs.fused, &runs.single}) {
    for (const TimedStep& timed : of->steps) {
      StepProfile own = timed.step;
      own.absorbed.clear();
      std::set<size_t> ops;
      network.AddOps(own, ops);
      if (timed.step.op != kTransfer && !ops.empty()) step_of[*ops.begin()] = &timed.step;
    }
  }
  json.BeginArray("ops");
  for (size_t id = 0; id < network.nodes().size(); ++id) AddOp(json, network, id, step_of);
  json.End();
}

void AddDevice(JsonWriter& json, const std::string& name, const std::string& title,
               const std::string& memory) {
  json.BeginObject("");
  json.Add("name", name);
  json.Add("title", title);
  json.Add("memory", memory);
  json.End();
}

// Fits a line through the measured transfers. Returns the seconds of a transfer of no bytes, and
// the bytes a second.
std::pair<double, double> FitLink(const ProfileRuns& runs, const std::string& target) {
  double weight = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const TimedRuns* of : {&runs.fused, &runs.single}) {
    for (const TimedStep& timed : of->steps) {
      if (timed.step.op != kTransfer || timed.step.device != target) continue;
      for (const double measured : timed.seconds) {
        const double seconds = std::max(measured, 1e-9);
        const double size = static_cast<double>(timed.step.bytes);
        const double w = 1 / (seconds * seconds);  // weighs relative errors
        weight += w;
        x += w * size;
        y += w * seconds;
        xx += w * size * size;
        xy += w * size * seconds;
      }
    }
  }
  constexpr double kUnbounded = 1e15;
  if (weight == 0) return {0, kUnbounded};
  const double spread = weight * xx - x * x;
  double slope = spread > 1e-9 * weight * xx ? (weight * xy - x * y) / spread : xy / xx;
  double latency = (y - slope * x) / weight;
  if (latency < 0 || spread <= 1e-9 * weight * xx) {
    latency = 0;
    slope = xx > 0 ? xy / xx : 0;
  }
  if (slope <= 1 / kUnbounded) return {y / weight, kUnbounded};
  return {latency, 1 / slope};
}

void AddLink(JsonWriter& json, const std::string& from, const std::string& to,
             const std::pair<double, double>& fitted) {
  json.BeginObject("");
  json.Add("from", from);
  json.Add("to", to);
  json.Add("seconds", fitted.first);
  json.Add("bytes_per_second", fitted.second);
  json.End();
}

void AddDevices(JsonWriter& json, const Machine& machine, const ProfileRuns& runs,
                const std::string& gpu) {
  json.BeginArray("devices");
  AddDevice(json, kCpu, "larq_engine " + std::string(larq_engine_version()) + " on " + machine.cpu,
            kHost);
  AddDevice(json, kHost, "LiteRT with XNNPACK", kHost);
  if (!gpu.empty()) AddDevice(json, gpu, gpu, gpu);
  json.End();
  json.BeginArray("links");
  if (!gpu.empty()) {
    AddLink(json, kHost, gpu, FitLink(runs, gpu));
    AddLink(json, gpu, kHost, FitLink(runs, kCpu));
  }
  json.End();
}

// Returns the device beside the CPU that steps ran on; empty if there is none.
std::string OtherDevice(const ProfileRuns& runs) {
  for (const TimedStep& timed : runs.fused.steps) {
    if (timed.step.device != kCpu) return timed.step.device;
  }
  return "";
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string ProfileFile(const Flags& flags, const Machine& machine, std::span<const uint8_t> file,
                        const ProfileRuns& runs) {
  const MainGraph network(file);
  if (network.nodes().empty()) {
    throw RunError("model '" + flags.graph +
                   "': expected operators that depend on its inputs, got none; there is nothing to "
                   "profile");
  }
  const std::string gpu = OtherDevice(runs);
  JsonWriter json;
  json.Add("larq_engine_profile", 1);
  json.Add("engine", larq_engine_version());
  json.BeginObject("model");
  json.Add("name", BaseName(flags.graph));
  json.Add("sha256", Sha256(file));
  json.Add("bytes", file.size());
  json.End();
  json.BeginObject("machine");
  json.Add("cpu", machine.cpu);
  json.Add("cores", machine.processors);
  json.Add("system", machine.system);
  json.Add("architecture", machine.architecture);
  json.End();
  AddGraph(json, network, runs);
  AddDevices(json, machine, runs, gpu);
  json.BeginArray("measurements");
  Measurements measurements(flags, network, json);
  measurements.AddSteps(runs.single);
  measurements.AddSteps(runs.fused);
  measurements.AddSteps(runs.host);
  // With a GPU, which has a clock of its own, the rest of the time does not belong to the host
  // only.
  if (gpu.empty()) measurements.AddHost(runs.fused);
  measurements.AddHost(runs.host);
  json.End();
  json.BeginArray("totals");
  AddTotal(json, flags, network, gpu.empty() ? kCpu : gpu, runs.fused.seconds);
  AddTotal(json, flags, network, kHost, runs.host.seconds);
  json.End();
  json.Add("energy", "not available: larq_benchmark_model reads no counters");
  return json.Finish();
}

}  // namespace larq_engine
