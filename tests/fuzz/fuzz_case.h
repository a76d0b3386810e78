// Runs one case of the fuzzer, for libFuzzer and for the replaying test.
#ifndef LARQ_ENGINE_TESTS_FUZZ_FUZZ_CASE_H_
#define LARQ_ENGINE_TESTS_FUZZ_FUZZ_CASE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace larq_engine::testing {

// Checks and reads bytes that carry the mark of a TFLite file as one, and others as a description
// for MakeFuzzGraph. The plug-in runs the graph, runs it resized, and once more in its own size.
// Aborts if
//  - a call fails without an error message, or a constant is written to;
//  - the reference (in larger graphs, for which it is too slow, a second run) and the chosen kernel
//    differ in whether they run or in any byte of the result; bytes that nobody wrote differ too.
// The sanitizers report what they find. Returns true if the graph ran.
bool RunFuzzCase(std::span<const uint8_t> bytes);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_FUZZ_FUZZ_CASE_H_
