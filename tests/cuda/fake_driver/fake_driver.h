// A CUDA driver that computes on the CPU, for tests of what stands above it: it has all functions
// of cuda_abi.h, and is what LARQ_ENGINE_CUDA_FUNCTIONS lists, no more.
//
// It does everything as late and in as unkind an order as a device may. Memory ends where a page
// begins that nobody may touch. What a program must not do ends it with a message; what a driver
// refuses it refuses with the same result.
//
// It is linked into a test, or is a libcuda.so.1 that the dynamic loader finds in the driver's
// place. The environment sets it up at its first call:
//   FAKE_CUDA_FAIL_CALL=17:700          as fake_cuda_fail_call(17, 700)
//   FAKE_CUDA_SEED=1                    as fake_cuda_set_seed(1)
//   FAKE_CUDA_DEVICES=2                 devices; 1 unless said otherwise
//   FAKE_CUDA_VERSION=11040             of the driver
//   FAKE_CUDA_COMPUTE_CAPABILITY=70     of the devices; 90 unless said otherwise
//   FAKE_CUDA_LACKS=cuLaunchKernelEx    the function that the driver does not have
//   FAKE_CUDA_MEMORY=1000000            bytes of each device; 1 GiB unless said otherwise
#ifndef LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_FAKE_DRIVER_H_
#define LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_FAKE_DRIVER_H_

#include <cstdint>

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))

extern "C" {

// The n-th call from now on, 1 being the next, returns `result`; 0: none. Calls are counted from
// here on. A call that releases something (frees, destroys, pops, ends a capture) does so and fails
// nonetheless. A fault of a kernel (700, 710 to 719) breaks the context: all later calls return it.
// If such a call is a launch, the launch succeeds and breaks the context when its turn comes.
FAKE_CUDA_EXPORT void fake_cuda_fail_call(uint64_t n, unsigned result);

// Since the last fake_cuda_fail_call, without those that only explain errors.
FAKE_CUDA_EXPORT uint64_t fake_cuda_calls(void);

// The name of the call that was made to fail, null if it has not come yet.
FAKE_CUDA_EXPORT const char* fake_cuda_failed_call(void);

// Everything that was made, retained, pushed by this thread, and not released. Prints what it is.
FAKE_CUDA_EXPORT uint64_t fake_cuda_leaks(void);

// What leaked so far is no leak from now on: what could not be released because that was made to
// fail.
FAKE_CUDA_EXPORT void fake_cuda_forgive_leaks(void);

// Copies from and to memory of the host that is not pinned.
FAKE_CUDA_EXPORT uint64_t fake_cuda_pageable_copies(void);

// The next thread that has to wait for the device is held until as many copies to the device were
// queued, of all threads together; if they are not within 20 s the program ends. Counts anew.
FAKE_CUDA_EXPORT void fake_cuda_hold_wait(uint64_t uploads);

// Whether a thread is.
FAKE_CUDA_EXPORT int fake_cuda_is_held(void);

// The most copies to the device that were queued together since.
FAKE_CUDA_EXPORT uint64_t fake_cuda_most_uploads(void);

// Memory of a device as another library in the process makes it, which fills it by the stream that
// all share: not before somebody waits for that. Null if there is no such device.
FAKE_CUDA_EXPORT void* fake_cuda_make_array(const void* data, uint64_t bytes, int device);
FAKE_CUDA_EXPORT void fake_cuda_free_array(void* array);

// Pinned memory of the host as another library in the process makes it.
FAKE_CUDA_EXPORT void* fake_cuda_make_pinned(uint64_t bytes);
FAKE_CUDA_EXPORT void fake_cuda_free_pinned(void* memory);

// 0: a stream's work runs when somebody waits for it, and no other. Else the seed draws the order:
// streams that nobody waits for run as well, and kernels' threads in any order.
FAKE_CUDA_EXPORT void fake_cuda_set_seed(uint64_t seed);

// The device after a fault is whole again, no call fails, and nothing is counted so far.
FAKE_CUDA_EXPORT void fake_cuda_reset(void);

}  // extern "C"

namespace larq_engine::testing {

// For LoadCudaDriver: the functions that libcuda.so.1 exports.
void* FindFakeCudaSymbol(const char* name);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_FAKE_DRIVER_H_
