#include "larq_engine/runtime/cuda/chains.h"

#include <algorithm>
#include <map>

#include "larq_engine/kernels/cuda/pixel_program.h"
#include "larq_engine/runtime/cuda/launch.h"
#include "larq_engine/runtime/cuda/window_pairs.h"

namespace larq_engine {
namespace {

bool IsQuantizeOfFloats(const Op& op) {
  const auto* quantize = std::get_if<QuantizeOp>(&op);
  return quantize != nullptr && quantize->from == ElementType::kFloat32;
}

// Tells whether the operator makes one float of each float, at the same place.
bool IsPixelStep(const Op& op) {
  return std::holds_alternative<BinaryOp>(op) || std::holds_alternative<ClampOp>(op) ||
         std::holds_alternative<PreluOp>(op);
}

// Makes chains from operators that are added in order.
class Chainer {
 public:
  Chainer(const Program& program, const std::vector<bool>& is_shared, bool fuse)
      : program_(program), is_shared_(is_shared), fuse_(fuse) {}

  void Add(size_t index) {
    const ProgramOp& op = program_.op(index);
    const std::optional<size_t> joined = fuse_ ? FindChain(op) : std::nullopt;
    const size_t chain = joined.value_or(chains_.size());
    if (!joined) chains_.emplace_back();
    chains_[chain].ops.push_back(index);
    chain_of_[op.output] = chain;
    const bool ends = !HandsOnFloats(op) || IsUnlike(op);
    last_.resize(chains_.size());
    last_[chain] = ends ? kNothing : op.output;
  }

  std::vector<Chain> Finish() {
    for (Chain& chain : chains_) {
      for (size_t i = 0; i < chain.ops.size(); ++i) chain.stores.push_back(MustStore(chain, i));
    }
    return std::move(chains_);
  }

 private:
  static constexpr size_t kNothing = SIZE_MAX;

  // Tells whether other operators can process the operator's output in its kernel.
  bool HandsOnFloats(const ProgramOp& op) const {
    const bool takes_chain =
        std::visit([]<typename T>(const T&) { return LaunchMaker::TakesChain<T>(); }, *op.op);
    return takes_chain && program_.value(op.output).is_float;
  }

  // Tells whether the operator combines values of unlike shapes, which needs a kernel of its own.
  bool IsUnlike(const ProgramOp& op) const {
    const auto* binary = std::get_if<BinaryOp>(op.op.get());
    return binary != nullptr && !binary->IsAlike(program_.InputShapes(op));
  }

  // Tells whether the operator changes only the other dimensions: the pixels and their channels
  // stay the same.
  bool LeavesChannels(const ProgramOp& op) const {
    return std::holds_alternative<ReshapeOp>(*op.op) &&
           Channels(program_.value(op.inputs[0]).shape.dims) ==
               Channels(program_.value(op.output).shape.dims);
  }

  // Returns the chain that the operator can join, if there is one: the latest chain that makes one
  // of its inputs, provided the operator reads the last value of that chain.
  std::optional<size_t> FindChain(const ProgramOp& op) const {
    if (const std::optional<size_t> window = FindWindow(op)) return window;
    const bool goes_on = IsQuantizeOfFloats(*op.op) || IsPixelStep(*op.op) || LeavesChannels(op);
    if (!goes_on || IsUnlike(op)) return std::nullopt;
    std::optional<size_t> latest;
    for (size_t input : op.inputs) {
      const auto made = chain_of_.find(input);
      if (made != chain_of_.end() && (!latest || made->second > *latest)) latest = made->second;
    }
    if (!latest || last_[*latest] == kNothing) return std::nullopt;
    const bool reads_last = std::count(op.inputs.begin(), op.inputs.end(), last_[*latest]) > 0;
    // Each operator takes at most two steps: its own and a store.
    const bool has_room = 2 * chains_[*latest].ops.size() + 2 <= cuda::kMaxPixelSteps;
    return reads_last && has_room ? latest : std::nullopt;
  }

  // Returns the chain of a single operator whose output only `op` reads, if one kernel computes
  // both their windows.
  std::optional<size_t> FindWindow(const ProgramOp& op) const {
    if (!std::holds_alternative<Conv2dOp>(*op.op)) return std::nullopt;
    const auto made = chain_of_.find(op.inputs[0]);
    if (made == chain_of_.end() || chains_[made->second].ops.size() > 1) return std::nullopt;
    const ProgramOp& before = program_.op(chains_[made->second].ops[0]);
    const bool is_read_once =
        !is_shared_[before.output] && program_.value(before.output).readers.size() == 1;
    const bool is_one_kernel =
        FindPooledConv(program_, before, op) || FindDepthwisePointwise(program_, before, op);
    if (!is_read_once || !is_one_kernel) return std::nullopt;
    return made->second;
  }

  // Tells whether the value of operator number `i` has a reader other than the next operator of the
  // chain.
  bool MustStore(const Chain& chain, size_t i) const {
    const ProgramOp& op = program_.op(chain.ops[i]);
    if (is_shared_[op.output] || i + 1 == chain.ops.size()) return true;
    const ProgramOp& next = program_.op(chain.ops[i + 1]);
    const Value& value = program_.value(op.output);
    return value.readers.size() > 1 ||
           std::count(next.inputs.begin(), next.inputs.end(), op.output) > 1;
  }

  const Program& program_;
  const std::vector<bool>& is_shared_;
  bool fuse_;
  std::vector<Chain> chains_;
  std::vector<size_t> last_;  // for each chain: the value that a next operator would process
  std::map<size_t, size_t> chain_of_;  // for each value: the chain that makes it
};

}  // namespace

std::vector<Chain> MakeChains(const Program& program, std::span<const size_t> ops,
                              const std::vector<bool>& is_shared, bool fuse) {
  Chainer chainer(program, is_shared, fuse);
  for (size_t op : ops) chainer.Add(op);
  return chainer.Finish();
}

}  // namespace larq_engine
