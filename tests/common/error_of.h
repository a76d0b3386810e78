#ifndef LARQ_ENGINE_TESTS_COMMON_ERROR_OF_H_
#define LARQ_ENGINE_TESTS_COMMON_ERROR_OF_H_

#include <string>

namespace larq_engine::testing {

// Returns the message of the `Error` that the call throws.
template <typename Error, typename Call>
std::string ErrorOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_ERROR_OF_H_
