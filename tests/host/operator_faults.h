// Reads tests/common/operator_faults.txt, which says what is in it, and makes graphs of it.
#ifndef LARQ_ENGINE_TESTS_HOST_OPERATOR_FAULTS_H_
#define LARQ_ENGINE_TESTS_HOST_OPERATOR_FAULTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/host/model_builder.h"

namespace larq_engine::testing {

struct OperatorFault {
  std::string name;
  std::string base;                  // name of a good model
  std::vector<std::string> changes;  // what spoils it
  std::vector<std::string> message;  // parts, in order
};

struct OperatorFaults {
  std::vector<OperatorFault> faults;
  std::map<std::string, std::vector<int64_t>> options;  // values out of range, by key
};

// Throws std::exception if the list cannot be read.
OperatorFaults ReadOperatorFaults();

// Returns the graph of a good model with the fault in it.
Graph Spoilt(const ModelBuilder& base, const OperatorFault& fault);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_HOST_OPERATOR_FAULTS_H_
