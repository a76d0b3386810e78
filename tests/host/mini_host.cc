#include "tests/host/mini_host.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <set>

namespace larq_engine::testing {
namespace {

using FloatArrayPtr = std::unique_ptr<TfLiteFloatArray, FreeDeleter>;
using BytesPtr = std::unique_ptr<uint8_t, FreeDeleter>;

FloatArrayPtr MakeFloatArray(std::span<const float> values) {
  FloatArrayPtr array(
      static_cast<TfLiteFloatArray*>(std::malloc(sizeof(TfLiteFloatArray) + values.size_bytes())));
  array->size = static_cast<int>(values.size());
  if (!values.empty()) std::memcpy(array->data, values.data(), values.size_bytes());
  return array;
}

// Copies bytes into a block that ends with them, so that AddressSanitizer sees the first one
// beyond. The block has `offset` bytes before them.
BytesPtr MakeBytes(std::span<const uint8_t> bytes, size_t offset = 0) {
  BytesPtr block(static_cast<uint8_t*>(std::malloc(std::max<size_t>(offset + bytes.size(), 1))));
  if (!bytes.empty()) std::memcpy(block.get() + offset, bytes.data(), bytes.size());
  return block;
}

// A file's data may begin at any address: only those of every fourth tensor are aligned.
size_t OffsetOfConstant(size_t tensor) { return tensor % 4; }

// Returns 0 for types without a fixed size, whose memory TFLite allocates elsewhere.
size_t ElementSize(TfLiteType type) {
  switch (type) {
    case kTfLiteBool:
    case kTfLiteInt4:
    case kTfLiteInt8:
    case kTfLiteUInt8:
      return 1;
    case kTfLiteFloat16:
    case kTfLiteInt16:
    case kTfLiteUInt16:
      return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32:
    case kTfLiteUInt32:
      return 4;
    case kTfLiteComplex64:
    case kTfLiteFloat64:
    case kTfLiteInt64:
    case kTfLiteUInt64:
      return 8;
    case kTfLiteComplex128:
      return 16;
    default:
      return 0;
  }
}

// TFLite multiplies as size_t: a negative dimension passes if another one is 0, and overflows
// otherwise.
bool CountBytes(TfLiteType type, std::span<const int> shape, size_t* bytes) {
  size_t count = ElementSize(type);
  for (int size : shape) {
    if (__builtin_mul_overflow(count, static_cast<size_t>(size), &count)) return false;
  }
  *bytes = count;
  return true;
}

std::string ShapeText(std::span<const int> shape) {
  std::string text;
  for (int size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

}  // namespace

bool IndicesAreValid(const Graph& graph) {
  const int count = static_cast<int>(graph.tensors.size());
  auto exists = [count](int index) { return index >= 0 && index < count; };
  auto exists_or_optional = [&](int i) { return i == kTfLiteOptionalTensor || exists(i); };
  for (const GraphOperator& op : graph.operators) {
    if (!std::ranges::all_of(op.inputs, exists_or_optional)) return false;
    if (!std::ranges::all_of(op.outputs, exists)) return false;
    for (int output : op.outputs) {
      if (std::ranges::count(op.inputs, output) > 0) return false;
    }
  }
  return std::ranges::all_of(graph.inputs, exists) && std::ranges::all_of(graph.outputs, exists);
}

struct MiniHost::Memory {
  IntArrayPtr shape;
  IntArrayPtr signature;
  FloatArrayPtr scales;
  IntArrayPtr zero_points;
  std::unique_ptr<TfLiteAffineQuantization> quantization;
  BytesPtr data;
};

struct MiniHost::Node {
  TfLiteNode node{};
  TfLiteRegistration registration{};
  IntArrayPtr inputs;
  IntArrayPtr outputs;
  IntArrayPtr none;
  BytesPtr options;
  bool claimed = false;
};

struct MiniHost::Kernel {
  TfLiteNode node{};
  TfLiteRegistration registration{};
  TfLiteDelegateParams params{};
  IntArrayPtr nodes;
  IntArrayPtr inputs;
  IntArrayPtr outputs;
  IntArrayPtr none;
};

struct MiniHost::Context {
  static MiniHost& Host(const TfLiteContext* context) {
    return *static_cast<MiniHost*>(context->impl_);
  }
  static TfLiteStatus GetExecutionPlan(TfLiteContext* context, TfLiteIntArray** plan) {
    MiniHost& host = Host(context);
    if (!host.preparing_) return host.Fail("GetExecutionPlan outside of the delegate's Prepare");
    *plan = host.plan_.get();
    return kTfLiteOk;
  }
  static TfLiteStatus ResizeTensor(TfLiteContext* context, TfLiteTensor* tensor,
                                   TfLiteIntArray* new_size) {
    return Host(context).SetShape(tensor, IntArrayPtr(new_size));
  }
  static void ReportError(TfLiteContext* context, const char* format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    std::vector<char> text(static_cast<size_t>(std::max(length, 0)) + 1);
    std::vsnprintf(text.data(), text.size(), format, again);
    va_end(arguments);
    va_end(again);
    Host(context).Report(text.data());
  }
  static TfLiteStatus AddTensors(TfLiteContext* context, int, int*) {
    return Host(context).Fail("AddTensors: not offered by this host");
  }
  static TfLiteStatus GetNodeAndRegistration(TfLiteContext* context, int index, TfLiteNode** node,
                                             TfLiteRegistration** registration) {
    MiniHost& host = Host(context);
    if (Kernel* kernel = host.KernelAt(index)) {
      *node = &kernel->node;
      *registration = &kernel->registration;
      return kTfLiteOk;
    }
    if (index < 0 || static_cast<size_t>(index) >= host.node_table_.size()) {
      return host.Fail("GetNodeAndRegistration: no node " + std::to_string(index));
    }
    *node = &host.node_table_[index]->node;
    *registration = &host.node_table_[index]->registration;
    return kTfLiteOk;
  }
  static TfLiteStatus ReplaceNodeSubsets(TfLiteContext* context, TfLiteRegistration registration,
                                         const TfLiteIntArray* nodes, TfLiteDelegate* delegate) {
    return Host(context).AddKernels(registration, AsSpan(nodes), delegate);
  }
};

MiniHost::MiniHost(Graph graph, size_t max_tensor_bytes)
    : graph_(std::move(graph)), max_tensor_bytes_(max_tensor_bytes) {
  context_.impl_ = this;
  context_.GetExecutionPlan = Context::GetExecutionPlan;
  context_.ResizeTensor = Context::ResizeTensor;
  context_.ReportError = Context::ReportError;
  context_.AddTensors = Context::AddTensors;
  context_.GetNodeAndRegistration = Context::GetNodeAndRegistration;
  context_.ReplaceNodeSubsetsWithDelegateKernels = Context::ReplaceNodeSubsets;
  context_.recommended_num_threads = -1;
  usable_ = IndicesAreValid(graph_);
  if (!usable_) {
    graph_ = Graph();
    Report("the graph's indices are out of range, or an operator's output is also its input");
  }
  tensors_.resize(graph_.tensors.size());
  memory_.resize(graph_.tensors.size());
  context_.tensors = tensors_.data();
  context_.tensors_size = tensors_.size();
  for (size_t i = 0; i < tensors_.size(); ++i) MakeTensor(i);
  for (size_t i = 0; i < graph_.operators.size(); ++i) MakeNode(i);
  std::vector<int> plan(graph_.operators.size());
  for (size_t i = 0; i < plan.size(); ++i) plan[i] = static_cast<int>(i);
  plan_ = MakeIntArray(plan);
}

MiniHost::~MiniHost() {
  for (Kernel& kernel : kernels_) {
    if (kernel.registration.free != nullptr) {
      kernel.registration.free(&context_, kernel.node.user_data);
    }
  }
}

void MiniHost::SetProfiler(ProfilerInterface* profiler) { context_.profiler = profiler; }

void MiniHost::SetRecommendedThreads(int threads) { context_.recommended_num_threads = threads; }

void MiniHost::Report(const std::string& message) { errors_ += message + "\n"; }

TfLiteStatus MiniHost::Fail(const std::string& message) {
  Report(message);
  return kTfLiteError;
}

void MiniHost::MakeTensor(size_t index) {
  const GraphTensor& source = graph_.tensors[index];
  TfLiteTensor& tensor = tensors_[index];
  Memory& memory = memory_[index];
  memory.shape = MakeIntArray(source.shape);
  memory.signature = MakeIntArray(source.shape_signature);
  tensor.type = source.type;
  tensor.dims = memory.shape.get();
  tensor.dims_signature = source.shape_signature.empty() ? nullptr : memory.signature.get();
  tensor.name = source.name.c_str();
  tensor.buffer_handle = kTfLiteNullBufferHandle;
  if (source.is_quantized) {
    memory.scales = MakeFloatArray(source.scales);
    memory.zero_points = MakeIntArray(source.zero_points);
    memory.quantization = std::make_unique<TfLiteAffineQuantization>(TfLiteAffineQuantization{
        memory.scales.get(), memory.zero_points.get(), source.quantized_dimension});
    tensor.quantization = {kTfLiteAffineQuantization, memory.quantization.get()};
    if (source.scales.size() == 1 && source.zero_points.size() == 1) {
      tensor.params = {source.scales[0], source.zero_points[0]};
    }
  }
  if (source.is_constant) {
    // `bytes` is the length of the data, which may differ from what the shape asks for: TFLite
    // refuses such a file, other hosts may not.
    tensor.allocation_type = kTfLiteMmapRo;
    memory.data = MakeBytes(source.data, OffsetOfConstant(index));
    tensor.data.uint8 = memory.data.get() + OffsetOfConstant(index);
    tensor.bytes = source.data.size();
  } else {
    tensor.allocation_type = ElementSize(source.type) == 0 ? kTfLiteDynamic : kTfLiteArenaRw;
    if (!CountBytes(source.type, source.shape, &tensor.bytes)) {
      Report("tensor '" + source.name + "': shape " + ShapeText(source.shape) + " overflows");
      usable_ = false;
    }
  }
}

void MiniHost::MakeNode(size_t index) {
  const GraphOperator& source = graph_.operators[index];
  Node& entry = nodes_.emplace_back();
  node_table_.push_back(&entry);
  entry.inputs = MakeIntArray(source.inputs);
  entry.outputs = MakeIntArray(source.outputs);
  entry.none = MakeIntArray({});
  entry.node.inputs = entry.inputs.get();
  entry.node.outputs = entry.outputs.get();
  entry.node.intermediates = entry.none.get();
  entry.node.temporaries = entry.none.get();
  entry.registration.builtin_code = source.builtin_code;
  entry.registration.version = source.version;
  if (source.builtin_code != builtin::kCustom) {
    if (source.builtin_data.empty()) return;
    entry.options = MakeBytes(source.builtin_data);
    entry.node.builtin_data = entry.options.get();
    return;
  }
  entry.registration.custom_name = source.custom_name.c_str();
  entry.node.custom_initial_data_size = static_cast<int>(source.options.size());
  if (source.options.empty()) return;
  entry.options = MakeBytes(source.options);
  entry.node.custom_initial_data = entry.options.get();
}

MiniHost::Kernel* MiniHost::KernelAt(int entry) {
  const int kernel = entry - static_cast<int>(node_table_.size());
  if (kernel < 0 || static_cast<size_t>(kernel) >= kernels_.size()) return nullptr;
  return &*std::next(kernels_.begin(), kernel);
}

TfLiteStatus MiniHost::ApplyDelegate(TfLiteDelegate* delegate) {
  if (!usable_) return kTfLiteError;
  if (!(delegate->flags & kTfLiteDelegateFlagsAllowDynamicTensors)) {
    return Fail("custom operators reach only a delegate that allows dynamic tensors");
  }
  preparing_ = true;
  const TfLiteStatus status = delegate->Prepare(&context_, delegate);
  preparing_ = false;
  allocated_ = false;
  return status;
}

TfLiteStatus MiniHost::ResizeInput(size_t input, std::span<const int> shape) {
  if (!usable_) return kTfLiteError;
  allocated_ = false;
  return SetShape(&tensors_[graph_.inputs.at(input)], MakeIntArray(shape));
}

TfLiteStatus MiniHost::SetShape(TfLiteTensor* tensor, IntArrayPtr shape) {
  const size_t index = static_cast<size_t>(tensor - tensors_.data());
  const std::string name = "tensor '" + graph_.tensors[index].name + "'";
  if (tensor->allocation_type == kTfLiteMmapRo) return Fail(name + " is constant: cannot resize");
  if (!CountBytes(tensor->type, AsSpan(shape.get()), &tensor->bytes)) {
    return Fail(name + ": shape " + ShapeText(AsSpan(shape.get())) + " overflows");
  }
  memory_[index].shape = std::move(shape);
  memory_[index].data = nullptr;
  tensor->dims = memory_[index].shape.get();
  tensor->data.raw = nullptr;
  return kTfLiteOk;
}

// Makes one kernel for each maximal run of claimed nodes in the plan.
TfLiteStatus MiniHost::AddKernels(const TfLiteRegistration& registration,
                                  std::span<const int> nodes, TfLiteDelegate* delegate) {
  if (!preparing_) return Fail("ReplaceNodeSubsets outside of the delegate's Prepare");
  std::vector<bool> claimed(node_table_.size());
  for (int node : nodes) {
    if (node < 0 || static_cast<size_t>(node) >= claimed.size()) {
      return Fail("ReplaceNodeSubsets: no node " + std::to_string(node));
    }
    claimed[node] = true;
  }
  const std::span<const int> old_plan = AsSpan(plan_.get());
  std::vector<int> plan;
  for (size_t i = 0; i < old_plan.size();) {
    size_t end = i;
    while (end < old_plan.size() && static_cast<size_t>(old_plan[end]) < claimed.size() &&
           claimed[old_plan[end]]) {
      ++end;
    }
    if (end == i) {
      plan.push_back(old_plan[i++]);
      continue;
    }
    plan.push_back(static_cast<int>(node_table_.size() + kernels_.size()));
    if (AddKernel(registration, old_plan.subspan(i, end - i), delegate) != kTfLiteOk) {
      return kTfLiteError;
    }
    i = end;
  }
  plan_ = MakeIntArray(plan);
  return kTfLiteOk;
}

TfLiteStatus MiniHost::AddKernel(const TfLiteRegistration& registration, std::span<const int> run,
                                 TfLiteDelegate* delegate) {
  std::set<int> inside(run.begin(), run.end());
  std::set<int> produced, inputs, outputs;
  for (int node : run) {
    for (int tensor : graph_.operators[node].outputs) produced.insert(tensor);
  }
  for (int node : run) {
    for (int tensor : graph_.operators[node].inputs) {
      if (tensor != kTfLiteOptionalTensor && !produced.contains(tensor)) inputs.insert(tensor);
    }
  }
  std::set<int> wanted(graph_.outputs.begin(), graph_.outputs.end());
  for (size_t node = 0; node < graph_.operators.size(); ++node) {
    if (inside.contains(static_cast<int>(node))) continue;
    wanted.insert(graph_.operators[node].inputs.begin(), graph_.operators[node].inputs.end());
  }
  std::ranges::set_intersection(produced, wanted, std::inserter(outputs, outputs.end()));

  auto array = [](const std::set<int>& values) {
    return MakeIntArray(std::vector<int>(values.begin(), values.end()));
  };
  Kernel& kernel = kernels_.emplace_back();
  kernel.nodes = MakeIntArray(run);
  kernel.inputs = array(inputs);
  kernel.outputs = array(outputs);
  kernel.none = MakeIntArray({});
  kernel.params = {delegate, kernel.nodes.get(), kernel.inputs.get(), kernel.outputs.get()};
  kernel.registration = registration;
  kernel.node.inputs = kernel.inputs.get();
  kernel.node.outputs = kernel.outputs.get();
  kernel.node.intermediates = kernel.none.get();
  kernel.node.temporaries = kernel.none.get();
  kernel.node.builtin_data = &kernel.params;
  kernel.node.delegate = delegate;
  for (int node : run) node_table_[node]->claimed = true;
  for (int output : outputs) tensors_[output].delegate = delegate;
  if (registration.init != nullptr) {
    kernel.node.user_data =
        registration.init(&context_, reinterpret_cast<const char*>(&kernel.params), 0);
  }
  return kTfLiteOk;
}

size_t MiniHost::claimed_operators() const {
  return std::ranges::count_if(nodes_, [](const Node& node) { return node.claimed; });
}

TfLiteStatus MiniHost::Allocate() {
  if (!usable_) return kTfLiteError;
  for (size_t i = 0; i < node_table_.size(); ++i) {
    if (node_table_[i]->claimed) continue;
    const GraphOperator& op = graph_.operators[i];
    return Fail("unsupported: operator " + std::to_string(op.builtin_code) + " '" + op.custom_name +
                "' (#" + std::to_string(i) + ") is in no delegate");
  }
  allocated_ = false;
  if (!FitsLimit()) return kTfLiteError;
  for (int entry : AsSpan(plan_.get())) {
    Kernel& kernel = *KernelAt(entry);
    if (kernel.registration.prepare != nullptr &&
        kernel.registration.prepare(&context_, &kernel.node) != kTfLiteOk) {
      return Fail("a delegate's kernel failed to prepare");
    }
  }
  return AllocateTensors();
}

bool MiniHost::FitsLimit() {
  size_t total = 0;
  for (const TfLiteTensor& tensor : tensors_) {
    if (tensor.allocation_type == kTfLiteMmapRo) continue;
    if (__builtin_add_overflow(total, tensor.bytes, &total)) total = SIZE_MAX;
    if (total > max_tensor_bytes_) {
      Report("tensors of " + std::to_string(total) + " bytes or more exceed the host's limit of " +
             std::to_string(max_tensor_bytes_));
      return false;
    }
  }
  return true;
}

TfLiteStatus MiniHost::AllocateTensors() {
  // Only tensors that are visible outside of the kernels have memory.
  std::set<int> visible(graph_.inputs.begin(), graph_.inputs.end());
  visible.insert(graph_.outputs.begin(), graph_.outputs.end());
  for (const Kernel& kernel : kernels_) {
    for (int tensor : AsSpan(kernel.inputs.get())) visible.insert(tensor);
    for (int tensor : AsSpan(kernel.outputs.get())) visible.insert(tensor);
  }
  if (!FitsLimit()) return kTfLiteError;  // the kernels have sized their outputs
  for (int index : visible) {
    TfLiteTensor& tensor = tensors_[index];
    if (tensor.allocation_type != kTfLiteArenaRw) continue;
    BytesPtr& data = memory_[index].data;
    data.reset(static_cast<uint8_t*>(std::malloc(std::max<size_t>(tensor.bytes, 1))));
    tensor.data.uint8 = data.get();
  }
  allocated_ = true;
  return kTfLiteOk;
}

TfLiteStatus MiniHost::Invoke() {
  if (!allocated_) return Fail("Invoke before a successful Allocate");
  for (int entry : AsSpan(plan_.get())) {
    Kernel& kernel = *KernelAt(entry);
    if (kernel.registration.invoke(&context_, &kernel.node) != kTfLiteOk) {
      return Fail("a delegate's kernel failed to run");
    }
  }
  return ConstantsAreIntact() ? kTfLiteOk : Fail("a constant tensor was written to");
}

bool MiniHost::ConstantsAreIntact() const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const GraphTensor& source = graph_.tensors[i];
    if (source.is_constant && !std::equal(source.data.begin(), source.data.end(),
                                          memory_[i].data.get() + OffsetOfConstant(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace larq_engine::testing
