// Tests the boxes that a file's slices cut from shapes that a resize may change.
#include "larq_engine/runtime/ops/slice_op.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/ops/op_info.h"
#include "tests/common/error_of.h"

namespace larq_engine {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;

using Dims = std::vector<int>;

TensorInfo Data(ElementType type = ElementType::kFloat32) {
  return {.present = true, .name = "x", .type = type, .dims = {1, 8, 9, 64}};
}

TensorInfo Ints(const Dims& values) {
  return {.present = true,
          .name = "c",
          .type = ElementType::kInt32,
          .dims = {static_cast<int>(values.size())},
          .constant = values.data(),
          .bytes = values.size() * sizeof(int)};
}

// Returns the begin and the end of each dimension.
Dims Box(const SliceOp& op, const Dims& dims) {
  Dims box;
  for (const SliceOp::Range& range : op.Ranges(dims)) {
    box.push_back(static_cast<int>(range.begin));
    box.push_back(static_cast<int>(range.end));
  }
  return box;
}

OpInfo Split(const Dims& axis, size_t number, size_t outputs) {
  return {.inputs = {Ints(axis), Data()},
          .output = Data(),
          .output_number = number,
          .outputs = outputs};
}

TEST(SliceOp, Split) {
  const Dims axis = {-2};
  const OpInfo info = Split(axis, 1, 3);
  ASSERT_TRUE(SliceOp::CanClaim(info, SliceOp::kSplit));
  const SliceOp op = SliceOp::Read(info, SliceOp::kSplit);
  EXPECT_THAT(op.DataInputs(), ElementsAre(1));
  EXPECT_THAT(Box(op, {2, 8, 9, 64}), ElementsAre(0, 2, 0, 8, 3, 6, 0, 64));
  EXPECT_THAT(Box(op, {1, 1, 30, 64}), ElementsAre(0, 1, 0, 1, 10, 20, 0, 64));
  EXPECT_THAT(ErrorOf<OpError>([&] {
                op.Ranges({1, 8, 10, 64});
              }),
              HasSubstr("input: expected a shape whose dimension 2 can be cut as the file says, "
                        "got [1, 8, 10, 64]"));
  EXPECT_THAT(ErrorOf<OpError>([&] { op.Ranges({8, 9, 64}); }), HasSubstr("expected 4 dimensions"));
}

TEST(SliceOp, WhatIsNoSplit) {
  for (const Dims& axis : {Dims{4}, Dims{-5}, Dims{}, Dims{1, 2}}) {
    EXPECT_FALSE(SliceOp::CanClaim(Split(axis, 0, 1), SliceOp::kSplit));
  }
  const Dims axis = {3};
  OpInfo computed = Split(axis, 0, 2);
  computed.inputs[0].constant = nullptr;
  EXPECT_FALSE(SliceOp::CanClaim(computed, SliceOp::kSplit));
  OpInfo constant = Split(axis, 0, 2);
  constant.inputs[1].constant = axis.data();
  EXPECT_FALSE(SliceOp::CanClaim(constant, SliceOp::kSplit));
  for (const ElementType type :
       {ElementType::kInt8, ElementType::kInt32, ElementType::kFloat16, ElementType::kBool}) {
    OpInfo other = Split(axis, 0, 2);
    other.inputs[1].type = type;
    EXPECT_FALSE(SliceOp::CanClaim(other, SliceOp::kSplit));
    other.output.type = type;
    EXPECT_EQ(SliceOp::CanClaim(other, SliceOp::kSplit),
              type == ElementType::kInt8 || type == ElementType::kInt32);
  }
  OpInfo many = Split(axis, 0, 2);
  many.inputs[1].dims = many.output.dims = Dims(7, 1);
  EXPECT_FALSE(SliceOp::CanClaim(many, SliceOp::kSplit));
}

OpInfo SplitV(const Dims& sizes, const Dims& axis, size_t number) {
  return {.inputs = {Data(), Ints(sizes), Ints(axis)},
          .output = Data(),
          .output_number = number,
          .outputs = sizes.size()};
}

TEST(SliceOp, SplitBySizes) {
  const Dims axis = {1};
  const Dims sizes = {3, 0, 5};
  const Dims begins = {0, 3, 3, 8};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const SliceOp op = SliceOp::Read(SplitV(sizes, axis, i), SliceOp::kSplitV);
    EXPECT_THAT(Box(op, {1, 8, 9, 64}), ElementsAre(0, 1, begins[i], begins[i + 1], 0, 9, 0, 64));
    EXPECT_THAT(ErrorOf<OpError>([&] { op.Ranges({1, 9, 9, 64}); }), HasSubstr("dimension 1"));
  }
}

TEST(SliceOp, SplitWithARest) {
  const Dims axis = {1};
  const Dims sizes = {3, -1, 2};
  for (const int rest : {0, 4}) {
    const Dims begins = {0, 3, 3 + rest, 5 + rest};
    for (size_t i = 0; i < sizes.size(); ++i) {
      const SliceOp op = SliceOp::Read(SplitV(sizes, axis, i), SliceOp::kSplitV);
      EXPECT_THAT(Box(op, {1, 5 + rest, 9, 64}),
                  ElementsAre(0, 1, begins[i], begins[i + 1], 0, 9, 0, 64));
      if (i != 1) continue;
      EXPECT_THAT(ErrorOf<OpError>([&] { op.Ranges({1, 4, 9, 64}); }), HasSubstr("dimension 1"));
    }
  }
  for (const Dims& wrong : {Dims{-1, -1}, Dims{-2, 3}, Dims{3, -2}}) {
    EXPECT_FALSE(SliceOp::CanClaim(SplitV(wrong, axis, 0), SliceOp::kSplitV));
  }
  OpInfo more = SplitV(sizes, axis, 0);
  more.outputs = 4;
  EXPECT_FALSE(SliceOp::CanClaim(more, SliceOp::kSplitV));
}

// Each output reads all sizes, so the work for a file with many would grow with their square.
TEST(SliceOp, SplitInMany) {
  const Dims axis = {1};
  for (const size_t count : {SliceOp::kMaxSizes, SliceOp::kMaxSizes + 1}) {
    const Dims sizes(count);
    EXPECT_EQ(SliceOp::CanClaim(SplitV(sizes, axis, 0), SliceOp::kSplitV),
              count == SliceOp::kMaxSizes);
  }
}

TEST(SliceOp, Slice) {
  const Dims begin = {0, 1, 0, 2};
  const Dims size = {-1, 3, 4, -1};
  const OpInfo info = {.inputs = {Data(), Ints(begin), Ints(size)}, .output = Data()};
  const SliceOp op = SliceOp::Read(info, SliceOp::kSlice);
  EXPECT_THAT(Box(op, {5, 8, 9, 64}), ElementsAre(0, 5, 1, 4, 0, 4, 2, 64));
  EXPECT_THAT(ErrorOf<OpError>([&] { op.Ranges({5, 3, 9, 64}); }), HasSubstr("dimension 1"));
  EXPECT_THAT(ErrorOf<OpError>([&] { op.Ranges({5, 8, 9, 1}); }), HasSubstr("dimension 3"));
  const Dims negative = {0, -1, 0, 2};
  EXPECT_FALSE(SliceOp::CanClaim({.inputs = {Data(), Ints(negative), Ints(size)}, .output = Data()},
                                 SliceOp::kSlice));
}

OpInfo StridedSlice(const Dims& begin, const Dims& end, const Dims& strides) {
  OpInfo info = {.inputs = {Data(), Ints(begin), Ints(end), Ints(strides)}, .output = Data()};
  info.builtin_options.strided_slice = StridedSliceMasks{.begin_mask = 1, .end_mask = 3};
  return info;
}

TEST(SliceOp, StridedSlice) {
  const Dims begin = {7, 2, -3, -100};
  const Dims end = {7, 7, -1, 100};
  const Dims ones = {1, 1, 1, 1};
  const OpInfo info = StridedSlice(begin, end, ones);
  const SliceOp op = SliceOp::Read(info, SliceOp::kStridedSlice);
  EXPECT_THAT(Box(op, {5, 8, 9, 64}), ElementsAre(0, 5, 2, 8, 6, 8, 0, 64));
  EXPECT_THAT(Box(op, {5, 1, 1, 128}), ElementsAre(0, 5, 1, 1, 0, 0, 28, 100));
  OpInfo unknown = info;
  unknown.builtin_options.strided_slice.reset();
  EXPECT_FALSE(SliceOp::CanClaim(unknown, SliceOp::kStridedSlice));
  const Dims twos = {1, 2, 1, 1};
  EXPECT_FALSE(SliceOp::CanClaim(StridedSlice(begin, end, twos), SliceOp::kStridedSlice));
  const Dims few = {1, 2, 1};
  EXPECT_FALSE(SliceOp::CanClaim(StridedSlice(few, end, ones), SliceOp::kStridedSlice));
}

// With 72 channels, the last word has 8.
TEST(SliceOp, ChannelsOfBits) {
  const Dims axis = {3};
  const Dims sizes = {2, -1};
  const TensorShape bits = {.dims = {1, 8, 9, 3}, .channels = 72};
  for (const size_t number : {0, 1}) {
    OpInfo info = SplitV(sizes, axis, number);
    info.inputs[0].type = info.output.type = ElementType::kInt32;
    const TensorShape shape = SliceOp::Read(info, SliceOp::kSplitV).Shape({&bits, 1});
    EXPECT_THAT(shape.dims, ElementsAre(1, 8, 9, number == 0 ? 2 : 1));
    EXPECT_EQ(shape.channels, number == 0 ? 64 : 8);
  }
}

}  // namespace
}  // namespace larq_engine
