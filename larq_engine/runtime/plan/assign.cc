#include "larq_engine/runtime/plan/assign.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <queue>
#include <stdexcept>

#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A network whose least cut between source and sink is found by Dinic's algorithm: it fills
// shortest paths with capacity left, all of one length at a time.
class FlowNetwork {
 public:
  static constexpr size_t kSource = 0;
  static constexpr size_t kSink = 1;

  size_t AddNode() {
    edges_of_.emplace_back();
    return edges_of_.size() - 1;
  }

  // `capacity` is paid when `from` is on the source's side and `to` on the sink's.
  void AddEdge(size_t from, size_t to, double capacity) {
    if (!(capacity > 0)) return;
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  // Tells for each node whether it is on the sink's side of the least cut. If there are several
  // least cuts, the sink's side has as few nodes as possible.
  std::vector<bool> SinkSide() {
    while (FindDistances()) {
      next_.assign(edges_of_.size(), 0);
      while (Push()) {
      }
    }
    // The sink's side is the nodes from which the sink can still be reached.
    std::vector<bool> found(edges_of_.size());
    std::vector<size_t> queue = {kSink};
    found[kSink] = true;
    while (!queue.empty()) {
      const size_t node = queue.back();
      queue.pop_back();
      for (size_t edge : edges_of_[node]) {
        const size_t from = edges_[edge].to;
        if (found[from] || edges_[edge ^ 1].left <= 0) continue;
        found[from] = true;
        queue.push_back(from);
      }
    }
    return found;
  }

 private:
  struct Edge {
    size_t to;
    double left;
  };

  bool FindDistances() {
    distance_.assign(edges_of_.size(), kFar);
    distance_[kSource] = 0;
    std::queue<size_t> queue({kSource});
    while (!queue.empty()) {
      const size_t node = queue.front();
      queue.pop();
      for (size_t edge : edges_of_[node]) {
        const size_t to = edges_[edge].to;
        if (edges_[edge].left <= 0 || distance_[to] != kFar) continue;
        distance_[to] = distance_[node] + 1;
        queue.push(to);
      }
    }
    return distance_[kSink] != kFar;
  }

  // Pushes flow along one path; returns false if there is no path. It does not recurse, because
  // graphs may be long.
  bool Push() {
    std::vector<size_t> path;  // edges
    size_t node = kSource;
    while (node != kSink) {
      size_t& next = next_[node];
      while (next < edges_of_[node].size()) {
        const Edge& edge = edges_[edges_of_[node][next]];
        if (edge.left > 0 && distance_[edge.to] == distance_[node] + 1) break;
        ++next;
      }
      if (next < edges_of_[node].size()) {
        path.push_back(edges_of_[node][next]);
        node = edges_[path.back()].to;
      } else if (path.empty()) {
        return false;
      } else {
        node = edges_[path.back() ^ 1].to;
        path.pop_back();
        ++next_[node];
      }
    }
    double flow = kInfinity;
    for (size_t edge : path) flow = std::min(flow, edges_[edge].left);
    for (size_t edge : path) {
      edges_[edge].left -= flow;
      edges_[edge ^ 1].left += flow;
    }
    return true;
  }

  static constexpr size_t kFar = std::numeric_limits<size_t>::max();
  std::vector<Edge> edges_;  // each followed by its opposite
  std::vector<std::vector<size_t>> edges_of_{2};
  std::vector<size_t> distance_;
  std::vector<size_t> next_;
};

// Returns the device's time for the operator; infinite if the device cannot compute it or gives no
// time.
double OpSeconds(const AssignOp& op, size_t device) {
  return op.refusal[device].empty() && op.seconds[device] >= 0 ? op.seconds[device] : kInfinity;
}

// Adds up the time of assignments.
class AssignmentTime {
 public:
  AssignmentTime(std::span<const AssignOp> ops, std::span<const AssignValue> values)
      : ops_(ops), values_(values), readers_(values.size()) {
    for (size_t i = 0; i < ops.size(); ++i) {
      for (size_t input : ops[i].inputs) readers_[input].push_back(i);
    }
  }

  const std::vector<size_t>& readers(size_t value) const { return readers_[value]; }

  double Total(std::span<const size_t> device) const {
    double seconds = 0;
    for (size_t i = 0; i < ops_.size(); ++i) seconds += OpSeconds(ops_[i], device[i]);
    for (size_t v = 0; v < values_.size(); ++v) seconds += TransferSeconds(v, device);
    return seconds;
  }

  // Returns the time of the operator and of the transfers of what it reads and makes.
  double OfOpAndTransfers(size_t i, std::span<const size_t> device) const {
    std::vector<size_t> touched = ops_[i].inputs;
    touched.push_back(ops_[i].output);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    double seconds = OpSeconds(ops_[i], device[i]);
    for (size_t value : touched) seconds += TransferSeconds(value, device);
    return seconds;
  }

 private:
  double TransferSeconds(size_t v, std::span<const size_t> device) const {
    const AssignValue& value = values_[v];
    const size_t home =
        value.producer < 0 ? kCpuDevice : device[static_cast<size_t>(value.producer)];
    const bool moves = (home != kCpuDevice && value.host_reads) ||
                       std::any_of(readers_[v].begin(), readers_[v].end(),
                                   [&](size_t reader) { return device[reader] != home; });
    if (!moves) return 0;
    return home == kCpuDevice ? value.seconds_there : value.seconds_back;
  }

  std::span<const AssignOp> ops_;
  std::span<const AssignValue> values_;
  std::vector<std::vector<size_t>> readers_;  // for each value
};

std::string Microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g us", seconds * 1e6);
  return text;
}

}  // namespace

Assignment Assign(std::span<const AssignOp> ops, std::span<const AssignValue> values,
                  const std::array<std::string, kAssignDevices>& names) {
  // The source's side stands for the CPU. An operator on that side pays its edge to the sink.
  FlowNetwork network;
  std::vector<size_t> nodes;
  for (const AssignOp& op : ops) {
    if (!std::isfinite(OpSeconds(op, kCpuDevice)) &&
        !std::isfinite(OpSeconds(op, kOffloadDevice))) {
      throw std::invalid_argument("larq_engine: expected a cost of each operator on " +
                                  names[kCpuDevice] + " or " + names[kOffloadDevice]);
    }
    nodes.push_back(network.AddNode());
    network.AddEdge(nodes.back(), FlowNetwork::kSink, OpSeconds(op, kCpuDevice));
    network.AddEdge(FlowNetwork::kSource, nodes.back(), OpSeconds(op, kOffloadDevice));
  }
  const AssignmentTime time(ops, values);
  // Each value has one node for each direction in which it may move. The value moves as soon as one
  // reader is on the other side.
  for (size_t v = 0; v < values.size(); ++v) {
    const size_t producer = values[v].producer < 0 ? FlowNetwork::kSource
                                                   : nodes[static_cast<size_t>(values[v].producer)];
    const size_t there = network.AddNode();
    network.AddEdge(producer, there, values[v].seconds_there);
    const size_t back = network.AddNode();
    network.AddEdge(back, producer, values[v].seconds_back);
    for (size_t reader : time.readers(v)) {
      network.AddEdge(there, nodes[reader], kInfinity);
      network.AddEdge(nodes[reader], back, kInfinity);
    }
    if (values[v].host_reads) network.AddEdge(FlowNetwork::kSource, back, kInfinity);
  }
  const std::vector<bool> on_device = network.SinkSide();
  Assignment assignment;
  for (size_t node : nodes)
    assignment.device.push_back(on_device[node] ? kOffloadDevice : kCpuDevice);
  assignment.seconds = time.Total(assignment.device);
  for (size_t i = 0; i < ops.size(); ++i) {
    const size_t own = assignment.device[i];
    const size_t other = own == kCpuDevice ? kOffloadDevice : kCpuDevice;
    if (!std::isfinite(OpSeconds(ops[i], other))) {
      const std::string& refusal = ops[i].refusal[other];
      assignment.reasons.push_back("not on " + names[other] + ": " +
                                   (refusal.empty() ? "its cost is not known" : refusal));
      continue;
    }
    const double before = time.OfOpAndTransfers(i, assignment.device);
    assignment.device[i] = other;
    const double more = time.OfOpAndTransfers(i, assignment.device) - before;
    assignment.device[i] = own;
    assignment.reasons.push_back(Microseconds(ops[i].seconds[own]) + " here, " +
                                 Microseconds(ops[i].seconds[other]) + " on " + names[other] +
                                 "; there alone it would take " + Microseconds(more) + " more");
  }
  return assignment;
}

}  // namespace larq_engine
