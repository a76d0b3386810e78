// libFuzzer's entry: `bazel run --config=asan //tests/fuzz:model_fuzzer -- -runs=200000`.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  larq_engine::testing::RunFuzzCase({data, size});
  return 0;
}
