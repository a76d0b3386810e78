// What ends the program before its time. Any other std::exception: exit code 1.
#ifndef BENCHMARKS_MODEL_ERRORS_H_
#define BENCHMARKS_MODEL_ERRORS_H_

#include <stdexcept>

namespace larq_engine {

// What the user typed cannot be meant: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file or library is missing, damaged or refused: exit code 1.
class RunError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The model is damaged or LiteRT refuses it: a RunError in the making, without the model's name.
class ModelError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace larq_engine

#endif  // BENCHMARKS_MODEL_ERRORS_H_
