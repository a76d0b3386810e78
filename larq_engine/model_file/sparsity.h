// Checks that the indices of a sparse constant lead into it.
#ifndef LARQ_ENGINE_MODEL_FILE_SPARSITY_H_
#define LARQ_ENGINE_MODEL_FILE_SPARSITY_H_

#include "larq_engine/model_file/refuse.h"

namespace larq_engine {

// Throws FileError if they do not. `place` names the tensor; `data_size` is the size of its
// constant in bytes.
void CheckSparsity(const FileTensor& tensor, size_t data_size, const PartName& place);

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_SPARSITY_H_
