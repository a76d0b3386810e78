// Tests single steps in ways that no host can.
#include "larq_engine/runtime/cpu/step.h"

#include <cmath>
#include <cstdint>
#include <thread>

#include "gtest/gtest.h"
#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/kernels/layers/select_product.h"
#include "larq_engine/kernels/pixels/select.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/op_table.h"
#include "tests/common/error_of.h"
#include "tests/host/model_builder.h"

namespace larq_engine {
namespace {

using testing::ErrorOf;

TensorInfo Tensor(ElementType type, std::vector<int> dims, const void* constant = nullptr) {
  TensorInfo info{.present = true, .name = "t", .type = type, .dims = dims, .constant = constant};
  info.bytes = 4;
  for (int dim : dims) info.bytes *= static_cast<size_t>(dim);
  return info;
}

std::vector<uint8_t> ConvOptions(int channels_in) {
  return testing::EncodeOptions(testing::ConvOptions({}, channels_in));
}

// An operator and the step that computes it.
struct Made {
  Made(const char* name, const OpInfo& info, std::string kernel = "auto")
      : op(FindOp(builtin::kCustom, name)->read(info)),
        step(MakeStep(op, {.kernel = std::move(kernel), .pixel_ops = SelectPixelOps({})})) {}

  TensorShape Resize(std::vector<int> dims) {
    const std::vector<TensorShape> inputs = {{.dims = std::move(dims)}};
    const TensorShape output = OutputShape(op, inputs);
    step->Resize(inputs, output);
    return output;
  }

  Op op;
  std::unique_ptr<Step> step;
};

// Runs the whole step on one thread.
void RunAll(const Step& step, const void* input, void* output) {
  AlignedBuffer<std::byte> scratch(step.scratch_bytes());
  const void* inputs[] = {input};
  step.Run(inputs, {0, step.pixels(), 0, step.blocks()}, scratch.data(), output);
}

TEST(MeanStep, OfNothingIsNan) {
  static constexpr int32_t kAxis = 1;
  OpInfo info{.inputs = {Tensor(ElementType::kFloat32, {1, 1, 5, 8}),
                         Tensor(ElementType::kInt32, {1}, &kAxis)},
              .output = Tensor(ElementType::kFloat32, {1, 5, 8})};
  const KnownOp& mean = *FindOp(builtin::kMean, nullptr);
  ASSERT_TRUE(mean.can_claim(info));
  const Op op = mean.read(info);
  const auto step = MakeStep(op, {.kernel = "auto", .pixel_ops = SelectPixelOps({})});
  const std::vector<TensorShape> inputs = {{.dims = {1, 0, 5, 8}}};
  step->Resize(inputs, OutputShape(op, inputs));
  std::vector<float> out(40);
  RunAll(*step, nullptr, out.data());
  for (float value : out) EXPECT_TRUE(std::isnan(value));
}

TEST(MeanStep, OfImagesIsTheSameHoweverTheirPartsAreCut) {
  static constexpr int32_t kAxes[] = {1, 2};
  constexpr size_t kChannels = 37;
  OpInfo info{.inputs = {Tensor(ElementType::kFloat32, {1, 9, 11, kChannels}),
                         Tensor(ElementType::kInt32, {2}, kAxes)},
              .output = Tensor(ElementType::kFloat32, {1, kChannels})};
  const Op op = FindOp(builtin::kMean, nullptr)->read(info);
  const auto step = MakeStep(op, {.kernel = "auto", .pixel_ops = SelectPixelOps({})});
  // The cases: fewer images, an image of less than a part, and images of another size.
  for (const auto& [images, height] : {std::pair(3, 9), {1, 9}, {2, 1}, {4, 5}}) {
    const size_t pixels = static_cast<size_t>(height) * 11;
    const std::vector<TensorShape> inputs = {{.dims = {images, height, 11, kChannels}}};
    step->Resize(inputs, OutputShape(op, inputs));
    ASSERT_EQ(step->pixels(), images);
    ASSERT_EQ(step->blocks(), static_cast<int64_t>(pixels + 15) / 16);

    std::vector<float> in(static_cast<size_t>(images) * pixels * kChannels);
    for (size_t i = 0; i < in.size(); ++i) in[i] = 1.0f / static_cast<float>(i % 1013 + 1);
    std::vector<float> whole(static_cast<size_t>(images) * kChannels);
    RunAll(*step, in.data(), whole.data());
    for (size_t i = 0; i < whole.size(); ++i) {
      double sum = 0;
      const float* image = in.data() + i / kChannels * pixels * kChannels;
      for (size_t at = 0; at < pixels; ++at) sum += image[at * kChannels + i % kChannels];
      ASSERT_NEAR(whole[i], sum / static_cast<double>(pixels), 1e-7) << i;
    }

    // Each of several threads computes every third part of each image.
    const void* data = in.data();
    for (int run = 0; run < 20; ++run) {
      std::vector<float> cut(whole.size());
      std::vector<std::thread> threads;
      for (int64_t thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&, thread, count = images] {
          for (int64_t image = 0; image < count; ++image) {
            for (int64_t block = thread; block < step->blocks(); block += 3) {
              step->Run({&data, 1}, {image, image + 1, block, block + 1}, nullptr,
                        cut.data() + static_cast<size_t>(image) * kChannels);
            }
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      ASSERT_EQ(cut, whole) << "run " << run;
    }
  }
}

TEST(DequantizeStep, Int8SaturatesOnBothSides) {
  struct Case {
    float scale;
    int zero_point;
    int8_t plus;
    int8_t minus;
  };
  for (const Case& c :
       {Case{1.0f / 256, -7, 127, -128}, Case{1.0f / 256, 100, 127, -128},
        Case{1.0f / 50, -100, -50, -128}, Case{1.0f / 50, 100, 127, 50}, Case{0.25f, 3, 7, -1}}) {
    OpInfo op{.inputs = {Tensor(ElementType::kInt32, {1, 1})},
              .output = Tensor(ElementType::kInt8, {1, 2})};
    op.output.scales = {c.scale};
    op.output.zero_points = {c.zero_point};
    Made made("LceDequantize", op);
    EXPECT_EQ(made.Resize({1, 1}).dims, (std::vector<int>{1, 2}));
    const uint32_t bits = 2;
    int8_t out[2];
    const void* input = &bits;
    made.step->Run({&input, 1}, {0, made.step->pixels(), 0, 1}, nullptr, out);
    EXPECT_EQ(out[0], c.plus) << c.scale << " " << c.zero_point;
    EXPECT_EQ(out[1], c.minus) << c.scale << " " << c.zero_point;
  }
}

TEST(Bconv2dStep, DepthBeyondTheAccumulatorIsRefusedBeforeTheFilterIsRead) {
  // The filter of 2^25 + 1 words does not exist, because only its shape is looked at.
  const uint32_t nothing = 0;
  const int taps = (1 << 25) + 1;
  OpInfo op{.inputs = {Tensor(ElementType::kInt32, {1, 1, 1, 1}),
                       Tensor(ElementType::kInt32, {1, taps, 1, 1}, &nothing),
                       Tensor(ElementType::kFloat32, {1}), Tensor(ElementType::kFloat32, {1}),
                       TensorInfo()},
            .output = Tensor(ElementType::kFloat32, {1, 1, 1, 1})};
  const std::vector<uint8_t> options = ConvOptions(32);
  op.options = options;
  EXPECT_EQ(ErrorOf<OpError>([&] {
              Made("LceBconv2d", op);
            }).find("filter: expected at most 1073741824 products for one output value"),
            0u);
}

TEST(Bconv2dStep, PlanesBeyondTheAccumulatorAreRefusedToo) {
  const uint32_t nothing = 0;
  constexpr int kMost = (1 << 30) / (15 * 15);  // most products
  const int taps = kMost / 32 + 1;
  OpInfo op{.inputs = {Tensor(ElementType::kInt32, {1, 1, 1, 4}),
                       Tensor(ElementType::kInt32, {1, taps, 1, 4}, &nothing),
                       Tensor(ElementType::kFloat32, {1}), Tensor(ElementType::kFloat32, {1}),
                       TensorInfo()},
            .output = Tensor(ElementType::kFloat32, {1, 1, 1, 1})};
  testing::OptionMap with_bits = testing::ConvOptions({}, 32);
  with_bits["bits_in"] = with_bits["bits_weights"] = 4;
  const std::vector<uint8_t> options = testing::EncodeOptions(with_bits);
  op.options = options;
  EXPECT_EQ(ErrorOf<OpError>([&] {
              Made("LceBconv2d", op);
            }).find("filter: expected at most 4772185 products for one output value"),
            0u);
}

TEST(Bconv2dStep, MacsAreThoseOfTheGroups) {
  const std::vector<uint32_t> filter(4 * 3 * 3, 0);
  const std::vector<float> ones(4, 1.0f);
  OpInfo op{.inputs = {Tensor(ElementType::kInt32, {2, 5, 6, 2}),
                       Tensor(ElementType::kInt32, {4, 3, 3, 1}, filter.data()),
                       Tensor(ElementType::kFloat32, {4}, ones.data()),
                       Tensor(ElementType::kFloat32, {4}, ones.data()), TensorInfo()},
            .output = Tensor(ElementType::kFloat32, {2, 5, 6, 4})};
  const std::vector<uint8_t> options = ConvOptions(64);
  op.options = options;
  for (const char* kernel : {"auto", "reference"}) {
    Made made("LceBconv2d", op, kernel);
    const TensorShape input = {.dims = {2, 5, 6, 2}};
    EXPECT_EQ(Macs(made.op, {&input, 1}, made.Resize(input.dims)), 2 * 5 * 6 * 4 * 9 * 32);
  }
}

// With one pixel, reading the filters costs most; with many pixels, least.
TEST(Bconv2dStep, ResizedInputsGetTheRowThatIsTheirs) {
  constexpr int kBits = 8;
  constexpr int kWords = 64;
  constexpr int kFilters = 256;
  std::vector<uint32_t> filter(kFilters * kWords);
  for (size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<uint32_t>(i) * 2654435761u;
  const std::vector<float> ones(kFilters, 1.0f);
  OpInfo op{.inputs = {Tensor(ElementType::kInt32, {1, 1, 1, kWords * kBits}),
                       Tensor(ElementType::kInt32, {kFilters, 1, 1, kWords}, filter.data()),
                       Tensor(ElementType::kFloat32, {kFilters}, ones.data()),
                       Tensor(ElementType::kFloat32, {kFilters}, ones.data()), TensorInfo()},
            .output = Tensor(ElementType::kFloat32, {1, 1, 1, kFilters})};
  testing::OptionMap with_bits = testing::ConvOptions({}, kWords * 32);
  with_bits["bits_in"] = kBits;
  with_bits["bits_weights"] = 1;
  const std::vector<uint8_t> options = testing::EncodeOptions(with_bits);
  op.options = options;
  Made made("LceBconv2d", op);
  Made reference("LceBconv2d", op, std::string(kReferenceKernel));
  const Bconv2dSpec& spec = std::get<Bconv2dOp>(made.op).spec;
  for (const int rows : {1, 9, 1}) {
    made.Resize({rows, 1, 1, kWords * kBits});
    reference.Resize({rows, 1, 1, kWords * kBits});
    const ProductChoice choice = SelectProduct(DetectCpuFeatures(), spec, kAutoKernel, rows == 1);
    EXPECT_EQ(made.step->kernel(),
              choice.planes == nullptr ? choice.bytes->name : choice.planes->name);
    const std::vector<uint32_t> image(rows * kWords * kBits, 0x9e3779b9u);
    std::vector<float> expected(rows * kFilters), got(rows * kFilters);
    RunAll(*reference.step, image.data(), expected.data());
    RunAll(*made.step, image.data(), got.data());
    EXPECT_EQ(got, expected);
  }
}

// A column is computed as a line, while the reference computes it as a column. After a resize to a
// wider image nothing is transposed any more. Few channels are packed, so their taps lie elsewhere.
TEST(Bconv2dStep, ColumnsGetTheReferencesResults) {
  constexpr int kFilters = 3;
  const std::vector<float> ones(kFilters, 1.0f);
  for (const int channels : {1, 5, 32, 40}) {
    const int words = (channels + 31) / 32;
    const auto bits = [&](int count) {
      std::vector<uint32_t> made(static_cast<size_t>(count * words));
      for (size_t i = 0; i < made.size(); ++i) {
        const bool is_last = (i + 1) % static_cast<size_t>(words) == 0;
        const uint32_t mask = is_last ? TailMask(static_cast<size_t>(channels)) : ~0u;
        made[i] = static_cast<uint32_t>(i + 1) * 2654435761u >> 3 & mask;
      }
      return made;
    };
    for (const int taps : {3, 20}) {
      const std::vector<uint32_t> filter = bits(kFilters * taps);
      for (const testing::FilePadding padding : {testing::kSame, testing::kValid}) {
        const testing::OptionMap fields =
            testing::ConvOptions({.stride_height = 2,
                                  .stride_width = 3,
                                  .padding = padding,
                                  .pad_values = padding == testing::kSame ? 0 : 1},
                                 channels);
        const std::vector<uint8_t> options = testing::EncodeOptions(fields);
        const OpInfo op{
            .inputs = {Tensor(ElementType::kInt32, {1, 30, 1, words}),
                       Tensor(ElementType::kInt32, {kFilters, taps, 1, words}, filter.data()),
                       Tensor(ElementType::kFloat32, {kFilters}, ones.data()),
                       Tensor(ElementType::kFloat32, {kFilters}, ones.data()), TensorInfo()},
            .output = Tensor(ElementType::kFloat32, {1, 1, 1, kFilters}),
            .options = options};
        Made made("LceBconv2d", op);
        Made reference("LceBconv2d", op, std::string(kReferenceKernel));
        for (const int width : {1, 4, 1}) {
          const int height = 31;
          const TensorShape output = made.Resize({2, height, width, words});
          reference.Resize({2, height, width, words});
          const std::vector<uint32_t> image = bits(2 * height * width);
          const auto values = static_cast<size_t>(CountElements(output.dims, 4));
          std::vector<float> expected(values), got(values);
          RunAll(*reference.step, image.data(), expected.data());
          RunAll(*made.step, image.data(), got.data());
          EXPECT_EQ(got, expected) << channels << " channels, " << taps << " taps, padding "
                                   << padding << ", width " << width;
        }
      }
    }
  }
}

TEST(Bconv2dSpec, OnlyColumnsThatAreNotPaddedAcrossAreTransposed) {
  Bconv2dSpec spec{.in_channels = 1, .window = {.height = {.taps = 80, .stride = 4}}};
  EXPECT_TRUE(IsColumn(spec, 1));
  EXPECT_FALSE(IsColumn(spec, 2));
  spec.window.width.padding.before = 1;
  EXPECT_FALSE(IsColumn(spec, 1));
  spec.window.width.padding = {.same = true};
  EXPECT_TRUE(IsColumn(spec, 1));
  EXPECT_EQ(Transposed(spec).window.width.taps, 80);
  EXPECT_EQ(Transposed(spec).window.width.stride, 4);
  spec.window.width.taps = 3;
  EXPECT_FALSE(IsColumn(spec, 1));
}

TEST(BMaxPool2dStep, PixelsWithoutWordsAreNoWork) {
  const std::vector<uint8_t> options = testing::EncodeOptions({{"filter_height", 2},
                                                               {"filter_width", 2},
                                                               {"padding", 0},
                                                               {"stride_height", 1},
                                                               {"stride_width", 1}});
  const OpInfo op{.inputs = {Tensor(ElementType::kInt32, {1, 4, 4, 0})},
                  .output = Tensor(ElementType::kInt32, {1, 4, 4, 0}),
                  .options = options};
  Made made("LceBMaxPool2d", op);
  made.Resize({1 << 14, 1 << 14, 1 << 14, 0});
  EXPECT_EQ(made.step->pixels(), 0);
}

TEST(CountElements, IsTheProductOfTheFirstSizes) {
  EXPECT_EQ(CountElements({2, 3, 5}, 3), 30);
  EXPECT_EQ(CountElements({2, 3, 5}, 2), 6);
  EXPECT_EQ(CountElements({}, 0), 1);
  EXPECT_EQ(CountElements({0, 7}, 2), 0);
}

TEST(CountElements, RefusesWhatNoMemoryHolds) {
  const int fitting = sizeof(size_t) == 8 ? 1 << 29 : 1 << 10;
  const int large = sizeof(size_t) == 8 ? 1 << 30 : 1 << 17;
  EXPECT_EQ(CountElements({large, fitting}, 2), int64_t{large} * fitting);
  EXPECT_THROW(CountElements({large, 2 * fitting}, 2), OpError);
  EXPECT_EQ(ErrorOf<OpError>([] {
              CountElements({1 << 30, 1 << 30}, 2);
            }).find("shape [1073741824, 1073741824]: expected a product that memory can hold"),
            0u);
  EXPECT_EQ(ErrorOf<OpError>([] {
              CountElements({1 << 30, 1 << 30, 1 << 30, 1 << 30}, 4);
            }).find("expected a product"),
            std::string("shape [1073741824, 1073741824, 1073741824, 1073741824]: ").size());
  EXPECT_EQ(ErrorOf<OpError>([] {
              CountElements({3, -1}, 2);
            }).find("shape [3, -1]: expected sizes of at least 0"),
            0u);
}

}  // namespace
}  // namespace larq_engine
