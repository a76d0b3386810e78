#include "larq_engine/runtime/printable.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(Printable, ALongTextIsCutAfterALetter) {
  EXPECT_EQ(Printable("größer", 6), "größ...");
  EXPECT_EQ(Printable("größer", 7), "größe...");
  EXPECT_EQ(Printable("größer", 8), "größer");
  EXPECT_EQ(Printable("größer", 3), "gr...");  // 'ö' has two bytes
}

}  // namespace
}  // namespace larq_engine
