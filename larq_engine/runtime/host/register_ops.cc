// Registers our operators with hosts that take them through a C++ op resolver instead of a
// delegate.
//
// The resolver is a C++ class of the host, whose header we do not have. Its AddCustom is found by
// its mangled name in any library of this process that exports it. Those of TensorFlow and of
// tflite-runtime 2.14 do, LiteRT's does not.
#if defined(__linux__)
#include <dlfcn.h>
#include <link.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "larq_engine/runtime/executors.h"
#include "larq_engine/runtime/host/host_calls.h"
#include "larq_engine/runtime/host/plan_node.h"
#include "larq_engine/runtime/host/unpacked_weights.h"
#include "larq_engine/runtime/larq_engine.h"
#include "larq_engine/runtime/shared_by_key.h"

namespace larq_engine {
namespace {

using AddCustomFn = void (*)(void* resolver, const char* name, const TfLiteRegistration*,
                             int version);

#if defined(__linux__)

// void tflite::MutableOpResolver::AddCustom(const char*, const TfLiteRegistration*, int)
constexpr const char* kAddCustom =
    "_ZN6tflite17MutableOpResolver9AddCustomEPKcPK18TfLiteRegistrationi";

// Hosts load their libraries locally, where the default search does not find them, so each library
// is asked. Their names are collected first, because the loader holds a lock while it lists them,
// and dlopen takes its locks in the other order.
AddCustomFn FindAddCustom() {
  std::vector<std::string> libraries;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* names) {
        if (info->dlpi_name != nullptr && *info->dlpi_name != 0) {
          static_cast<std::vector<std::string>*>(names)->push_back(info->dlpi_name);
        }
        return 0;
      },
      &libraries);
  void* found = dlsym(RTLD_DEFAULT, kAddCustom);
  for (size_t i = 0; found == nullptr && i < libraries.size(); ++i) {
    if (void* library = dlopen(libraries[i].c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      found = dlsym(library, kAddCustom);
      dlclose(library);
    }
  }
  return reinterpret_cast<AddCustomFn>(found);
}

#else

// On other systems, hosts take the engine as a delegate only.
AddCustomFn FindAddCustom() { return nullptr; }

#endif

#if defined(_WIN32)
int ThisProcess() { return 0; }  // these systems have no fork
#else
int ThisProcess() { return getpid(); }
#endif

// Returns the engine for a number of threads. It exists as long as somebody uses it. A forked
// process makes its own: it lacks the threads of its parent's engines, and their locks may be held
// for ever.
std::shared_ptr<Engine> SharedEngine(int threads) {
  static auto& engines = *new SharedByKey<std::pair<int, int>, Engine>;
  return engines.Get({ThisProcess(), threads},
                     [] { return MakeEngine(ParseEngineOptions(nullptr, nullptr, 0)); });
}

// A node of the host. It is made before its tensors are known. At the first Prepare it is planned,
// or its weights are unpacked.
struct RegisteredNode {
  const KnownOp* op;
  std::span<const uint8_t> options;
  std::unique_ptr<PlanNode> plan = nullptr;
  std::unique_ptr<UnpackedWeights> weights = nullptr;
};

// There is one function for each name, because the host does not tell `init` which operator it is
// for.
template <size_t kOp>
void* InitNode(TfLiteContext* context, const char* buffer, size_t length) {
  RegisteredNode* node = nullptr;
  ReportingErrors(context, [&] {
    node = new RegisteredNode{
        &KnownOps()[kOp],
        {reinterpret_cast<const uint8_t*>(buffer), buffer == nullptr ? 0 : length}};
  });
  return node;
}

void FreeNode(TfLiteContext*, void* node) { delete static_cast<RegisteredNode*>(node); }

TfLiteStatus PrepareNode(TfLiteContext* context, TfLiteNode* host_node) {
  auto* node = static_cast<RegisteredNode*>(host_node->user_data);
  if (node == nullptr) return kTfLiteError;  // Init has reported the error
  return ReportingErrors(context, [&] {
    if (node->weights != nullptr) return;
    if (node->plan == nullptr) {
      const std::span<const int> inputs = AsSpan(host_node->inputs);
      const std::span<const int> outputs = AsSpan(host_node->outputs);
      const HostNode op{.op = node->op,
                        .index = -1,
                        .inputs = {inputs.begin(), inputs.end()},
                        .outputs = {outputs.begin(), outputs.end()},
                        .options = node->options};
      if (op.op->is_weights()) {
        node->weights = std::make_unique<UnpackedWeights>(context, op);
        return;
      }
      const std::shared_ptr<Engine> engine = SharedEngine(context->recommended_num_threads);
      node->plan =
          std::make_unique<PlanNode>(engine, engine->placement(), -1, std::vector<HostNode>{op},
                                     std::set<int>(outputs.begin(), outputs.end()));
    }
    node->plan->Prepare(context);
  });
}

TfLiteStatus InvokeNode(TfLiteContext* context, TfLiteNode* host_node) {
  auto* node = static_cast<RegisteredNode*>(host_node->user_data);
  if (node == nullptr) return kTfLiteError;  // Init has reported the error
  if (node->weights != nullptr) return kTfLiteOk;
  if (node->plan == nullptr) return kTfLiteError;  // Prepare has reported the error
  return ReportingErrors(context, [&] { node->plan->Invoke(context); });
}

template <size_t... kOps>
#ifdef __clang__  // The host's method is called by its symbol, as a function of another type.
__attribute__((no_sanitize("function")))
#endif
void RegisterAll(AddCustomFn add_custom, void* resolver, std::index_sequence<kOps...>) {
  TfLiteRegistration registration = {};
  registration.free = FreeNode;
  registration.prepare = PrepareNode;
  registration.invoke = InvokeNode;
  ((registration.init = InitNode<kOps>,
    add_custom(resolver, KnownOps()[kOps].name, &registration, 1)),
   ...);
}

void Register(void* resolver) {
  if (resolver == nullptr) {
    throw std::runtime_error(
        "larq_engine_register_ops: expected a tflite::MutableOpResolver, got null");
  }
  const AddCustomFn add_custom = FindAddCustom();
  if (add_custom == nullptr) {
    throw std::runtime_error(
        "larq_engine_register_ops: no library of this process exports "
        "tflite::MutableOpResolver::AddCustom (TensorFlow's does, LiteRT's does not); load the "
        "engine as a delegate instead");
  }
  RegisterAll(add_custom, resolver, std::make_index_sequence<kOurOps>());
}

}  // namespace
}  // namespace larq_engine

extern "C" int larq_engine_register_ops(void* mutable_op_resolver, char* error, size_t error_size) {
  try {
    larq_engine::Register(mutable_op_resolver);
    return 0;
  } catch (const std::exception& e) {
    if (error_size > 0) std::snprintf(error, error_size, "%s", e.what());
    return 1;
  }
}
