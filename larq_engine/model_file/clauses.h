// The reasons why a .tflite file is illegal, one row for each.
//
// The structure is checked before (structure.h). The clauses find faults that hosts do not detect,
// or on which they crash. Faults that hosts refuse with an error of their own are left to them.
#ifndef LARQ_ENGINE_MODEL_FILE_CLAUSES_H_
#define LARQ_ENGINE_MODEL_FILE_CLAUSES_H_

#include <span>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

// The part of a model that a clause reads. A delegate knows only one graph: its shapes, its
// quantizations and what writes each tensor, but neither the bytes of constants nor other graphs.
// Its host has checked this graph already.
enum class ClauseScope { kFile, kOneGraph };

struct Clause {
  const char* name;  // a statement that holds in every legal file
  // Throws FileError if the statement does not hold. The function may rely on the clauses before
  // it.
  void (*check)(const ModelFile& model);
  ClauseScope scope;
};

std::span<const Clause> Clauses();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_CLAUSES_H_
