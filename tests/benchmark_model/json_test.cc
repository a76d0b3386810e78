#include "larq_engine/benchmark_model/json.h"

#include <cmath>

#include "gtest/gtest.h"

namespace larq_engine {
namespace {

TEST(Json, Strings) {
  EXPECT_EQ(JsonString("a/b"), R"("a/b")");
  EXPECT_EQ(JsonString("say \"\\\"\n"), R"("say \"\\\"\u000a")");
  EXPECT_EQ(JsonString("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
}

TEST(Json, BytesThatAreNoUtf8) {
  EXPECT_EQ(JsonString("\xFF"), R"("\ufffd")");
  EXPECT_EQ(JsonString("a\xC3"), R"("a\ufffd")");                    // cut off
  EXPECT_EQ(JsonString("\xC0\xAF"), R"("\ufffd\ufffd")");            // longer than needed
  EXPECT_EQ(JsonString("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")");  // half of a UTF-16 pair
  EXPECT_EQ(JsonString("\xF4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // beyond Unicode
}

TEST(Json, Numbers) {
  EXPECT_EQ(JsonNumber(0), "0");
  EXPECT_EQ(JsonNumber(0.125), "0.125");
  EXPECT_EQ(JsonNumber(1e300), "1e+300");
  EXPECT_EQ(JsonNumber(NAN), "null");
  EXPECT_EQ(JsonNumber(-INFINITY), "null");
}

TEST(Json, ObjectsAndArrays) {
  JsonWriter json;
  json.Add("name", "x");
  json.Add("ok", true);
  json.Add("bytes", uint64_t{1} << 63);
  json.BeginArray("none");
  json.End();
  json.BeginArray("rows");
  json.BeginObject("");
  json.Add("ms", 0.5);
  json.End();
  json.Add("", -1);
  EXPECT_EQ(json.Finish(), R"({
  "name": "x",
  "ok": true,
  "bytes": 9223372036854775808,
  "none": [],
  "rows": [
    {
      "ms": 0.5
    },
    -1
  ]
}
)");
}

}  // namespace
}  // namespace larq_engine
