#include "larq_engine/benchmark_model/json.h"

#include <cmath>
#include <cstdio>

namespace larq_engine {

std::string JsonNumber(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

void JsonWriter::NewLine() {
  if (!text_.empty()) text_ += '\n';
  text_.append(2 * open_.size(), ' ');
}

void JsonWriter::Put(std::string_view key, std::string_view value) {
  if (!first_) text_ += ',';
  first_ = false;
  NewLine();
  if (!key.empty()) text_ += JsonString(key) + ": ";
  text_ += value;
}

void JsonWriter::Open(std::string_view key, char bracket) {
  Put(key, std::string_view(&bracket, 1));
  open_ += bracket == '{' ? '}' : ']';
  first_ = true;
}

void JsonWriter::End() {
  const char bracket = open_.back();
  open_.pop_back();
  if (!first_) NewLine();
  text_ += bracket;
  first_ = false;
}

std::string JsonWriter::Finish() {
  while (!open_.empty()) End();
  return std::move(text_) + "\n";
}

}  // namespace larq_engine
