/* The C interface of the plug-in liblarq_engine.so.
 *
 * The first two functions are TensorFlow Lite's external-delegate interface: a host that is told
 * the library's path calls them. The rest is ours. No function throws or aborts. */
#ifndef LARQ_ENGINE_RUNTIME_LARQ_ENGINE_H_
#define LARQ_ENGINE_RUNTIME_LARQ_ENGINE_H_

#include <stddef.h>

#if defined(_WIN32)
#define LARQ_ENGINE_EXPORT __declspec(dllexport)
#else
#define LARQ_ENGINE_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteDelegate;

/* Options are pairs of strings:
 *   num_threads  1 to 256; by default the host's own number of threads. No more are started than
 *                there are CPUs: those of the process's affinity mask, and of its control group's
 *                limit (version 2)
 *   kernel       "auto" (default), "reference", or the name of a kernel row, of the CPU's or the
 *                GPU's
 *   fuse         "on" (default): also take over the host's float operators between ours, and
 *                compute them while a layer's output is in the cache; "off": ours only, one by one.
 *                "true" or "1" and "false" or "0" are the same, in upper or lower case
 *   device       "cpu" (default); "cuda", or "cuda:1" and so on: a GPU of NVIDIA's for all that it
 *                can compute; "auto": each operator where it is expected to take least, and
 *                where there is no GPU the CPU; larq_engine_devices says why
 *   placement    where single operators are computed, such as
 * "3:cpu,7:cuda,8:host,9:cpu:reference": on the CPU, on the GPU, by the host's own operator, with a
 * kernel of that name; "5:cuda@64+cpu" cuts a layer: 64 output channels there, the others here. By
 * default what the model's file says in its metadata "larq_engine.placement"; "none": nothing. With
 * "fallback" among the items, those whose device or kernel is not there count as not said, which is
 * an error else. Numbers are nodes of the host's main graph, as profiles have them, and "1/3:cuda"
 * is one of graph 1. To name a node that we cannot take over is an error of the host's call; one
 * that we can compute is taken over whatever `fuse` and its neighbours are.
 * The environment variable LARQ_ENGINE_KERNEL stands in for `kernel` when that is "auto", and
 * LARQ_ENGINE_DEVICE for `device` where that is not given. Returns null after calling report_error
 * (may be null) when an option or a value is unknown, or the device is not there. */
LARQ_ENGINE_EXPORT struct TfLiteDelegate* tflite_plugin_create_delegate(
    const char* const* keys, const char* const* values, size_t count,
    void (*report_error)(const char* message));

/* Interpreters that use the delegate must be gone. Null is allowed. */
LARQ_ENGINE_EXPORT void tflite_plugin_destroy_delegate(struct TfLiteDelegate* delegate);

LARQ_ENGINE_EXPORT const char* larq_engine_version(void);

/* Names of the kernel rows that this CPU runs, separated by commas. */
LARQ_ENGINE_EXPORT const char* larq_engine_kernels(void);

/* Names of the kernel rows for GPUs that `kernel` takes, whether there is a GPU or not, separated
 * by commas. */
LARQ_ENGINE_EXPORT const char* larq_engine_gpu_kernels(void);

/* How many CPUs this process may use, by its affinity and the quotas of its control groups: more
 * threads than these, no delegate starts. */
LARQ_ENGINE_EXPORT int larq_engine_usable_cpus(void);

/* The devices that there are, a line each: the CPU with its kernel rows, then each GPU, or why
 * there is none that can be used. Opens NVIDIA's driver, which takes a while and memory of the GPU.
 * Writes like snprintf (at most `size` bytes with the final 0), and returns the length of the whole
 * text; 0 if memory is short. */
LARQ_ENGINE_EXPORT size_t larq_engine_devices(char* text, size_t size);

/* Whether the `size` bytes at `model`, a .tflite file, are a model on which no host crashes.
 * Returns 0, or 1 with the reason, cut to fit, in error[0 .. error_size). Hosts check less than
 * that: ask before a file from elsewhere is given to one. */
LARQ_ENGINE_EXPORT int larq_engine_check_model(const void* model, size_t size, char* error,
                                               size_t error_size);

/* Registers the operators with a tflite::MutableOpResolver of C++, for hosts without delegates.
 * Needs a process in which a loaded library exports MutableOpResolver::AddCustom (TensorFlow's
 * does). Returns 0, or 1 with the reason in error[0 .. error_size). */
LARQ_ENGINE_EXPORT int larq_engine_register_ops(void* mutable_op_resolver, char* error,
                                                size_t error_size);

/* The memory that the interpreters of the delegate hold on GPUs, in bytes, as soon as tensors are
 * allocated: {"devices":[{"device","weights","activations","staging"}]}, where `activations` are
 * those of all shapes that are remembered, and `staging` is pinned memory of the host. Without a
 * GPU the list is empty. Writes like snprintf, as larq_engine_devices does. Not while an
 * interpreter of this delegate is running. */
LARQ_ENGINE_EXPORT size_t larq_engine_memory_read(struct TfLiteDelegate* delegate, char* json,
                                                  size_t size);

/* For inputs that are in the GPU's memory already. `tensor` is the number of an input of the
 * model's main graph in the one interpreter of the delegate, whose tensors are allocated; its runs
 * read `bytes` bytes at `data` instead of the host's tensor, until `data` is null or the
 * interpreter is gone; after a resize that changes the bytes or who reads them, they fail until it
 * is set again. What was queued on the stream that all share (CU_STREAM_LEGACY) is waited for now;
 * until null takes them back the data must stay as they are. Returns 0, or 1 with the reason in
 * error[0 .. error_size): no GPU computes, the data are elsewhere, or an operator on the CPU reads
 * the input as well. Not while the interpreter is running. */
LARQ_ENGINE_EXPORT int larq_engine_set_device_input(struct TfLiteDelegate* delegate, int tensor,
                                                    const void* data, size_t bytes, char* error,
                                                    size_t error_size);

/* As larq_engine_set_device_input, of data in the host's memory that the GPU reads: they need not
 * be copied into the host's tensor first, and are read where they are if they are pinned. */
LARQ_ENGINE_EXPORT int larq_engine_set_host_input(struct TfLiteDelegate* delegate, int tensor,
                                                  const void* data, size_t bytes, char* error,
                                                  size_t error_size);

/* Per-step timing of all that runs through the delegate; steps that run tile by tile together share
 * the time of their group as their threads spent it. start clears and switches it on; read
 * switches it off, writes JSON like snprintf (at most `size` bytes with the final 0) and returns
 * the length of the whole text. Not while an interpreter of this delegate is running. */
LARQ_ENGINE_EXPORT void larq_engine_profile_start(struct TfLiteDelegate* delegate);
LARQ_ENGINE_EXPORT size_t larq_engine_profile_read(struct TfLiteDelegate* delegate, char* json,
                                                   size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LARQ_ENGINE_RUNTIME_LARQ_ENGINE_H_ */
