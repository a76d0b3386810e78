#include "larq_engine/benchmark_model/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "larq_engine/benchmark_model/op_table.h"

namespace larq_engine {
namespace {

const std::string kMark = "\xEF\xBF\xBD";

TEST(Printable, LeavesLettersOfAllScriptsAlone) {
  const std::string text = "conv/1 größer 漢字 😀";
  EXPECT_EQ(Printable(text), text);
  EXPECT_EQ(Letters("größer 漢字 😀"), 11u);
}

TEST(Printable, ShowsNoControlCharacters) {
  EXPECT_EQ(Printable("a\x1b[2Jb"), "a" + kMark + "[2Jb");
  EXPECT_EQ(Printable("a\nb\rc\td"), "a" + kMark + "b" + kMark + "c" + kMark + "d");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a" + kMark + "b");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "2J"),
            kMark + "2J");  // the same as escape and a bracket
}

TEST(Printable, ShowsNothingThatTurnsLettersRound) {
  EXPECT_EQ(Printable("a\u202eb\u2066c\u200bd\u2028e"),
            "a" + kMark + "b" + kMark + "c" + kMark + "d" + kMark + "e");
}

TEST(Printable, ShowsBytesThatAreNoUtf8AsMarks) {
  EXPECT_EQ(Printable("\xff\xfe"), kMark + kMark);
  EXPECT_EQ(Printable("\xC0\x80"), kMark + kMark);                          // too long a form
  EXPECT_EQ(Printable("\xED\xA0\x80"), kMark + kMark + kMark);              // half of a pair
  EXPECT_EQ(Printable("\xF4\x90\x80\x80"), kMark + kMark + kMark + kMark);  // beyond the last
  EXPECT_EQ(Printable("a\xE6\xBC"), "a" + kMark + kMark);                   // cut off
}

TEST(Printable, TablesShowNamesSo) {
  OpTable table;
  for (const char* name : {"größer\n", "kleiner\x1b[31m"}) {
    OpRow row;
    row.op = "ADD";
    row.name = name;
    row.kernel = "k";
    table.rows.push_back(row);
  }
  const std::string text = FormatOpTable(table);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  std::vector<size_t> columns;  // places of the kernels: columns align by letters
  for (size_t start = text.find('\n') + 1; start < text.size();) {
    const size_t end = text.find('\n', start);
    const std::string line = text.substr(start, end - start);
    columns.push_back(Letters(line.substr(0, line.find(" k "))));
    start = end + 1;
  }
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[0], columns[1]);
}

}  // namespace
}  // namespace larq_engine
