/* Runs a .tflite model on zeros, without a host, and prints its first output. */
#include <stdio.h>
#include <string.h>

#include "larq_engine/runtime/larq_engine_model.h"

int main(int argc, char** argv) {
  char why[512] = "expected the path of a model";
  if (argc < 2) return fprintf(stderr, "%s\n", why), 1;
  LarqEngineModel* model =
      larq_engine_model_open_file(argv[1], NULL, NULL, NULL, 0, why, sizeof(why));
  if (model == NULL) return fprintf(stderr, "%s\n", why), 1;
  int failed = larq_engine_model_allocate(model, why, sizeof(why));
  const LarqEngineTensor input = larq_engine_model_input(model, 0);
  if (!failed) memset(input.data, 0, input.bytes);
  failed = failed || larq_engine_model_run(model, why, sizeof(why));
  const LarqEngineTensor output = larq_engine_model_output(model, 0);
  const size_t values = failed || output.type != LARQ_ENGINE_FLOAT32 ? 0 : output.bytes / 4;
  for (size_t i = 0; i < values; ++i) printf("%.9g\n", (double)((const float*)output.data)[i]);
  larq_engine_model_close(model);
  return failed ? fprintf(stderr, "%s\n", why), 1 : 0;
}
