#include "larq_engine/model_file/model_check.h"

#include "larq_engine/model_file/clauses.h"
#include "larq_engine/model_file/structure.h"

namespace larq_engine {

void CheckModel(std::span<const uint8_t> file) {
  Flatbuffer flatbuffer(file);
  CheckStructure(flatbuffer);
  const ModelFile model = ReadModelFile(flatbuffer);
  for (const Clause& clause : Clauses()) clause.check(model);
}

}  // namespace larq_engine
