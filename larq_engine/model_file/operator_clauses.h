// Clauses about single operators of the host, whose kernels, or XNNPACK's, rely on these conditions
// without checking them.
#ifndef LARQ_ENGINE_MODEL_FILE_OPERATOR_CLAUSES_H_
#define LARQ_ENGINE_MODEL_FILE_OPERATOR_CLAUSES_H_

#include <string_view>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

// Tells whether hosts bring this custom operator along. These operators need all of their inputs
// and their options.
bool IsHostsCustomOperator(std::string_view name);

// Each function throws FileError. The indices of tensors, graphs and kinds must be known to be
// legal.
void OperatorsHaveTheirTensors(const ModelFile& model);
void HostsCustomOperatorsHaveOptions(const ModelFile& model);
void DepthwiseConvolutionsHaveABias(const ModelFile& model);
void NumericOperatorsHaveNumbers(const ModelFile& model);
void CopiesHaveTheTypeOfTheirInput(const ModelFile& model);
void DiagonalsFitTheirMatrices(const ModelFile& model);
void BroadcastRanksAreSmall(const ModelFile& model);
void HighRanksAreKept(const ModelFile& model);
void StatesAreOfTheirLayersType(const ModelFile& model);
void StatesKeepTheirShape(const ModelFile& model);
void ArgumentsAreInRange(const ModelFile& model);
void CalledGraphsFit(const ModelFile& model);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_OPERATOR_CLAUSES_H_
