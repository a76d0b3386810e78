// The C++ interface of liblarq_engine.so for whole models, which it runs by itself: no host, such
// as LiteRT, is needed. It is this header, for C++17 and newer, over the functions of
// larq_engine_model.h. All functions throw std::runtime_error with the engine's reason.
#ifndef LARQ_ENGINE_RUNTIME_LARQ_ENGINE_MODEL_HPP_
#define LARQ_ENGINE_RUNTIME_LARQ_ENGINE_MODEL_HPP_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "larq_engine/runtime/larq_engine_model.h"

namespace larq_engine::api {

// Elements in a row, whose memory is the model's. C++20 makes a std::span of it.
template <typename T>
class Span {
 public:
  Span(T* data, std::size_t size) : data_(data), size_(size) {}

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](std::size_t index) const { return data_[index]; }

 private:
  T* data_;
  std::size_t size_;
};

// An input or output, until the model is resized or gone.
class Tensor {
 public:
  explicit Tensor(const LarqEngineTensor& tensor) : tensor_(tensor) {}

  std::string name() const { return tensor_.name; }
  int type() const { return tensor_.type; }  // LARQ_ENGINE_FLOAT32 and so on
  std::vector<int> dims() const { return {tensor_.dims, tensor_.dims + tensor_.rank}; }
  std::size_t bytes() const { return tensor_.bytes; }
  // Has all that the C interface tells, such as scales.
  const LarqEngineTensor& c_tensor() const { return tensor_; }

  // Returns the elements, which must be of type T. C++17 has no type for float16: c_tensor() has
  // the address of such elements.
  template <typename T>
  Span<T> Data() const {
    constexpr int kType = TypeOf<std::remove_const_t<T>>();
    static_assert(kType != kNoType, "no tensor has elements of this type");
    if (tensor_.type != kType) {
      throw std::runtime_error("tensor '" + name() + "': expected a C++ type for elements of " +
                               TypeName(tensor_.type) + ", got one for " + TypeName(kType));
    }
    return {static_cast<T*>(tensor_.data), tensor_.bytes / sizeof(T)};
  }

 private:
  static constexpr int kNoType = -1;

  template <typename T>
  static constexpr int TypeOf() {
    if constexpr (std::is_same_v<T, float>) return LARQ_ENGINE_FLOAT32;
    if constexpr (std::is_same_v<T, double>) return LARQ_ENGINE_FLOAT64;
    if constexpr (std::is_same_v<T, bool>) return LARQ_ENGINE_BOOL;
    if constexpr (std::is_same_v<T, std::int8_t>) return LARQ_ENGINE_INT8;
    if constexpr (std::is_same_v<T, std::int16_t>) return LARQ_ENGINE_INT16;
    if constexpr (std::is_same_v<T, std::int32_t>) return LARQ_ENGINE_INT32;
    if constexpr (std::is_same_v<T, std::int64_t>) return LARQ_ENGINE_INT64;
    if constexpr (std::is_same_v<T, std::uint8_t>) return LARQ_ENGINE_UINT8;
    if constexpr (std::is_same_v<T, std::uint16_t>) return LARQ_ENGINE_UINT16;
    if constexpr (std::is_same_v<T, std::uint32_t>) return LARQ_ENGINE_UINT32;
    if constexpr (std::is_same_v<T, std::uint64_t>) return LARQ_ENGINE_UINT64;
    return kNoType;
  }

  static std::string TypeName(int type) {
    switch (type) {
      case LARQ_ENGINE_FLOAT16:
        return "float16";
      case LARQ_ENGINE_FLOAT32:
        return "float32";
      case LARQ_ENGINE_FLOAT64:
        return "float64";
      case LARQ_ENGINE_BOOL:
        return "bool";
      case LARQ_ENGINE_INT8:
        return "int8";
      case LARQ_ENGINE_INT16:
        return "int16";
      case LARQ_ENGINE_INT32:
        return "int32";
      case LARQ_ENGINE_INT64:
        return "int64";
      case LARQ_ENGINE_UINT8:
        return "uint8";
      case LARQ_ENGINE_UINT16:
        return "uint16";
      case LARQ_ENGINE_UINT32:
        return "uint32";
      case LARQ_ENGINE_UINT64:
        return "uint64";
      default:
        return "type " + std::to_string(type);
    }
  }

  LarqEngineTensor tensor_;
};

// A model with its tensors. Different models may be used by several threads at the same time, but
// one model only by one thread at a time.
class Model {
 public:
  // Names and values as in tflite_plugin_create_delegate, such as {{"num_threads", "4"}}.
  using Options = std::map<std::string, std::string>;

  // Reads a .tflite file. An empty `signature` is the model's main graph.
  explicit Model(const std::string& path, const Options& options = {},
                 const std::string& signature = "")
      : Model(options, [&](auto keys, auto values, char* why, std::size_t size) {
          return larq_engine_model_open_file(path.c_str(), NameOrNull(signature), keys, values,
                                             options.size(), why, size);
        }) {}

  // Takes a .tflite file in memory, which must stay as it is while the model lives.
  Model(const void* file, std::size_t bytes, const Options& options = {},
        const std::string& signature = "")
      : Model(options, [&](auto keys, auto values, char* why, std::size_t size) {
          return larq_engine_model_open(file, bytes, NameOrNull(signature), keys, values,
                                        options.size(), why, size);
        }) {}

  std::size_t inputs() const { return larq_engine_model_inputs(model_.get()); }
  std::size_t outputs() const { return larq_engine_model_outputs(model_.get()); }

  Tensor input(std::size_t index = 0) const {
    CheckIndex(index, inputs(), "inputs");
    return Tensor(larq_engine_model_input(model_.get(), index));
  }
  Tensor output(std::size_t index = 0) const {
    CheckIndex(index, outputs(), "outputs");
    return Tensor(larq_engine_model_output(model_.get(), index));
  }

  // Gives the inputs other dimensions, such as another batch. Tensors must be asked for anew.
  void Resize(const std::vector<std::vector<int>>& dims_of_inputs) {
    for (std::size_t i = 0; i < dims_of_inputs.size(); ++i) {
      const std::vector<int>& dims = dims_of_inputs[i];
      Check([&](char* why, std::size_t size) {
        return larq_engine_model_resize(model_.get(), i, dims.data(), static_cast<int>(dims.size()),
                                        why, size);
      });
    }
    Allocate();
  }

  // Lets runs use so many threads from now on, at most those of the option num_threads.
  void SetNumThreads(int num_threads) {
    Check([&](char* why, std::size_t size) {
      return larq_engine_model_set_num_threads(model_.get(), num_threads, why, size);
    });
  }

  // Computes the outputs from the inputs. Takes no memory, but for more threads the first time that
  // models run at the same time.
  void Run() {
    Check([&](char* why, std::size_t size) {
      return larq_engine_model_run(model_.get(), why, size);
    });
  }

  // Serves the functions of larq_engine_model.h that have no method here.
  LarqEngineModel* c_model() const { return model_.get(); }

 private:
  using Reason = std::array<char, 2048>;

  struct Close {
    void operator()(LarqEngineModel* model) const { larq_engine_model_close(model); }
  };

  template <typename Open>
  Model(const Options& options, const Open& open) {
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    Reason why = {};
    model_.reset(open(keys.data(), values.data(), why.data(), why.size()));
    if (model_ == nullptr) throw std::runtime_error(why.data());
    Allocate();
  }

  static const char* NameOrNull(const std::string& name) {
    return name.empty() ? nullptr : name.c_str();
  }

  static void CheckIndex(std::size_t index, std::size_t count, const char* what) {
    if (index < count) return;
    throw std::runtime_error("expected one of " + std::to_string(count) + " " + what +
                             ", got number " + std::to_string(index));
  }

  template <typename Function>
  static void Check(const Function& function) {
    Reason why = {};
    if (function(why.data(), why.size()) != 0) throw std::runtime_error(why.data());
  }

  void Allocate() {
    Check([&](char* why, std::size_t size) {
      return larq_engine_model_allocate(model_.get(), why, size);
    });
  }

  std::unique_ptr<LarqEngineModel, Close> model_;
};

}  // namespace larq_engine::api

#endif  // LARQ_ENGINE_RUNTIME_LARQ_ENGINE_MODEL_HPP_
