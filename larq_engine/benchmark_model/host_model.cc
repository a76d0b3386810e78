#include "larq_engine/benchmark_model/host_model.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "larq_engine/benchmark_model/errors.h"
#include "larq_engine/benchmark_model/rank_limit.h"
#include "larq_engine/benchmark_model/tensor_data.h"
#include "larq_engine/model_file/flatbuffer.h"
#include "larq_engine/model_file/model_check.h"

namespace larq_engine {
namespace {

constexpr LiteRtParamIndex kSignature = 0;

// Data for LiteRT's calls of our accelerator, which pass none of ours.
struct {
  const LiteRtLibrary* library;
  TfLiteDelegate* engine;
  TfLiteDelegate* reader;
} applied;

LiteRtStatus Wrap(TfLiteDelegate* delegate, LiteRtDelegateWrapper* wrapper) {
  return applied.library->WrapDelegate(
      reinterpret_cast<TfLiteOpaqueDelegate*>(delegate), [](TfLiteOpaqueDelegate*) {}, wrapper);
}

// Describes a delegate as an accelerator of LiteRT's.
constexpr LiteRtAcceleratorDef Accelerator(LiteRtGetNameFunction get_name,
                                           LiteRtCreateDelegateFunction create_delegate) {
  return {
      .abi_header = {sizeof(LiteRtAcceleratorDef), 1, 0, 0},
      .get_name = get_name,
      .get_version =
          [](LiteRtAcceleratorConst, LiteRtApiVersion* version) {
            *version = {1, 0, 0};
            return kLiteRtStatusOk;
          },
      .get_hardware_support =
          [](LiteRtAcceleratorConst, LiteRtHwAcceleratorSet* hardware) {
            *hardware = kLiteRtHwAcceleratorCpu;
            return kLiteRtStatusOk;
          },
      .is_tflite_delegate_responsible_for_jit_compilation =
          [](LiteRtAcceleratorConst, bool* is_jit) {
            *is_jit = true;
            return kLiteRtStatusOk;
          },
      .create_delegate = create_delegate,
  };
}

constexpr LiteRtAcceleratorDef kEngine = Accelerator(
    [](LiteRtAcceleratorConst, const char** name) {
      *name = "larq_engine";
      return kLiteRtStatusOk;
    },
    [](LiteRtRuntimeContext*, LiteRtEnvironment, LiteRtAcceleratorConst, LiteRtOptions,
       LiteRtDelegateWrapper* wrapper) { return Wrap(applied.engine, wrapper); });

constexpr LiteRtAcceleratorDef kPlanReader = Accelerator(
    [](LiteRtAcceleratorConst, const char** name) {
      *name = "larq_engine's reader of plans";
      return kLiteRtStatusOk;
    },
    [](LiteRtRuntimeContext*, LiteRtEnvironment, LiteRtAcceleratorConst, LiteRtOptions,
       LiteRtDelegateWrapper* wrapper) { return Wrap(applied.reader, wrapper); });

const char* StatusName(LiteRtStatus status) {
  switch (status) {
    case kLiteRtStatusErrorInvalidArgument:
      return "invalid argument";
    case kLiteRtStatusErrorMemoryAllocationFailure:
      return "out of memory";
    case kLiteRtStatusErrorRuntimeFailure:
      return "failure in the runtime";
    case kLiteRtStatusErrorUnsupported:
      return "not supported";
    case kLiteRtStatusErrorNotFound:
      return "not found";
    case kLiteRtStatusErrorInvalidFlatbuffer:
      return "not a valid flatbuffer";
    default:
      return "no reason";
  }
}

}  // namespace

void HostModel::Check(LiteRtStatus status, std::string_view task) {
  if (status == kLiteRtStatusOk) return;
  std::string reason = FirstError(messages_.Take());
  if (reason.empty()) {
    reason = std::string(StatusName(status)) + " (status " + std::to_string(status) + ")";
  }
  throw ModelError("LiteRT could not " + std::string(task) + ": " + reason);
}

HostModel::HostModel(const LiteRtLibrary& library, BenchmarkedEngine& engine,
                     HostPlanReader* reader)
    : library_(library), engine_(engine), has_profiler_(reader != nullptr) {
  applied = {&library, engine.delegate(), reader == nullptr ? nullptr : reader->delegate()};
  // Accelerators are applied in the order in which they are registered. By default the environment
  // registers XNNPACK first, which would then take the float operators between ours.
  const LiteRtEnvOption nothing = {
      kLiteRtEnvOptionTagAutoRegisterAccelerators,
      {.type = kLiteRtAnyTypeInt, .int_value = 0},
  };
  Check(library.CreateEnvironment(1, &nothing, &environment_), "make its environment");
  LiteRtParamIndex registered = 0;
  Check(library.GetNumAccelerators(environment_, &registered), "count its accelerators");
  if (registered != 0) {
    throw RunError("'" + library.path +
                   "': expected a LiteRT that leaves the registration of accelerators to the "
                   "program (2.2 or newer), got one that registered " +
                   std::to_string(registered));
  }
  Register(kEngine);
  Register(*library.xnnpack);
  if (reader != nullptr) Register(kPlanReader);
}

HostModel::~HostModel() {
  for (const LiteRtTensorBuffer buffer : input_buffers_) library_.DestroyTensorBuffer(buffer);
  for (const LiteRtTensorBuffer buffer : output_buffers_) library_.DestroyTensorBuffer(buffer);
  if (compiled_ != nullptr) library_.DestroyCompiledModel(compiled_);
  if (model_ != nullptr) library_.DestroyModel(model_);
  if (environment_ != nullptr) library_.DestroyEnvironment(environment_);
}

void HostModel::Register(const LiteRtAcceleratorDef& functions) {
  constexpr char kTask[] = "register an accelerator";
  LiteRtAccelerator accelerator = nullptr;
  Check(library_.CreateAccelerator(&accelerator), kTask);
  Check(library_.SetAcceleratorGetName(accelerator, functions.get_name), kTask);
  Check(library_.SetAcceleratorGetVersion(accelerator, functions.get_version), kTask);
  Check(library_.SetAcceleratorGetHardwareSupport(accelerator, functions.get_hardware_support),
        kTask);
  Check(library_.SetDelegateFunction(accelerator, functions.create_delegate), kTask);
  Check(library_.SetIsAcceleratorDelegateResponsibleForJitCompilation(
            accelerator, functions.is_tflite_delegate_responsible_for_jit_compilation),
        kTask);
  // The environment now owns the accelerator.
  Check(library_.RegisterAccelerator(environment_, accelerator, nullptr, nullptr), kTask);
}

void HostModel::Load(std::span<const uint8_t> file) {
  try {
    CheckModel(file);
    CheckRanks(file);
  } catch (const FileError& error) {
    throw ModelError(error.what());
  }
  Check(library_.CreateModelFromBuffer(environment_, file.data(), file.size(), &model_),
        "load the model");
}

// Adds an option. LiteRT passes options on as text in TOML, addressed by the name of the reader.
void HostModel::AddOptions(LiteRtOptions options, const char* identifier, const std::string& text) {
  constexpr char kTask[] = "take options";
  LiteRtOpaqueOptions opaque = nullptr;
  char* payload = strdup(text.c_str());
  Check(library_.CreateOpaqueOptions(identifier, payload, std::free, &opaque), kTask);
  Check(library_.AddOpaqueOptions(options, opaque), kTask);
}

LiteRtOptions HostModel::MakeOptions() {
  LiteRtOptions options = nullptr;
  Check(library_.CreateOptions(&options), "take options");
  Check(library_.SetOptionsHardwareAccelerators(options, kLiteRtHwAcceleratorCpu), "take options");
  const std::string threads = "num_threads = " + std::to_string(engine_.num_threads()) + "\n";
  AddOptions(options, "xnnpack", threads);
  AddOptions(options, "cpu_delegate", threads);  // for the operators that no delegate takes
  if (has_profiler_) AddOptions(options, "runtime_options_string", "enable_profiling = true\n");
  return options;
}

void HostModel::Compile() {
  const LiteRtOptions options = MakeOptions();
  const LiteRtStatus status =
      library_.CreateCompiledModel(environment_, model_, options, &compiled_);
  library_.DestroyOptions(options);
  Check(status, "compile the model");
  LiteRtSignature signature = nullptr;
  Check(library_.GetModelSignature(model_, kSignature, &signature), "find the signature");
  DescribeInputs(signature);
  DescribeOutputs(signature);
  CheckMemory();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    LiteRtTensorBufferRequirements needs = nullptr;
    Check(library_.GetCompiledModelInputBufferRequirements(compiled_, kSignature, i, &needs),
          "make a buffer for input '" + inputs_[i].name + "'");
    input_buffers_.push_back(MakeBuffer(inputs_[i], needs));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    LiteRtTensorBufferRequirements needs = nullptr;
    Check(library_.GetCompiledModelOutputBufferRequirements(compiled_, kSignature, i, &needs),
          "make a buffer for output '" + outputs_[i].name + "'");
    output_buffers_.push_back(MakeBuffer(outputs_[i], needs));
  }
  messages_.Take();  // drops messages of calls that did not fail
}

ModelTensor HostModel::Describe(const char* name, LiteRtTensor tensor, const LiteRtLayout& layout) {
  ModelTensor described = {.name = name == nullptr ? "" : name, .type = {}, .dims = {}, .bytes = 0};
  const std::string place = "tensor '" + described.name + "': ";
  LiteRtRankedTensorType type = {};
  Check(library_.GetRankedTensorType(tensor, &type), "describe tensor '" + described.name + "'");
  described.type = type.element_type;
  described.bytes = ElementSize(type.element_type);
  if (described.bytes == 0) {
    throw ModelError(place + "expected a type of fixed size, got " +
                     ElementName(type.element_type));
  }
  for (unsigned i = 0; i < std::min<unsigned>(layout.rank, kLiteRtTensorMaxRank); ++i) {
    const int32_t size = layout.dimensions[i];
    if (size <= 0 ||
        __builtin_mul_overflow(described.bytes, static_cast<size_t>(size), &described.bytes)) {
      throw ModelError(place +
                       "expected a dimension of at least 1 and data that fit into memory, got " +
                       std::to_string(size));
    }
    described.dims.push_back(size);
  }
  return described;
}

void HostModel::DescribeInputs(LiteRtSignature signature) {
  LiteRtParamIndex count = 0;
  Check(library_.GetNumSignatureInputs(signature, &count), "count the inputs");
  for (LiteRtParamIndex i = 0; i < count; ++i) {
    const std::string task = "describe input #" + std::to_string(i);
    const char* name = "";
    LiteRtTensor tensor = nullptr;
    LiteRtLayout layout = {};
    Check(library_.GetSignatureInputName(signature, i, &name), task);
    Check(library_.GetSignatureInputTensorByIndex(signature, i, &tensor), task);
    Check(library_.GetCompiledModelInputTensorLayout(compiled_, kSignature, i, &layout), task);
    inputs_.push_back(Describe(name, tensor, layout));
  }
  MakeNamesUnique(inputs_);
}

void HostModel::DescribeOutputs(LiteRtSignature signature) {
  LiteRtParamIndex count = 0;
  Check(library_.GetNumSignatureOutputs(signature, &count), "count the outputs");
  std::vector<LiteRtLayout> layouts(count);
  Check(library_.GetCompiledModelOutputTensorLayouts(compiled_, kSignature, count, layouts.data(),
                                                     /*update_allocation=*/true),
        "prepare the model");
  for (LiteRtParamIndex i = 0; i < count; ++i) {
    const std::string task = "describe output #" + std::to_string(i);
    const char* name = "";
    LiteRtTensor tensor = nullptr;
    Check(library_.GetSignatureOutputName(signature, i, &name), task);
    Check(library_.GetSignatureOutputTensorByIndex(signature, i, &tensor), task);
    outputs_.push_back(Describe(name, tensor, layouts[i]));
  }
  MakeNamesUnique(outputs_);
}

LiteRtTensorBuffer HostModel::MakeBuffer(const ModelTensor& tensor,
                                         LiteRtTensorBufferRequirements needs) {
  const std::string task = "make a buffer for tensor '" + tensor.name + "'";
  LiteRtRankedTensorType type = {};
  type.element_type = tensor.type;
  type.layout.rank = static_cast<unsigned>(tensor.dims.size()) & 127;
  std::memcpy(type.layout.dimensions, tensor.dims.data(), tensor.dims.size() * sizeof(int32_t));
  LiteRtTensorBuffer buffer = nullptr;
  Check(library_.CreateManagedTensorBufferFromRequirements(environment_, &type, needs, &buffer),
        task);
  size_t size = 0;
  const LiteRtStatus status = library_.GetTensorBufferSize(buffer, &size);
  if (status != kLiteRtStatusOk || size < tensor.bytes) {
    library_.DestroyTensorBuffer(buffer);
    Check(status, task);
    throw ModelError("expected a buffer for tensor '" + tensor.name + "' of " +
                     std::to_string(tensor.bytes) + " bytes, got one of " + std::to_string(size));
  }
  return buffer;
}

void* HostModel::Lock(LiteRtTensorBuffer buffer, LiteRtTensorBufferLockMode mode) {
  void* memory = nullptr;
  Check(library_.LockTensorBuffer(buffer, &memory, mode), "give access to a tensor");
  return memory;
}

void HostModel::SetInput(size_t input, std::span<const uint8_t> data) {
  const LiteRtTensorBuffer buffer = input_buffers_[input];
  std::memcpy(Lock(buffer, kLiteRtTensorBufferLockModeWrite), data.data(), data.size());
  Check(library_.UnlockTensorBuffer(buffer), "take an input");
}

void HostModel::Run() {
  Check(
      library_.RunCompiledModel(compiled_, kSignature, input_buffers_.size(), input_buffers_.data(),
                                output_buffers_.size(), output_buffers_.data()),
      "run the model");
}

std::vector<HostEntry> HostModel::RunWithProfiler() {
  constexpr char kTask[] = "profile the model";
  if (library_.CompiledModelGetProfiler == nullptr) {
    throw ModelError("expected a LiteRT with a profiler, got a library without");
  }
  LiteRtProfiler profiler = nullptr;
  Check(library_.CompiledModelGetProfiler(compiled_, &profiler), kTask);
  Check(library_.StartProfiler(profiler), kTask);  // forgets earlier events
  Run();
  Check(library_.StopProfiler(profiler), kTask);
  int count = 0;
  Check(library_.GetNumProfilerEvents(profiler, &count), kTask);
  std::vector<ProfiledEventData> events(static_cast<size_t>(std::max(count, 1)));
  if (count > 0) Check(library_.GetProfilerEvents(profiler, count, events.data()), kTask);
  std::vector<HostEntry> entries;
  for (const ProfiledEventData& event : std::span(events).first(static_cast<size_t>(count))) {
    constexpr uint64_t kMainGraph = 0;
    const bool is_operator = event.event_type == kLiteRtOperatorInvokeEvent;
    // The engine's events are in the list, too. They have a start time, which XNNPACK's do not
    // have.
    const bool is_xnnpacks = event.event_type == kLiteRtDelegateProfiledOperatorInvokeEvent &&
                             event.start_timestamp_us == 0;
    if (event.event_metadata2 != kMainGraph || !(is_operator || is_xnnpacks)) continue;
    entries.push_back({.is_xnnpacks = is_xnnpacks,
                       .number = event.event_metadata1,
                       .name = event.tag,
                       .microseconds = event.elapsed_time_us});
  }
  return entries;
}

std::vector<uint8_t> HostModel::Output(size_t output) {
  const LiteRtTensorBuffer buffer = output_buffers_[output];
  const auto* data = static_cast<const uint8_t*>(Lock(buffer, kLiteRtTensorBufferLockModeRead));
  std::vector<uint8_t> copy(data, data + outputs_[output].bytes);
  Check(library_.UnlockTensorBuffer(buffer), "give an output");
  return copy;
}

}  // namespace larq_engine
