#include "larq_engine/runtime/cuda/timed_launches.h"

namespace larq_engine {

TimedLaunches::TimedLaunches(const CudaQueue& queue, std::span<const Launch> launches)
    : queue_(queue),
      begin_(queue.driver(), CU_EVENT_DEFAULT),
      end_(queue.driver(), CU_EVENT_DEFAULT),
      graph_(queue, [&](CUstream stream) {
        const CudaDriver& driver = queue.driver();
        // The flag makes the graph record the event each time that it runs.
        driver.Call(driver.cuEventRecordWithFlags, begin_.get(), stream, CU_EVENT_RECORD_EXTERNAL);
        Begin begin = Begin::kInTurn;
        for (const Launch& launch : launches) {
          queue.Add(launch, stream, begin);
          begin = Begin::kEarly;
        }
        driver.Call(driver.cuEventRecordWithFlags, end_.get(), stream, CU_EVENT_RECORD_EXTERNAL);
      }) {}

uint64_t TimedLaunches::Run() const {
  graph_.Launch();
  queue_.Wait();
  float milliseconds = 0;
  queue_.driver().Call(queue_.driver().cuEventElapsedTime, &milliseconds, begin_.get(), end_.get());
  return static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace larq_engine
