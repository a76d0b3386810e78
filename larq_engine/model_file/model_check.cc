#include "larq_engine/model_file/model_check.h"

#include "larq_engine/model_file/clauses.h"
#include "larq_engine/model_file/structure.h"

namespace larq_engine {

ModelFile CheckModel(std::span<const uint8_t> file) {
  Flatbuffer flatbuffer(file);
  CheckStructure(flatbuffer);
  ModelFile model = ReadModelFile(flatbuffer);
  for (const Clause& clause : Clauses()) clause.check(model);
  return model;
}

}  // namespace larq_engine
