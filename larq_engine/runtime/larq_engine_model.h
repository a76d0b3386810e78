/* The C interface of liblarq_engine.so for whole models, which it runs by itself: no host, such as
 * LiteRT, is needed. No function throws or aborts. Functions that return int return 0, or 1 with
 * the reason, cut to fit, in error[0 .. error_size). */
#ifndef LARQ_ENGINE_RUNTIME_LARQ_ENGINE_MODEL_H_
#define LARQ_ENGINE_RUNTIME_LARQ_ENGINE_MODEL_H_

#include <stddef.h>

#include "larq_engine/runtime/larq_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model with its tensors. Different models may be used by several threads at the same time, but
 * one model only by one thread at a time. */
typedef struct LarqEngineModel LarqEngineModel;

/* The number of an element's type, as .tflite files have it. */
enum {
  LARQ_ENGINE_FLOAT32 = 0,
  LARQ_ENGINE_FLOAT16 = 1,
  LARQ_ENGINE_INT32 = 2,
  LARQ_ENGINE_UINT8 = 3,
  LARQ_ENGINE_INT64 = 4,
  LARQ_ENGINE_BOOL = 6,
  LARQ_ENGINE_INT16 = 7,
  LARQ_ENGINE_INT8 = 9,
  LARQ_ENGINE_FLOAT64 = 10,
  LARQ_ENGINE_UINT64 = 12,
  LARQ_ENGINE_UINT32 = 15,
  LARQ_ENGINE_UINT16 = 16
};

/* An input or output. An output has its true dims after tensors were allocated. Pointers are valid
 * until tensors are allocated or resized, or the model is closed. */
typedef struct LarqEngineTensor {
  const char* name;     /* in the model's graph */
  int tensor;           /* number in the model's graph */
  int type;             /* LARQ_ENGINE_FLOAT32 and so on */
  int rank;             /* number of dimensions */
  const int* dims;      /* rank sizes */
  const int* open_dims; /* rank sizes as the file declares them, -1 for open ones; may be null */
  size_t bytes;         /* size of the data, for these dims; SIZE_MAX if no memory holds it */
  void* data;           /* null before tensors are allocated */
  int is_constant;      /* not 0: the data are part of the file, and must only be read */
  /* Quantization of int8 and uint8: value = scale * (number - zero point). There are no scales, one
   * for the tensor, or one for each index of dimension scale_dim. */
  size_t scales;
  const float* scale;
  const int* zero_point;
  int scale_dim;
} LarqEngineTensor;

/* Opens a .tflite model of `size` bytes at `model`, which must stay as they are until the model is
 * closed. `signature` chooses one of the model's signatures; null means the model's main graph.
 * keys[0 .. count) and values[0 .. count) are options as in tflite_plugin_create_delegate;
 * `num_threads` is 1 by default. Returns null with the reason in `error` if the file is not legal,
 * or the engine does not compute one of its operators; the reason names these. */
LARQ_ENGINE_EXPORT LarqEngineModel* larq_engine_model_open(const void* model, size_t size,
                                                           const char* signature,
                                                           const char* const* keys,
                                                           const char* const* values, size_t count,
                                                           char* error, size_t error_size);

/* Does the same with a file, which is read into memory. */
LARQ_ENGINE_EXPORT LarqEngineModel* larq_engine_model_open_file(
    const char* path, const char* signature, const char* const* keys, const char* const* values,
    size_t count, char* error, size_t error_size);

/* Null is allowed. */
LARQ_ENGINE_EXPORT void larq_engine_model_close(LarqEngineModel* model);

LARQ_ENGINE_EXPORT size_t larq_engine_model_inputs(const LarqEngineModel* model);
LARQ_ENGINE_EXPORT size_t larq_engine_model_outputs(const LarqEngineModel* model);

/* Describe input or output number `index`. All fields are 0 for a number that does not exist. */
LARQ_ENGINE_EXPORT LarqEngineTensor larq_engine_model_input(const LarqEngineModel* model,
                                                            size_t index);
LARQ_ENGINE_EXPORT LarqEngineTensor larq_engine_model_output(const LarqEngineModel* model,
                                                             size_t index);

/* Gives an input other dimensions, such as another batch. */
LARQ_ENGINE_EXPORT int larq_engine_model_resize(LarqEngineModel* model, size_t input,
                                                const int* dims, int rank, char* error,
                                                size_t error_size);

/* Plans memory and threads for the inputs' dimensions, and gives inputs and outputs their data.
 * Must be called after the model is opened and after each resize. */
LARQ_ENGINE_EXPORT int larq_engine_model_allocate(LarqEngineModel* model, char* error,
                                                  size_t error_size);

/* Lets runs read an input at `data`, without a copy, until it is set to null or resized. `bytes`
 * must be the input's size. `data` must be aligned as its elements are. */
LARQ_ENGINE_EXPORT int larq_engine_model_set_input(LarqEngineModel* model, size_t input,
                                                   const void* data, size_t bytes, char* error,
                                                   size_t error_size);

/* Lets runs use so many threads from now on. The option `num_threads` of opening is the most: what
 * runs need is planned for it. Fewer leave CPUs to others. */
LARQ_ENGINE_EXPORT int larq_engine_model_set_num_threads(LarqEngineModel* model, int num_threads,
                                                         char* error, size_t error_size);

/* Computes the outputs from the inputs. Takes no memory, but for more threads the first time that
 * models run at the same time. */
LARQ_ENGINE_EXPORT int larq_engine_model_run(LarqEngineModel* model, char* error,
                                             size_t error_size);

/* Give a tensor of the graph by its number, such as a constant. All fields are 0 if it has no data
 * that last: values between operators have none. */
LARQ_ENGINE_EXPORT LarqEngineTensor larq_engine_model_tensor(const LarqEngineModel* model,
                                                             int tensor);

/* Write what the model consists of, with the numbers of tensors. They write and return as
 * larq_engine_devices does.
 * {"signatures":{"<key>":{"graph","inputs":{"<name>":tensor},"outputs":{"<name>":tensor}}}}
 * {"tensors":[{"name","type","shape","signature","scales","zero_points","scale_axis"}],
 *  "operators":[{"name","inputs","outputs"}]} */
LARQ_ENGINE_EXPORT size_t larq_engine_model_signatures(const LarqEngineModel* model, char* json,
                                                       size_t size);
LARQ_ENGINE_EXPORT size_t larq_engine_model_graph(const LarqEngineModel* model, char* json,
                                                  size_t size);

/* Do what the functions for delegates do: time operators, tell the memory on GPUs, and read inputs
 * where they are. `input` is the number of an input. */
LARQ_ENGINE_EXPORT void larq_engine_model_profile_start(LarqEngineModel* model);
LARQ_ENGINE_EXPORT size_t larq_engine_model_profile_read(LarqEngineModel* model, char* json,
                                                         size_t size);
LARQ_ENGINE_EXPORT size_t larq_engine_model_memory_read(LarqEngineModel* model, char* json,
                                                        size_t size);
LARQ_ENGINE_EXPORT int larq_engine_model_set_device_input(LarqEngineModel* model, size_t input,
                                                          const void* data, size_t bytes,
                                                          char* error, size_t error_size);
LARQ_ENGINE_EXPORT int larq_engine_model_set_host_input(LarqEngineModel* model, size_t input,
                                                        const void* data, size_t bytes, char* error,
                                                        size_t error_size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LARQ_ENGINE_RUNTIME_LARQ_ENGINE_MODEL_H_ */
