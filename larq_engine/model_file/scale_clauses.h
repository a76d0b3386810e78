// Clauses about the scales of quantized tensors.
#ifndef LARQ_ENGINE_MODEL_FILE_SCALE_CLAUSES_H_
#define LARQ_ENGINE_MODEL_FILE_SCALE_CLAUSES_H_

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

// Each function throws FileError. The indices of tensors, and the number of tensors of each
// operator, must be known to be legal. Scales of 0 and denormal scales are legal unless a host
// crashes on them: converters write them for channels that do nothing, and for values that were
// always 0 in calibration.
void ScalesAreNumbers(const ModelFile& model);
void ScalesFitTheirOperators(const ModelFile& model);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_SCALE_CLAUSES_H_
