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
 *                there are CPUs for the process: by its affinity mask, and by the limit of its
 *                control group (version 2)
 *   kernel       "auto" (default), "reference", or the name of a kernel row, of the CPU's or the
 *                GPU's
 *   fuse         "on" (default): also take over the host's float operators between ours, and
 *                compute them while a layer's output is in the cache; "off": only our operators,
 *                one by one. "true" and "1" mean "on", "false" and "0" mean "off", in upper or
 *                lower case
 *   device       "cpu" (default); "cuda", or "cuda:1" and so on: a GPU of NVIDIA's for all that it
 *                can compute; "auto": for each operator the device that is expected to be fastest,
 *                and the CPU if there is no GPU; larq_engine_devices says why there is none
 *   placement    devices of single operators, such as "3:cpu,7:cuda,8:host,9:cpu:reference": node 3
 *                on the CPU, node 7 on the GPU, node 8 by the host's own operator, node 9 on the
 *                CPU with the kernel of that name. "5:cuda@64+cpu" cuts a layer: 64 output channels
 *                on the GPU, the others on the CPU. "none" places nothing. The default is the text
 *                in the model's metadata "larq_engine.placement". An item whose device or kernel
 *                does not exist is an error; with "fallback" among the items, it is ignored.
 *                Numbers are nodes of the host's main graph, as profiles have them, and "1/3:cuda"
 *                is a node of graph 1. The host's call fails if an item names a node that we cannot
 *                take over. A node that we can compute is taken over whatever `fuse` and its
 *                neighbours are
 * The environment variable LARQ_ENGINE_KERNEL stands in for `kernel` if that is "auto", and
 * LARQ_ENGINE_DEVICE for `device` if that is not given. LARQ_ENGINE_SPIN_US is how many
 * microseconds threads look for work before they sleep (20). With LARQ_ENGINE_LOG_CLAIMS=on, the
 * delegate prints to the standard error which operators it takes over, and why. Returns null after
 * calling report_error (may be null) when an option or a value is unknown, or the device is not
 * there. */
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

/* Returns the number of CPUs that this process may use, by its affinity and the quotas of its
 * control groups. No delegate starts more threads. */
LARQ_ENGINE_EXPORT int larq_engine_usable_cpus(void);

/* Lists the devices, one a line: the CPU with its kernel rows, then each GPU, or the reason why no
 * GPU can be used. Opens NVIDIA's driver, which takes a while and memory of the GPU. Writes like
 * snprintf (at most `size` bytes with the final 0), and returns the length of the whole text; 0 if
 * memory is short. */
LARQ_ENGINE_EXPORT size_t larq_engine_devices(char* text, size_t size);

/* Checks that the `size` bytes at `model`, a .tflite file, are a model on which no host crashes.
 * Returns 0, or 1 with the reason, cut to fit, in error[0 .. error_size). Hosts themselves check
 * less, so call this before a host gets a file from a stranger. */
LARQ_ENGINE_EXPORT int larq_engine_check_model(const void* model, size_t size, char* error,
                                               size_t error_size);

/* Registers the operators with a tflite::MutableOpResolver of C++, for hosts without delegates.
 * Needs a process in which a loaded library exports MutableOpResolver::AddCustom (TensorFlow's
 * does). Returns 0, or 1 with the reason in error[0 .. error_size). */
LARQ_ENGINE_EXPORT int larq_engine_register_ops(void* mutable_op_resolver, char* error,
                                                size_t error_size);

/* Writes the memory, in bytes, that the interpreters of the delegate hold on GPUs from the time
 * when tensors are allocated: {"devices":[{"device","weights","activations","staging"}]}.
 * `activations` are those of all shapes that are remembered, and `staging` is pinned memory of the
 * host. Without a GPU the list is empty. Writes and returns as larq_engine_devices does. Must not
 * be called while an interpreter of this delegate is running. */
LARQ_ENGINE_EXPORT size_t larq_engine_memory_read(struct TfLiteDelegate* delegate, char* json,
                                                  size_t size);

/* Writes the decision about each operator of the graphs that a host handed to the delegate last:
 * whether it was taken over, and the reason. {"claims":[{"subgraph","node","claimed","reason"}]}
 * Writes and returns as larq_engine_devices does. */
LARQ_ENGINE_EXPORT size_t larq_engine_claims_read(struct TfLiteDelegate* delegate, char* json,
                                                  size_t size);

/* Sets an input whose data are in the GPU's memory already. `tensor` is the number of an input of
 * the model's main graph in the delegate's only interpreter, whose tensors must be allocated. Its
 * runs read `bytes` bytes at `data` instead of the host's tensor, until `data` is set to null or
 * the interpreter is gone. If a resize changes the number of bytes or the operators that read them,
 * runs fail until the input is set again. This call waits for the work that is queued on the stream
 * that all share (CU_STREAM_LEGACY). The data must stay unchanged until the input is set to null.
 * Returns 0, or 1 with the reason in error[0 .. error_size): no GPU computes, the data are
 * elsewhere, or an operator on the CPU also reads the input. Must not be called while the
 * interpreter is running. */
LARQ_ENGINE_EXPORT int larq_engine_set_device_input(struct TfLiteDelegate* delegate, int tensor,
                                                    const void* data, size_t bytes, char* error,
                                                    size_t error_size);

/* Does the same as larq_engine_set_device_input for data in the host's memory. They need not be
 * copied into the host's tensor first, and the GPU reads them in place if they are pinned. */
LARQ_ENGINE_EXPORT int larq_engine_set_host_input(struct TfLiteDelegate* delegate, int tensor,
                                                  const void* data, size_t bytes, char* error,
                                                  size_t error_size);

/* Time each step that runs through the delegate. Steps that run tile by tile together share the
 * time of their group in proportion to what their threads spent. start clears the times and
 * switches the timing on; read switches it off, writes JSON like snprintf (at most `size` bytes
 * with the final 0) and returns the length of the whole text. Must not be called while an
 * interpreter of this delegate is running. */
LARQ_ENGINE_EXPORT void larq_engine_profile_start(struct TfLiteDelegate* delegate);
LARQ_ENGINE_EXPORT size_t larq_engine_profile_read(struct TfLiteDelegate* delegate, char* json,
                                                   size_t size);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* LARQ_ENGINE_RUNTIME_LARQ_ENGINE_H_ */
