// The workers of the fuzzer load this library. It says where a process was when it crashed or ran
// out of time. It is also a delegate that takes our operators and computes nothing: a host that
// crashes with it does so without any code of the plug-in.
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "larq_engine/model_file/builtin.h"
#include "larq_engine/runtime/tflite_abi.h"

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGPROF, SIGALRM};
constexpr int kMaxFrames = 64;
// Size of the handler's stack, for when the stack has overflowed; unwinding takes some tens of KB
// of it.
constexpr size_t kStackBytes = 1 << 18;
constexpr size_t kReadableAfter = 16;  // hosts may read that much behind a tensor

int report_file = -1;

// Writes "signal N address A", then lines "<library> <offset in it> <symbol>", innermost frame
// first. The symbol is the last exported one before the offset.
void Report(int number, siginfo_t* info, void*) {
  char line[4096];
  int length = snprintf(line, sizeof(line), "signal %d address %p\n", number, info->si_addr);
  (void)!write(report_file, line, static_cast<size_t>(length));
  void* frames[kMaxFrames];
  const int count = backtrace(frames, kMaxFrames);
  for (int i = 1; i < count; ++i) {  // frame 0 is this function
    Dl_info found = {};
    if (dladdr(frames[i], &found) == 0 || found.dli_fname == nullptr) continue;
    const auto offset = static_cast<char*>(frames[i]) - static_cast<char*>(found.dli_fbase);
    length = snprintf(line, sizeof(line), "%s %#tx %s\n", found.dli_fname, offset,
                      found.dli_sname == nullptr ? "?" : found.dli_sname);
    (void)!write(report_file, line, static_cast<size_t>(length));
  }
  raise(number);  // SA_RESETHAND: this now ends the process
}

TfLiteStatus TakeNothing(TfLiteContext*, TfLiteNode*) { return kTfLiteOk; }

TfLiteStatus WriteZeros(TfLiteContext* context, TfLiteNode* node) {
  for (int tensor : larq_engine::AsSpan(node->outputs)) {
    TfLiteTensor& output = context->tensors[tensor];
    if (output.allocation_type == kTfLiteArenaRw && output.data.raw != nullptr) {
      std::memset(output.data.raw, 0, output.bytes);
    }
  }
  return kTfLiteOk;
}

// LceUnpackWeights gives the host constants; here they are zeros, which are never freed.
void* MakeConstants(TfLiteContext* context, const char* buffer, size_t) {
  const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  for (int index : larq_engine::AsSpan(params.output_tensors)) {
    TfLiteTensor& tensor = context->tensors[index];
    tensor.data.data = std::calloc(tensor.bytes + kReadableAfter, 1);
    if (tensor.data.data != nullptr) tensor.allocation_type = kTfLiteMmapRo;
  }
  return nullptr;
}

TfLiteStatus Take(TfLiteContext* context, TfLiteDelegate* delegate, const std::vector<int>& indices,
                  TfLiteRegistration registration) {
  if (indices.empty()) return kTfLiteOk;
  const larq_engine::IntArrayPtr nodes = larq_engine::MakeIntArray(indices);
  registration.prepare = TakeNothing;
  registration.builtin_code = larq_engine::builtin::kDelegate;
  registration.custom_name = "nothing";
  registration.version = 1;
  return context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes.get(),
                                                        delegate);
}

TfLiteStatus TakeOurs(TfLiteContext* context, TfLiteDelegate* delegate) {
  TfLiteIntArray* order = nullptr;
  if (context->GetExecutionPlan(context, &order) != kTfLiteOk) return kTfLiteError;
  std::vector<int> weights;
  std::vector<int> others;
  for (int index : larq_engine::AsSpan(order)) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      return kTfLiteError;
    }
    const char* name = registration->custom_name;
    if (registration->builtin_code == larq_engine::builtin::kCustom && name != nullptr &&
        std::strncmp(name, "Lce", 3) == 0) {
      (std::strcmp(name, "LceUnpackWeights") == 0 ? weights : others).push_back(index);
    }
  }
  TfLiteRegistration registration = {};
  registration.init = MakeConstants;
  registration.invoke = TakeNothing;
  if (Take(context, delegate, weights, registration) != kTfLiteOk) return kTfLiteError;
  registration.init = nullptr;
  registration.invoke = WriteZeros;
  return Take(context, delegate, others, registration);
}

}  // namespace

extern "C" {

// Describes later crashes of this process in the file. New and freed memory is filled, so that code
// that reads it before it is set is more likely to crash, and in the same way each time.
void report_crashes(int file) {
  report_file = file;
  mallopt(M_PERTURB, 0x5a);
  void* frame = nullptr;
  backtrace(&frame, 1);  // the first call loads a library, which a signal handler must not
  stack_t stack = {};
  stack.ss_sp = std::malloc(kStackBytes);
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = Report;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (int number : kSignals) sigaction(number, &action, nullptr);
}

TfLiteDelegate* tflite_plugin_create_delegate(const char* const*, const char* const*, size_t,
                                              void (*)(const char*)) {
  auto* delegate = new TfLiteDelegate();
  delegate->Prepare = TakeOurs;
  delegate->flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  return delegate;
}

void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate) { delete delegate; }

// Faults in known places, for the tests of the fuzzer.
void crash_here() { *reinterpret_cast<volatile int*>(16) = 0; }

void loop_here() {
  const volatile bool goes_on = true;
  while (goes_on) {
  }
}

// Overwrites the allocator's own numbers, which it notices later, when the culprit may be long
// gone.
void meet_spoilt_memory() {
  auto* memory = static_cast<volatile size_t*>(std::malloc(64));
  memory[-1] = 7;
  std::free(const_cast<size_t*>(memory));
}

}  // extern "C"
