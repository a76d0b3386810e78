// Launches of kernels, and how they are made from operators.
#ifndef LARQ_ENGINE_RUNTIME_CUDA_LAUNCH_H_
#define LARQ_ENGINE_RUNTIME_CUDA_LAUNCH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "larq_engine/kernels/cuda/bconv2d_rows.h"
#include "larq_engine/kernels/cuda/image_window.h"
#include "larq_engine/kernels/cuda/kernel_table.h"
#include "larq_engine/kernels/cuda/pixel_program.h"
#include "larq_engine/kernels/cuda/pixel_rows.h"
#include "larq_engine/kernels/cuda/pixels_args.h"
#include "larq_engine/runtime/cuda/chains.h"
#include "larq_engine/runtime/cuda/device_constants.h"
#include "larq_engine/runtime/plan/program.h"

namespace larq_engine {

struct Launch {
  // A tensor map in the parameter, which the driver makes from a matrix when the kernel is
  // launched.
  struct Map {
    size_t at;  // offset in the parameter
    cuda::MatrixMap matrix;
  };

  cuda::KernelId kernel;
  cuda::LaunchSize size;
  std::vector<uint64_t> args;  // the bytes of the kernel's only parameter
  std::vector<Map> maps = {};

  template <typename Args>
  static Launch Of(cuda::KernelId kernel, const cuda::LaunchSize& size, const Args& args) {
    static_assert(std::is_trivially_copyable_v<Args>);
    Launch launch{kernel, size, std::vector<uint64_t>((sizeof(args) + 7) / 8)};
    std::memcpy(launch.args.data(), &args, sizeof(args));
    return launch;
  }
  // Returns a launch of the first of `rows` that computes `args`; at least one must.
  template <typename Args>
  static Launch OfPixels(std::span<const cuda::PixelRow> rows, Args args) {
    const cuda::PixelRow* row = cuda::FindPixelRow(rows, args);
    const cuda::LaunchSize size = cuda::Prepare(*row, args);
    return Of(row->kernel, size, args);
  }
  static Launch Of(const cuda::Bconv2dRow& row, const cuda::Chip& chip,
                   const cuda::Bconv2dArgs& args);
};

// Makes the launches of operators.
class LaunchMaker {
 public:
  // `place` returns the address of a value on the device; `kernel` is kAutoRow or the name of a
  // row.
  LaunchMaker(const Program& program, DeviceConstants& constants, const cuda::Chip& chip,
              const std::string& kernel, std::function<std::byte*(size_t value)> place)
      : program_(program),
        constants_(constants),
        chip_(chip),
        kernel_(kernel),
        place_(std::move(place)) {}

  // Returns the launches of a chain in order, none if there is nothing to compute. Throws OpError
  // without the operator's name.
  std::vector<Launch> Make(const Chain& chain) const;

  // Tells whether the kernels of these operators run a program, in which others can go on.
  template <typename T>
  static constexpr bool TakesChain() {
    return requires(const LaunchMaker& maker, const T& op, const Chain& chain) {
      maker.Make(op, chain);
    };
  }

  // Tells whether there are kernels for these operators. The executor refuses others.
  template <typename T>
  static constexpr bool HasKernels() {
    return TakesChain<T>() ||
           requires(const LaunchMaker& maker, const T& op, const ProgramOp& planned) {
      maker.Make(op, planned);
    };
  }

 private:
  // Return the launches of a chain whose first operator is `op`.
  std::vector<Launch> Make(const Bconv2dOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const QuantizeOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const DequantizeOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const MaxPool2dOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const BinaryOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const ClampOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const PreluOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const UnaryOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const Conv2dOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const DenseOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const AveragePool2dOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const MeanOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const ReshapeOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const SignedDenseOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const BytesToFloatsOp& op, const Chain& chain) const;
  std::vector<Launch> Make(const BmatmulOp& op, const Chain& chain) const;

  // Return the launches of an operator whose kernel runs no program. No other can go on in it.
  std::vector<Launch> Make(const ConcatenationOp& op, const ProgramOp& planned) const;
  std::vector<Launch> Make(const SoftmaxOp& op, const ProgramOp& planned) const;
  std::vector<Launch> Make(const PadOp& op, const ProgramOp& planned) const;
  std::vector<Launch> Make(const SliceOp& op, const ProgramOp& planned) const;

  Launch MakeSignedDense(const SignedDenseOp& op, const FloatDenseOutput& output,
                         const Chain& chain) const;
  Launch MakeSignedDense(const SignedDenseOp& op, const Int8DenseOutput& output,
                         const Chain& chain) const;
  const uint32_t* MakeSigns(const SignedDenseOp& op, const Chain& chain) const;

  // Returns a launch that applies the operators of the chain from number `first` on to each value
  // of the first operator's input: floats, or the bits or bytes that the arguments name.
  std::vector<Launch> MakePixels(const Chain& chain, size_t first,
                                 cuda::PixelsArgs args = {}) const;
  // Returns a launch that copies a box to another place: `before` is the distance that it moves in
  // each dimension, `around` the bits of the elements that surround it.
  Launch MakeBox(const ProgramOp& planned, std::span<const int64_t> before,
                 uint32_t around = 0) const;
  Launch MakeBroadcast(const BinaryOp& op, size_t index) const;

  // Returns a launch of the product of windows of the input with the filter, whose rows are padded
  // as the kernel reads them.
  Launch MakeConv(const Chain& chain, const cuda::ImageWindow& window,
                  const ConstantValues<float>& filter, int out_channels, int64_t depth,
                  const cuda::PixelStep& bias) const;
  // Fills the arguments of operator number `own` of the chain, a convolution; its window and
  // channels are set already.
  void FillConv(const Chain& chain, size_t own, const ConstantValues<float>& filter, int64_t depth,
                const cuda::PixelStep& bias, cuda::Conv2dArgs& args) const;
  // Fills the arguments of a depthwise convolution likewise, and returns the step that adds its
  // bias, the first one of the program.
  cuda::PixelStep FillDepthwise(const Conv2dOp& op, const Chain& chain, size_t own,
                                cuda::DepthwiseArgs& args) const;
  Launch MakeDepthwisePointwise(const Conv2dOp& depthwise, const Conv2dOp& pointwise,
                                const Chain& chain, cuda::DepthwisePointwiseArgs& args) const;
  cuda::PixelStep MakeBias(size_t op, const std::vector<float>& bias, Activation activation) const;
  cuda::PixelProgram MakeClampedProgram(const Chain& chain, Activation activation) const;

  // Returns the program that applies the chain's operators from number `first` on to the values of
  // the operator before them. The program begins with the last step of that operator, `own`, and
  // stores its values if others read them.
  cuda::PixelProgram MakeProgram(const Chain& chain, size_t first,
                                 const cuda::PixelStep* own = nullptr) const;
  void AddSteps(size_t index, size_t value, cuda::PixelProgram& program) const;

  // Returns a constant with a value for each channel; `values` has as many, or one for all
  // channels.
  const float* ChannelConstant(size_t op, int slot, const std::vector<float>& values,
                               size_t channels) const;

  const TensorShape& Shape(size_t value) const { return program_.value(value).shape; }
  const ProgramOp& First(const Chain& chain) const { return program_.op(chain.ops[0]); }
  template <typename T>
  T* Place(size_t value) const {
    return reinterpret_cast<T*>(place_(value));
  }

  const Program& program_;
  DeviceConstants& constants_;
  const cuda::Chip& chip_;
  const std::string& kernel_;
  std::function<std::byte*(size_t)> place_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_CUDA_LAUNCH_H_
