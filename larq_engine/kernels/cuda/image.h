/* What liblarq_engine_cuda.so exports: the kernels for all chips that they were compiled for. */
#ifndef LARQ_ENGINE_KERNELS_CUDA_IMAGE_H_
#define LARQ_ENGINE_KERNELS_CUDA_IMAGE_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct LarqEngineCudaImage {
  const void* data; /* for the driver's cuLibraryLoadData */
  size_t bytes;
};

/* Null unless `version` is that of this library: what kernels are given differs between versions.
 */
__attribute__((visibility("default"))) const struct LarqEngineCudaImage* larq_engine_cuda_image(
    const char* version);

/* The version that larq_engine_cuda_image expects. */
__attribute__((visibility("default"))) const char* larq_engine_cuda_version(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LARQ_ENGINE_KERNELS_CUDA_IMAGE_H_ */
