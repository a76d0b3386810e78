// Runs a model in LiteRT through its C interface, with larq_engine linked in:
//
//   run_model MODEL.tflite INPUT OUTPUT
//
// The model has one input and one output; INPUT and OUTPUT are files of their raw values.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "larq_engine/runtime/larq_engine.h"
#include "litert.h"
#include "register_engine.h"

namespace {

// LiteRT crashes on some damaged files, so the engine looks at them first.
void CheckFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(std::string(path) + ": cannot be read");
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  char reason[1024] = "";
  if (larq_engine_check_model(content.data(), content.size(), reason, sizeof(reason)) != 0) {
    throw std::runtime_error(std::string(path) + ": " + reason);
  }
}

LiteRtTensorBuffer MakeBuffer(LiteRtEnvironment environment, LiteRtTensor tensor,
                              const LiteRtLayout& layout, LiteRtTensorBufferRequirements needs) {
  LiteRtRankedTensorType type = {};
  LiteRtTensorBuffer buffer = nullptr;
  Check(LiteRtGetRankedTensorType(tensor, &type), "describe a tensor");
  type.layout = layout;  // the file may leave sizes open
  Check(LiteRtCreateManagedTensorBufferFromRequirements(environment, &type, needs, &buffer),
        "make a buffer");
  return buffer;
}

// Calls use(memory, size) while the program has access to a buffer.
template <typename Use>
void Access(LiteRtTensorBuffer buffer, LiteRtTensorBufferLockMode mode, Use use) {
  size_t size = 0;
  void* memory = nullptr;
  Check(LiteRtGetTensorBufferPackedSize(buffer, &size), "tell a buffer's size");
  Check(LiteRtLockTensorBuffer(buffer, &memory, mode), "give access to a buffer");
  use(static_cast<char*>(memory), static_cast<std::streamsize>(size));
  Check(LiteRtUnlockTensorBuffer(buffer), "take a buffer back");
}

void Run(const char* path, const char* input_path, const char* output_path) {
  CheckFile(path);
  // By default the environment registers XNNPACK itself, before the engine can be registered.
  const LiteRtEnvOption none = {kLiteRtEnvOptionTagAutoRegisterAccelerators,
                                {.type = kLiteRtAnyTypeInt, .int_value = 0}};
  LiteRtEnvironment environment = nullptr;
  Check(LiteRtCreateEnvironment(1, &none, &environment), "make its environment");
  RegisterEngineAndXnnpack(environment);

  LiteRtModel model = nullptr;
  LiteRtOptions options = nullptr;
  LiteRtCompiledModel compiled = nullptr;
  Check(LiteRtCreateModelFromFile(environment, path, &model), std::string("load ") + path);
  Check(LiteRtCreateOptions(&options), "make options");
  Check(LiteRtSetOptionsHardwareAccelerators(options, kLiteRtHwAcceleratorCpu), "take options");
  Check(LiteRtCreateCompiledModel(environment, model, options, &compiled), "compile the model");

  LiteRtSignature signature = nullptr;
  LiteRtTensor tensor = nullptr;
  LiteRtLayout layout = {};
  LiteRtTensorBufferRequirements needs = nullptr;
  Check(LiteRtGetModelSignature(model, 0, &signature), "find the signature");
  Check(LiteRtGetSignatureInputTensorByIndex(signature, 0, &tensor), "find the input");
  Check(LiteRtGetCompiledModelInputTensorLayout(compiled, 0, 0, &layout), "lay the input out");
  Check(LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, 0, &needs), "plan the input");
  LiteRtTensorBuffer input = MakeBuffer(environment, tensor, layout, needs);
  Check(LiteRtGetSignatureOutputTensorByIndex(signature, 0, &tensor), "find the output");
  Check(LiteRtGetCompiledModelOutputTensorLayouts(compiled, 0, 1, &layout, true), "lay it out");
  Check(LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, 0, &needs), "plan the output");
  LiteRtTensorBuffer output = MakeBuffer(environment, tensor, layout, needs);

  Access(input, kLiteRtTensorBufferLockModeWrite, [&](char* memory, std::streamsize size) {
    std::ifstream file(input_path, std::ios::binary);
    if (!file.read(memory, size)) {
      throw std::runtime_error(std::string(input_path) + ": expected a file of " +
                               std::to_string(size) + " bytes");
    }
  });
  Check(LiteRtRunCompiledModel(compiled, 0, 1, &input, 1, &output), "run the model");
  Access(output, kLiteRtTensorBufferLockModeRead, [&](char* memory, std::streamsize size) {
    std::ofstream file(output_path, std::ios::binary);
    if (!file.write(memory, size).flush()) {
      throw std::runtime_error(std::string(output_path) + ": cannot be written");
    }
  });

  LiteRtDestroyTensorBuffer(input);
  LiteRtDestroyTensorBuffer(output);
  LiteRtDestroyCompiledModel(compiled);
  LiteRtDestroyOptions(options);
  LiteRtDestroyModel(model);
  LiteRtDestroyEnvironment(environment);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw std::runtime_error("usage: run_model MODEL.tflite INPUT OUTPUT");
    Run(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "run_model: error: %s\n", error.what());
    return 1;
  }
}
