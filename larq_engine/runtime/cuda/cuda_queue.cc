#include "larq_engine/runtime/cuda/cuda_queue.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "larq_engine/runtime/ops/op_error.h"

namespace larq_engine {
namespace {

// The most blocks that a launch may have, on every chip.
constexpr int64_t kMostBlocks = std::numeric_limits<int32_t>::max();

// Makes a tensor map. It is not on the stack, because the address sanitizer of gcc 12 does not
// align variables there to 128 bytes.
std::unique_ptr<CUtensorMap> MakeTensorMap(const CudaDriver& driver,
                                           const cuda::MatrixMap& matrix) {
  const auto number = [](auto value) { return static_cast<uint64_t>(value); };
  constexpr uint64_t kWordBytes = sizeof(uint32_t);
  const uint64_t sizes[] = {number(matrix.row_words), number(matrix.rows)};
  const uint64_t pitches[] = {number(matrix.pitch_words) * kWordBytes};
  const uint32_t box[] = {static_cast<uint32_t>(matrix.box_words),
                          static_cast<uint32_t>(matrix.box_rows)};
  const uint32_t each[] = {1, 1};
  auto map = std::make_unique<CUtensorMap>();
  driver.Call(driver.cuTensorMapEncodeTiled, map.get(), CU_TENSOR_MAP_DATA_TYPE_UINT32, 2,
              const_cast<uint32_t*>(matrix.words), sizes, pitches, box, each,
              CU_TENSOR_MAP_INTERLEAVE_NONE,
              matrix.is_swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
              CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

}  // namespace

CudaQueue::CudaQueue(std::shared_ptr<CudaDevice> device) : device_(std::move(device)) {
  const CudaDevice::Current current(*device_);
  // A stream that waits for the legacy stream would make the engine and others in the process wait
  // for each other.
  driver().Call(driver().cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
}

CudaQueue::~CudaQueue() {
  device_->Releasing([&] { (void)driver().cuStreamDestroy(stream_); });
}

void CudaQueue::Add(const Launch& launch, CUstream stream, Begin begin) const {
  const cuda::LaunchSize& size = launch.size;
  if (size.blocks > kMostBlocks) {
    throw OpError("expected at most " + std::to_string(kMostBlocks) +
                  " blocks of GPU threads, got " + std::to_string(size.blocks) +
                  "; run smaller batches");
  }
  std::vector<uint64_t> args = launch.args;
  for (const Launch::Map& map : launch.maps) {
    const std::unique_ptr<CUtensorMap> made = MakeTensorMap(driver(), map.matrix);
    std::memcpy(reinterpret_cast<std::byte*>(args.data()) + map.at, made.get(), sizeof(*made));
  }
  void* parameters[] = {args.data()};
  const CUfunction function = device_->Function(launch.kernel);
  const auto blocks = static_cast<unsigned>(size.blocks);
  if (begin == Begin::kInTurn || !device_->begins_launches_early()) {
    driver().Call(driver().cuLaunchKernel, function, blocks, 1, 1, size.threads, 1, 1,
                  size.shared_bytes, stream, parameters, nullptr);
    return;
  }
  CUlaunchAttribute early{};
  early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  early.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig config = {.gridDimX = blocks,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = size.threads,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .sharedMemBytes = size.shared_bytes,
                                 .hStream = stream,
                                 .attrs = &early,
                                 .numAttrs = 1};
  driver().Call(driver().cuLaunchKernelEx, &config, function, parameters, nullptr);
}

}  // namespace larq_engine
