// Our operators for hosts that take them through a C++ op resolver instead of a delegate.
//
// The resolver is a C++ class of the host, whose header we do not have; its AddCustom is found by
// its mangled name in whatever library of this process exports it. TensorFlow's does, LiteRT's does
// not.
#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <map>
#include <mutex>

#include "larq_engine/runtime/host_calls.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/plan.h"

namespace larq_engine {
namespace {

// void tflite::MutableOpResolver::AddCustom(const char*, const TfLiteRegistration*, int)
constexpr const char* kAddCustom =
    "_ZN6tflite17MutableOpResolver9AddCustomEPKcPK18TfLiteRegistrationi";
using AddCustomFn = void (*)(void* resolver, const char* name, const TfLiteRegistration*,
                             int version);

// Hosts load their libraries locally, out of sight of the default search: ask each one.
AddCustomFn FindAddCustom() {
  void* found = dlsym(RTLD_DEFAULT, kAddCustom);
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* result) {
        void*& symbol = *static_cast<void**>(result);
        if (symbol != nullptr || info->dlpi_name == nullptr || *info->dlpi_name == 0) return 0;
        if (void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD)) {
          symbol = dlsym(library, kAddCustom);
          dlclose(library);
        }
        return 0;
      },
      &found);
  return reinterpret_cast<AddCustomFn>(found);
}

// One engine for each number of threads, as long as somebody uses it.
std::shared_ptr<Engine> SharedEngine(int threads) {
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Engine>> engines;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<Engine> engine = engines[threads].lock();
  if (engine == nullptr) {
    engine = std::make_shared<Engine>(ParseEngineOptions(nullptr, nullptr, 0));
    engines[threads] = engine;
  }
  return engine;
}

// A node of the host: made before its tensors are known, planned at the first Prepare.
struct RegisteredNode {
  const char* op;
  std::span<const uint8_t> options;
  std::unique_ptr<Plan> plan;
};

template <int kOp>
struct Registered {
  static constexpr const char* kNames[] = {"LceQuantize", "LceDequantize", "LceBconv2d",
                                           "LceBConv2d", "LceBMaxPool2d"};

  static void* Init(TfLiteContext* context, const char* buffer, size_t length) {
    RegisteredNode* node = nullptr;
    ReportingErrors(context, [&] {
      node = new RegisteredNode{
          kNames[kOp], {reinterpret_cast<const uint8_t*>(buffer), buffer ? length : 0}, nullptr};
    });
    return node;
  }
};

void FreeNode(TfLiteContext*, void* node) { delete static_cast<RegisteredNode*>(node); }

TfLiteStatus PrepareNode(TfLiteContext* context, TfLiteNode* host_node) {
  auto* node = static_cast<RegisteredNode*>(host_node->user_data);
  if (node == nullptr) return kTfLiteError;  // Init has said why
  return ReportingErrors(context, [&] {
    if (node->plan == nullptr) {
      const std::span<const int> inputs = AsSpan(host_node->inputs);
      const std::span<const int> outputs = AsSpan(host_node->outputs);
      PlannedNode planned{.op = node->op,
                          .index = -1,
                          .inputs = {inputs.begin(), inputs.end()},
                          .outputs = {outputs.begin(), outputs.end()},
                          .options = node->options};
      node->plan = std::make_unique<Plan>(SharedEngine(context->recommended_num_threads),
                                          std::vector<PlannedNode>{planned},
                                          std::set<int>(outputs.begin(), outputs.end()));
    }
    node->plan->Prepare(context);
  });
}

TfLiteStatus InvokeNode(TfLiteContext* context, TfLiteNode* host_node) {
  auto* node = static_cast<RegisteredNode*>(host_node->user_data);
  return ReportingErrors(context, [&] { node->plan->Invoke(context); });
}

template <int kOp>
void Register(AddCustomFn add_custom, void* resolver) {
  TfLiteRegistration registration = {};
  registration.init = Registered<kOp>::Init;
  registration.free = FreeNode;
  registration.prepare = PrepareNode;
  registration.invoke = InvokeNode;
  add_custom(resolver, Registered<kOp>::kNames[kOp], &registration, 1);
}

}  // namespace
}  // namespace larq_engine

extern "C" int larq_engine_register_ops(void* mutable_op_resolver, char* error, size_t error_size) {
  const larq_engine::AddCustomFn add_custom = larq_engine::FindAddCustom();
  if (mutable_op_resolver == nullptr || add_custom == nullptr) {
    if (error_size > 0) {
      std::snprintf(error, error_size, "%s",
                    mutable_op_resolver == nullptr
                        ? "larq_engine_register_ops: expected a tflite::MutableOpResolver, got null"
                        : "larq_engine_register_ops: no library of this process exports "
                          "tflite::MutableOpResolver::AddCustom (TensorFlow's does, LiteRT's and "
                          "tflite-runtime's do not); load the engine as a delegate instead");
    }
    return 1;
  }
  larq_engine::Register<0>(add_custom, mutable_op_resolver);
  larq_engine::Register<1>(add_custom, mutable_op_resolver);
  larq_engine::Register<2>(add_custom, mutable_op_resolver);
  larq_engine::Register<3>(add_custom, mutable_op_resolver);
  larq_engine::Register<4>(add_custom, mutable_op_resolver);
  return 0;
}
