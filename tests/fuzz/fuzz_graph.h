// Makes graphs of our operators from a fuzzer's bytes: good ones, and good ones with a few faults,
// so that most cases get past the first check.
#ifndef LARQ_ENGINE_TESTS_FUZZ_FUZZ_GRAPH_H_
#define LARQ_ENGINE_TESTS_FUZZ_FUZZ_GRAPH_H_

#include "tests/fuzz/byte_source.h"
#include "tests/host/graph.h"

namespace larq_engine::testing {

Graph MakeFuzzGraph(ByteSource* bytes);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_FUZZ_FUZZ_GRAPH_H_
