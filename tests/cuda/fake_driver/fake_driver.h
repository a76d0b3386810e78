// A CUDA driver that computes on the CPU, to test the code that calls a driver. It has the
// functions of cuda_abi.h, which LARQ_ENGINE_CUDA_FUNCTIONS and LARQ_ENGINE_OPTIONAL_CUDA_FUNCTIONS
// list, and no others.
//
// It does everything as late, and in as unkind an order, as a device may. Each block of memory ends
// at a page that nobody may touch. Illegal use of the driver ends the program with a message; a
// call that NVIDIA's driver refuses returns the same result as there.
//
// It is linked into a test, or is a libcuda.so.1 that the dynamic loader finds in the place of
// NVIDIA's. The environment sets it up at its first call:
//   FAKE_CUDA_FAIL_CALL=17:700          like fake_cuda_fail_call(17, 700)
//   FAKE_CUDA_SEED=1                    like fake_cuda_set_seed(1)
//   FAKE_CUDA_DEVICES=2                 number of devices; default 1
//   FAKE_CUDA_VERSION=11040             version of the driver
//   FAKE_CUDA_COMPUTE_CAPABILITY=70     of the devices; default 90
//   FAKE_CUDA_LACKS=cuLaunchKernelEx    a function that the driver lacks
//   FAKE_CUDA_MEMORY=1000000            bytes of each device; default 1 GiB
#ifndef LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_FAKE_DRIVER_H_
#define LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_FAKE_DRIVER_H_

#include <cstdint>

#define FAKE_CUDA_EXPORT __attribute__((visibility("default")))

extern "C" {

// Makes the n-th call from now on return `result`; the next call is number 1, and 0 means none.
// Calls are counted from here on. A call that releases something (frees, destroys, pops, ends a
// capture) releases it although it fails. A fault of a kernel (700, 710 to 719) breaks the context:
// all later calls return it. If the call is a launch and the result is a fault, the launch succeeds
// and breaks the context when its turn comes.
FAKE_CUDA_EXPORT void fake_cuda_fail_call(uint64_t n, unsigned result);

// Returns the number of calls since the last fake_cuda_fail_call, without those that only explain
// errors.
FAKE_CUDA_EXPORT uint64_t fake_cuda_calls(void);

// Returns the name of the call that was made to fail, or null if it has not come yet.
FAKE_CUDA_EXPORT const char* fake_cuda_failed_call(void);

// Returns the number of things that were made, retained, or pushed by this thread, and not
// released. Prints what they are.
FAKE_CUDA_EXPORT uint64_t fake_cuda_leaks(void);

// Forgets the leaks so far: things that could not be released because the release was made to fail.
FAKE_CUDA_EXPORT void fake_cuda_forgive_leaks(void);

// Returns the number of copies from and to memory of the host that is not pinned.
FAKE_CUDA_EXPORT uint64_t fake_cuda_pageable_copies(void);

// Holds the next thread that has to wait for the device, until `uploads` copies to the device are
// queued, by all threads together. If they are not within 20 s, the program ends. The count of
// fake_cuda_most_uploads starts again.
FAKE_CUDA_EXPORT void fake_cuda_hold_wait(uint64_t uploads);

// Tells whether a thread is held.
FAKE_CUDA_EXPORT int fake_cuda_is_held(void);

// Returns the most copies to the device that were queued at the same time since
// fake_cuda_hold_wait.
FAKE_CUDA_EXPORT uint64_t fake_cuda_most_uploads(void);

// Makes an array in the memory of a device as another library in the process does: the legacy
// stream fills it, and not before somebody waits for that stream. Returns null if there is no such
// device.
FAKE_CUDA_EXPORT void* fake_cuda_make_array(const void* data, uint64_t bytes, int device);
FAKE_CUDA_EXPORT void fake_cuda_free_array(void* array);

// Makes pinned memory of the host as another library in the process does.
FAKE_CUDA_EXPORT void* fake_cuda_make_pinned(uint64_t bytes);
FAKE_CUDA_EXPORT void fake_cuda_free_pinned(void* memory);

// Sets the order of work. With 0, a stream's work runs when somebody waits for it, and no other
// work does. Any other seed draws the order: streams that nobody waits for run as well, and the
// threads of kernels run in any order.
FAKE_CUDA_EXPORT void fake_cuda_set_seed(uint64_t seed);

// Makes the device whole again after a fault, lets no call fail, and resets all counts.
FAKE_CUDA_EXPORT void fake_cuda_reset(void);

}  // extern "C"

namespace larq_engine::testing {

// Returns the address of a function that libcuda.so.1 exports, for LoadCudaDriver.
void* FindFakeCudaSymbol(const char* name);

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_CUDA_FAKE_DRIVER_FAKE_DRIVER_H_
