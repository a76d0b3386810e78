#include "larq_engine/runtime/ops/flexbuffer.h"

#include <stdexcept>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/error_of.h"
#include "tests/common/seed.h"

namespace larq_engine {
namespace {

using Bytes = std::vector<uint8_t>;
using Map = std::map<std::string, int64_t>;

Bytes Concat(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// {"a": 1, "bc": -2} as FlatBuffers' own encoder writes it: keys with their terminating zeros, the
// key vector (count, distances back), then the map (distance to the keys, their width, count,
// values, types), and at the end the root's distance, packed type and width.
const Bytes kAbc = {'a', 0, 'b', 'c', 0, 2, 6, 5, 2, 1, 2, 1, 0xfe, 4, 4, 4, 0x24, 1};

TEST(ReadIntMap, SmallMap) { EXPECT_EQ(ReadIntMap(kAbc), (Map{{"a", 1}, {"bc", -2}})); }

TEST(ReadIntMap, EmptyMap) { EXPECT_EQ(ReadIntMap(Bytes{0, 1, 1, 0, 0, 0x24, 1}), Map()); }

TEST(ReadIntMap, WiderAndIndirectValues) {
  // The values have 16-bit slots: an unsigned number, an indirect signed 32-bit number and a bool.
  const Bytes bytes = Concat({{'k', 0, 'l', 0, 'm', 0},               // 0..5
                              {0x60, 0x79, 0xfe, 0xff},               // 6: -100000
                              {3, 11, 10, 9},                         // 10: keys at 11
                              {3, 0, 1, 0, 3, 0},                     // 14: keys, width, count
                              {0xff, 0xff, 16, 0, 1, 0},              // 20: values
                              {2 << 2 | 1, 6 << 2 | 2, 26 << 2 | 0},  // 26: types
                              {9, 0x25, 1}});                         // 29: root at 20
  EXPECT_EQ(ReadIntMap(bytes), (Map{{"k", 65535}, {"l", -100000}, {"m", 1}}));
}

std::string ErrorOf(const Bytes& bytes) {
  return testing::ErrorOf<std::invalid_argument>([&] { ReadIntMap(bytes); });
}

TEST(ReadIntMap, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(ErrorOf({}), "options: expected a FlexBuffer map, got 0 bytes");
  EXPECT_EQ(ErrorOf({7, 4, 1}), "options: expected a FlexBuffer map, got FlexBuffer type 1");
  EXPECT_EQ(ErrorOf({1, 0x24, 3}), "options: the bytes are not a FlexBuffer");
  EXPECT_EQ(ErrorOf({9, 0x24, 1}), "options: the FlexBuffer points before its first byte");
  Bytes text = kAbc;
  text[13] = 5 << 2;  // the type of "a" becomes string
  EXPECT_EQ(ErrorOf(text), "option 'a': expected a whole number, got FlexBuffer type 5");
  Bytes count = kAbc;
  count[10] = 200;
  EXPECT_EQ(ErrorOf(count), "options: the FlexBuffer map says 200 entries in 18 bytes");
}

TEST(ReadIntMap, AnOptionThatIsGivenTwiceIsAnError) {
  Bytes twice = kAbc;
  twice[7] = 7;  // the second key is the text of the first
  EXPECT_EQ(ErrorOf(twice), "options: expected every option once, got 'a' again");
}

// Makes a map of `count` values with as many keys. The keys begin one byte after another in one
// long text.
Bytes NestedKeys(size_t count) {
  const auto append = [](Bytes* bytes, uint64_t number) {
    for (int i = 0; i < 32; i += 8) bytes->push_back(static_cast<uint8_t>(number >> i));
  };
  Bytes bytes(count, 'k');
  bytes.resize(count + 4);
  for (size_t i = 0; i < count; ++i) append(&bytes, bytes.size() - i);
  append(&bytes, 4 * count);  // back to the keys
  append(&bytes, 4);          // their width
  append(&bytes, count);
  bytes.resize(bytes.size() + 4 * count);
  bytes.insert(bytes.end(), count, 1 << 2 | 2);
  append(&bytes, 5 * count);  // back to the values
  bytes.insert(bytes.end(), {9 << 2 | 2, 4});
  return bytes;
}

// Copies of all keys would take 5 * 10^11 bytes.
TEST(ReadIntMap, KeysWithinOneLongTextAreRefusedAtOnce) {
  EXPECT_EQ(ReadIntMap(NestedKeys(3)), (Map{{"k", 0}, {"kk", 0}, {"kkk", 0}}));
  EXPECT_EQ(ErrorOf(NestedKeys(1000000)),
            "options: a key of the FlexBuffer has no end within 64 bytes");
}

TEST(ReadIntMap, AnyBytesGiveAMapOrAnError) {
  // This tests that nothing outside the bytes is read, which only a sanitizer sees.
  SCOPED_TRACE(testing::ReplayHint());
  testing::Random random;
  int maps = 0;
  for (int repeat = 0; repeat < 100000; ++repeat) {
    Bytes bytes = kAbc;
    for (int64_t i = random.Int(1, 4); i > 0; --i) {
      bytes[static_cast<size_t>(random.Int(0, 17))] = static_cast<uint8_t>(random.Word());
    }
    bytes.resize(static_cast<size_t>(random.Int(12, 18)) == 12 ? 12 : 18);
    const Bytes exact(bytes.begin(), bytes.end());
    maps += ErrorOf(exact) == "no error";
  }
  EXPECT_GT(maps, 0);
  EXPECT_LT(maps, 100000);
}

}  // namespace
}  // namespace larq_engine
