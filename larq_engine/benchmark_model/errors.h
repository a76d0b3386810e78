// Errors that end the program. Any other std::exception ends it with exit code 1.
#ifndef LARQ_ENGINE_BENCHMARK_MODEL_ERRORS_H_
#define LARQ_ENGINE_BENCHMARK_MODEL_ERRORS_H_

#include <stdexcept>

namespace larq_engine {

// The command line makes no sense: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file or library is missing, damaged or refused: exit code 1.
class RunError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The model is damaged or refused. Callers turn it into a RunError, which names the model.
class ModelError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The engine does not compute all operators of the model by itself.
class NotComputedError : public ModelError {
  using ModelError::ModelError;
};

// LiteRT's library is nowhere.
class NoLiteRtError : public RunError {
  using RunError::RunError;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_BENCHMARK_MODEL_ERRORS_H_
