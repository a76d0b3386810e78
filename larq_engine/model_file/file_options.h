// The options of an operator of TensorFlow Lite, as a file has them.
#ifndef LARQ_ENGINE_MODEL_FILE_FILE_OPTIONS_H_
#define LARQ_ENGINE_MODEL_FILE_FILE_OPTIONS_H_

#include <cstdint>

namespace larq_engine {

// Numbers are those of the file's schema, and may be none of them. An operator uses some of the
// fields.
struct FileOptions {
  int32_t activation = 0;
  int32_t axis = 0;
  int32_t padding = 0;
  int32_t stride_height = 0;
  int32_t stride_width = 0;
  int32_t filter_height = 0;
  int32_t filter_width = 0;
  int32_t dilation_height = 1;
  int32_t dilation_width = 1;
  int32_t depth_multiplier = 0;
  int32_t weights_format = 0;
  bool keep_dims = false;
  float beta = 0;
  // For each dimension of a STRIDED_SLICE, a bit of these masks.
  int32_t begin_mask = 0;
  int32_t end_mask = 0;
  int32_t ellipsis_mask = 0;
  int32_t new_axis_mask = 0;
  int32_t shrink_axis_mask = 0;
  bool offset = false;  // a STRIDED_SLICE's end is relative to its begin
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_FILE_OPTIONS_H_
