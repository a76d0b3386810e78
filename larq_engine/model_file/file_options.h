// The options of an operator of TensorFlow Lite, as a file has them.
#ifndef LARQ_ENGINE_MODEL_FILE_FILE_OPTIONS_H_
#define LARQ_ENGINE_MODEL_FILE_FILE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "larq_engine/model_file/element_type.h"

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
  bool asymmetric_inputs = false;  // float inputs of int8 weights become bytes with a zero point
  bool pot_scale_int16 = true;     // scales of int16 tensors are powers of two
  bool keep_dims = false;
  float alpha = 0;
  float beta = 0;
  float bias = 0;      // for a LOCAL_RESPONSE_NORMALIZATION, as is the radius
  int32_t radius = 0;  // in channels
  // For each dimension of a STRIDED_SLICE, a bit of these masks.
  int32_t begin_mask = 0;
  int32_t end_mask = 0;
  int32_t ellipsis_mask = 0;
  int32_t new_axis_mask = 0;
  int32_t shrink_axis_mask = 0;
  bool offset = false;                  // a STRIDED_SLICE's end is relative to its begin
  int32_t parts = 0;                    // what a SPLIT or UNPACK makes, and a PACK joins
  int32_t batch_dims = 0;               // how many first dimensions a GATHER's inputs share
  int32_t sequence_dimension = 0;       // for a REVERSE_SEQUENCE
  int32_t batch_dimension = 0;          // for a REVERSE_SEQUENCE
  std::vector<int32_t> new_shape = {};  // for a RESHAPE
  std::vector<int32_t> squeeze_dims = {};
  bool transpose_left = false;  // an operand of a BATCH_MATMUL
  bool transpose_right = false;
  bool align_corners = false;  // for a RESIZE_BILINEAR or RESIZE_NEAREST_NEIGHBOR
  bool half_pixel_centers = false;
  ElementType input_type = ElementType::kFloat32;  // for a CAST
  ElementType output_type = ElementType::kFloat32;
  bool approximate = false;  // for a GELU
  int32_t pad_mode = 0;      // for a MIRROR_PAD
  int32_t block_size = 0;    // in pixels, for a DEPTH_TO_SPACE or SPACE_TO_DEPTH
  bool exclusive = false;    // a CUMSUM leaves each value out of its own sum
  bool reverse = false;      // a CUMSUM begins at the end
  std::string state = {};    // the state that a VAR_HANDLE names: container, 0, name
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_MODEL_FILE_FILE_OPTIONS_H_
