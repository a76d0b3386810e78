// What makes a .tflite file illegal: one row for each reason.
//
// The structure is checked before (structure.h). These are faults that hosts do not see or fall
// over: what they refuse in words of their own is left to them.
#ifndef LARQ_ENGINE_MODEL_FILE_CLAUSES_H_
#define LARQ_ENGINE_MODEL_FILE_CLAUSES_H_

#include <span>

#include "larq_engine/model_file/model_file.h"

namespace larq_engine {

// What a clause looks at. A delegate knows one graph: shapes, quantizations and who writes what,
// but neither constants' bytes nor other graphs, and what its host has checked.
enum class Sees { kFile, kOneGraph };

struct Clause {
  const char* name;  // what holds in every legal file
  // Throws FileError where it does not hold. May rely on the clauses before it.
  void (*check)(const ModelFile& model);
  Sees sees;
};

std::span<const Clause> Clauses();

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_CLAUSES_H_
