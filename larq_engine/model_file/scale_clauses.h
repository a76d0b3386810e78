// Clauses about the scales of quantized tensors.
#ifndef LARQ_ENGINE_MODEL_FILE_SCALE_CLAUSES_H_
#define LARQ_ENGINE_MODEL_FILE_SCALE_CLAUSES_H_

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

// Each throws FileError; indices of tensors and the numbers of operators' tensors are known to be
// legal. Scales of 0 and denormal ones are legal but where a host crashes on them: converters write
// them for channels that do nothing, and for what was always 0 when it was measured.
void ScalesAreNumbers(const ModelFile& model);
void ScalesFitTheirOperators(const ModelFile& model);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_SCALE_CLAUSES_H_
