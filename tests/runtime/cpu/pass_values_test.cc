// Tests which batches go through the steps in passes, and how many there are.
#include "larq_engine/runtime/cpu/pass_values.h"

#include <numeric>

#include "gtest/gtest.h"
#include "larq_engine/runtime/ops/op_table.h"

namespace larq_engine {
namespace {

// Operators of floats, one after another. Tensor 0 is the input, and tensor i what operator i - 1
// makes.
class Chain : public HostTensors {
 public:
  explicit Chain(std::vector<int> dims) { dims_.push_back(std::move(dims)); }

  Chain& Then(int code, const std::vector<int>& constant = {}, BuiltinOptions options = {}) {
    const int input = static_cast<int>(dims_.size()) - 1;
    OpInfo info{.inputs = {Floats(dims_.back())}, .output = {}, .builtin_options = options};
    if (!constant.empty()) {
      info.inputs.push_back({.present = true,
                             .name = "constant",
                             .type = ElementType::kInt32,
                             .dims = {static_cast<int>(constant.size())},
                             .constant = constant.data(),
                             .bytes = constant.size() * sizeof(int)});
    }
    const KnownOp& row = *FindOp(code, nullptr);
    OpName name{.kind = row.name, .layer = ""};
    const std::vector<TensorShape> shapes = {{.dims = dims_.back()}};
    info.output = Floats({});
    dims_.push_back(OutputShape(row.read(info), shapes).dims);
    info.output = Floats(dims_.back());
    program_.Add(row, name, info, std::vector<int>{input}, input + 1, /*host_reads=*/true);
    return *this;
  }

  Chain& Mean(const std::vector<int>& axes) { return Then(builtin::kMean, axes); }
  Chain& Reshape(const std::vector<int>& dims) { return Then(builtin::kReshape, dims); }

  int Passes() {
    program_.Absorb();
    EXPECT_TRUE(program_.Resize(*this));
    std::vector<size_t> ops(program_.ops().size());
    std::iota(ops.begin(), ops.end(), size_t{0});
    return CountPasses(program_, ops);
  }

 private:
  std::vector<int> Dims(int tensor) const override { return dims_[static_cast<size_t>(tensor)]; }
  void Resize(int, const std::vector<int>&) override {}
  std::span<std::byte> Data(int) const override { return {}; }

  static TensorInfo Floats(std::vector<int> dims) {
    return {.present = true, .name = "t", .type = ElementType::kFloat32, .dims = std::move(dims)};
  }

  std::vector<std::vector<int>> dims_;
  Program program_;
};

// The ReLU reads and writes 2 MB, of which a pass takes one.
const std::vector<int> kImages = {64, 8, 8, 64};

TEST(CountPasses, OfImagesFollowsTheBytes) {
  EXPECT_EQ(Chain(kImages).Then(builtin::kRelu).Passes(), 2);
  EXPECT_EQ(Chain({64, 16, 8, 64}).Then(builtin::kRelu).Passes(), 4);
  EXPECT_EQ(Chain({8, 8, 8, 64}).Then(builtin::kRelu).Passes(), 1);
  EXPECT_EQ(Chain({0, 8, 8, 64}).Then(builtin::kRelu).Passes(), 1);
}

TEST(CountPasses, TheLastLayersKeepTheSamplesApart) {
  EXPECT_EQ(Chain(kImages)
                .Then(builtin::kRelu)
                .Mean({1, 2})
                .Then(builtin::kLogistic)
                .Then(builtin::kSoftmax)
                .Passes(),
            2);
  EXPECT_EQ(
      Chain(kImages).Then(builtin::kRelu).Reshape({-1, 4096}).Then(builtin::kSoftmax).Passes(), 2);
}

TEST(CountPasses, ThereIsOneWhereSamplesMeet) {
  EXPECT_EQ(Chain(kImages).Then(builtin::kRelu).Mean({0, 1}).Passes(), 1);
  EXPECT_EQ(Chain({64, 64, 64, 8}).Then(builtin::kRelu).Mean({0}).Passes(), 1);
  EXPECT_EQ(Chain(kImages).Then(builtin::kRelu).Reshape({-1, 64}).Passes(), 1);
}

// Axis 0 of a vector counts what a softmax sums over.
TEST(CountPasses, ASoftmaxOfAVectorIsWhole) {
  constexpr int kValues = 1 << 20;
  const std::vector<int> column = {kValues, 1};
  EXPECT_GT(Chain(column).Then(builtin::kLogistic).Reshape({kValues}).Passes(), 1);
  EXPECT_EQ(
      Chain(column).Then(builtin::kLogistic).Reshape({kValues}).Then(builtin::kSoftmax).Passes(),
      1);
}

}  // namespace
}  // namespace larq_engine
