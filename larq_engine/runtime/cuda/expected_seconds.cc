#include "larq_engine/runtime/cuda/expected_seconds.h"

#include <algorithm>
#include <limits>

#include "larq_engine/kernels/cuda/conv2d_rows.h"
#include "larq_engine/runtime/cuda/bconv2d_operands.h"
#include "larq_engine/runtime/cuda/chains.h"
#include "larq_engine/runtime/cuda/launch_sizes.h"
#include "larq_engine/runtime/cuda/window_pairs.h"

namespace larq_engine {
namespace {

// The numbers were measured on an NVIDIA H100 (cuda::kMeasuredChip) on 2026-11-26 and are in files
// of docs/gpu_results. Guesses are marked.

// HepCifar at batch 1 takes 53 us on top of its kernels, for four copies and the host
// (models.json).
constexpr double kCopyLatency = 10e-6;
// QuickNet's 38.5 MB at batch 64 took 6.87 ms on top of its kernels, when predict copied them twice
// (models.json). So a core copies some 11 GB/s, and 9 are counted on. A guess: the rate of several
// cores is this times their number.
constexpr double kCoreBytesPerSecond = 9e9;
constexpr double kLinkBytesPerSecond = 55e9;  // of uploads and downloads (peaks.json)

constexpr double kLaunch = 4e-6;  // the time of the smallest layers at batch 1 (layers.json)
// Layer A with a shortcut reads and writes its bytes at this rate at batch 64 (layers.json).
constexpr double kBytesPerSecond = 1.4e12;
// BiRealNet's first convolution reached 6e12 products a second at batch 64. The profile was not
// kept.
constexpr int kMultiprocessors = 132;
constexpr double kFloatMacsOfMultiprocessor = 6e12 / kMultiprocessors;
// In each round, a warp of signed_dense.h takes four inputs of each of its rows; the sums of a
// round wait for those of the round before. Both times are guesses: 120 clocks for loads from the
// L1 cache and for four sums, and 60 instructions, of which a multiprocessor issues four a clock.
constexpr int kSignedRoundInputs = 4;
constexpr double kSignedRound = 60e-9;
constexpr double kSignedRoundInstructions = 8e-9;

// A multiprocessor counts 16 words of 32 bits in a clock, of some 1.5 GHz. A guess: half of that,
// as each word is loaded twice.
constexpr double kBitMacsOfMultiprocessor = 16 * 32 * 1.5e9 / 2;

double OfMultiprocessor(int64_t count, const cuda::Chip& chip) {
  return std::max(1.0, static_cast<double>(count) / chip.multiprocessors);
}

// Returns the time of a convolution's tiles. A tile at the border takes as long as a whole one.
double TileSeconds(const cuda::Conv2dArgs& args, int64_t depth, const cuda::Chip& chip) {
  const cuda::Conv2dRow& row = cuda::SelectConv2d(args, chip);
  const double products =
      static_cast<double>(row.pixels) * row.channels * static_cast<double>(depth);
  return OfMultiprocessor(row.size(args).blocks, chip) * products / kFloatMacsOfMultiprocessor;
}

double SignedDenseSeconds(const SignedDenseOp& op, int64_t rows, const cuda::Chip& chip) {
  const int64_t warps =
      (rows + cuda::kSignedDenseRows - 1) / cuda::kSignedDenseRows * ((op.shape.units + 31) / 32);
  const double rounds = static_cast<double>(op.shape.depth) / kSignedRoundInputs;
  return rounds * std::max(kSignedRound, OfMultiprocessor(warps, chip) * kSignedRoundInstructions);
}

// Adds up the expected time of each operator, launch by launch.
class Expected {
 public:
  Expected(const Program& program, std::span<const size_t> ops, const cuda::Chip& chip,
           const std::string& kernel)
      : program_(program), chip_(chip), kernel_(kernel), seconds_(program.ops().size()) {
    std::vector<bool> is_there(program.ops().size());
    for (size_t op : ops) is_there[op] = true;
    for (const Value& value : program.values()) {
      const auto is_elsewhere = [&](size_t reader) { return !is_there[reader]; };
      is_shared_.push_back(value.producer == Value::kHost || value.host_reads ||
                           std::ranges::any_of(value.readers, is_elsewhere));
    }
  }

  const std::vector<bool>& is_shared() const { return is_shared_; }
  double seconds(size_t op) const { return seconds_[op]; }

  // Adds the times of a chain. The time of a binary convolution's kernel includes the rest of its
  // chain.
  void Add(const Chain& chain) {
    const auto* binary = std::get_if<Bconv2dOp>(program_.op(chain.ops[0]).op.get());
    const bool is_empty = program_.value(program_.op(chain.ops[0]).output).bytes == 0;
    if (binary != nullptr && !is_empty) {
      seconds_[chain.ops[0]] = BinarySeconds(*binary, chain);
      return;
    }
    for (size_t i = 0; i < chain.ops.size(); ++i) {
      const double products = is_empty ? 0 : ProductSeconds(program_.op(chain.ops[i]));
      seconds_[chain.ops[i]] =
          (i == 0 ? kLaunch : 0) + std::max(products, MovedBytes(chain, i) / kBytesPerSecond);
    }
  }

 private:
  const std::vector<int>& Dims(size_t value) const { return program_.value(value).shape.dims; }

  // Returns the time of the kernel that will be launched.
  double BinarySeconds(const Bconv2dOp& op, const Chain& chain) const {
    cuda::Bconv2dArgs args = MakeGeometry(op.spec, Dims(program_.op(chain.ops[0]).inputs[0]));
    cuda::Bconv2dOutput& output = args.output;
    const OutputKind kind = op.transform.kind;
    output.kind = kind == OutputKind::kBits   ? cuda::Bconv2dOutput::kBits
                  : kind == OutputKind::kInt8 ? cuda::Bconv2dOutput::kInt8
                                              : cuda::Bconv2dOutput::kFloat;
    const auto add = [&](auto kind) { output.after.steps[output.after.count++].kind = kind; };
    for (size_t i = 0; i < chain.ops.size() && kind == OutputKind::kFloat; ++i) {
      const bool reads_another = i > 0 && program_.op(chain.ops[i]).inputs.size() > 1;
      if (reads_another) add(cuda::PixelStep::kAddTensor);
      const bool makes_bits = std::holds_alternative<QuantizeOp>(*program_.op(chain.ops[i]).op);
      if (chain.stores[i] && !makes_bits) add(cuda::PixelStep::kStore);
    }
    const auto& place = program_.op(chain.ops[0]).place;
    const std::string& name = place && !place->kernel.empty() ? place->kernel : kernel_;
    const cuda::Bconv2dRow* row = cuda::SelectBconv2d(args, chip_, name).row;
    // A kernel that refuses the layer is told of when it is launched.
    if (row == nullptr) row = cuda::SelectBconv2d(args, chip_, cuda::kAutoRow).row;
    return row->seconds(args, chip_);
  }

  double ProductSeconds(const ProgramOp& op) const {
    const TensorShape& output = program_.value(op.output).shape;
    cuda::Conv2dArgs args{};
    if (const auto* conv = std::get_if<Conv2dOp>(op.op.get());
        conv != nullptr && !conv->spec.is_depthwise) {
      args.window = MakeWindow(conv->spec.window, Dims(op.inputs[0]));
      args.out_channels = static_cast<int32_t>(conv->spec.out_channels);
      return TileSeconds(args, conv->spec.depth(), chip_);
    }
    if (const auto* dense = std::get_if<DenseOp>(op.op.get())) {
      constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
      args.window.batch = static_cast<int32_t>(std::min(PixelsOf(output), kMost));
      args.window.out_height = args.window.out_width = cuda::MakeDivisor(1);
      args.out_channels = dense->units;
      return TileSeconds(args, dense->depth, chip_);
    }
    if (const auto* dense = std::get_if<SignedDenseOp>(op.op.get())) {
      return SignedDenseSeconds(*dense, PixelsOf(output), chip_);
    }
    if (std::holds_alternative<BmatmulOp>(*op.op)) {
      return static_cast<double>(Macs(*op.op, program_.InputShapes(op), output)) /
             (kBitMacsOfMultiprocessor * chip_.multiprocessors);
    }
    return static_cast<double>(Macs(*op.op, program_.InputShapes(op), output)) /
           (kFloatMacsOfMultiprocessor * chip_.multiprocessors);
  }

  // Returns the bytes that the operator reads and writes in the GPU's memory. A value that the
  // operator before it in the chain makes is not read from memory.
  double MovedBytes(const Chain& chain, size_t i) const {
    const ProgramOp& op = program_.op(chain.ops[i]);
    double bytes = chain.stores[i] ? static_cast<double>(program_.value(op.output).bytes) : 0;
    for (size_t input : op.inputs) {
      const bool is_handed_on = i > 0 && input == program_.op(chain.ops[i - 1]).output;
      if (!is_handed_on) bytes += static_cast<double>(program_.value(input).bytes);
    }
    return bytes;
  }

  const Program& program_;
  const cuda::Chip& chip_;
  const std::string& kernel_;
  std::vector<bool> is_shared_;  // for each value: whether operators other than these use it
  std::vector<double> seconds_;  // for each operator of the program
};

}  // namespace

double CopySeconds(size_t bytes, int threads) {
  const double rate = std::min(threads * kCoreBytesPerSecond, kLinkBytesPerSecond);
  return kCopyLatency + static_cast<double>(bytes) / rate;
}

std::vector<double> OpSeconds(const Program& program, std::span<const size_t> ops,
                              const cuda::Chip& chip, bool fuse, const std::string& kernel) {
  Expected expected(program, ops, chip, kernel);
  for (const Chain& chain : MakeChains(program, ops, expected.is_shared(), fuse)) {
    expected.Add(chain);
  }
  std::vector<double> seconds;
  for (size_t op : ops) seconds.push_back(expected.seconds(op));
  return seconds;
}

}  // namespace larq_engine
