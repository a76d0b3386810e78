// A model that the engine runs by itself, without a host.
#ifndef LARQ_ENGINE_RUNTIME_MODEL_MODEL_H_
#define LARQ_ENGINE_RUNTIME_MODEL_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "larq_engine/kernels/common/aligned_buffer.h"
#include "larq_engine/model_file/model_file.h"
#include "larq_engine/runtime/engine_options.h"
#include "larq_engine/runtime/model/model_graph.h"
#include "larq_engine/runtime/plan/engine.h"
#include "larq_engine/runtime/plan/plan.h"

namespace larq_engine {

class Model {
 public:
  // Checks the file. Its bytes must stay as they are while the model lives. An empty `signature`
  // is the main graph. Without an engine the model makes its own. Throws FileError, OpError or
  // std::invalid_argument.
  Model(std::span<const uint8_t> bytes, const std::string& signature, const EngineOptions& options,
        std::shared_ptr<Engine> engine = nullptr);

  const ModelFile& file() const { return file_; }
  const ModelGraph& graph() const { return graph_; }
  size_t graph_number() const { return graph_number_; }
  Engine& engine() const { return *engine_; }

  // Inputs and outputs are given by their place in the graph's lists.
  size_t inputs() const { return graph_.inputs().size(); }
  size_t outputs() const { return graph_.outputs().size(); }

  // Gives an input other dimensions. Tensors must be allocated after that.
  void Resize(size_t input, std::span<const int> dims);
  // Sizes everything for the inputs' dimensions. Throws OpError, whose text names the operator.
  void Allocate();
  // Lets runs read an input where the caller has it, until it is set to null or resized.
  void SetInput(size_t input, const void* data, size_t bytes);
  // Lets runs use so many threads from now on, at most those of the option. Throws OpError.
  void SetNumThreads(int threads);
  // Computes the outputs. Allocates nothing.
  void Run();

  const std::vector<int>& Dims(int tensor) const { return memory_.dims(tensor); }
  // Returns the bytes of a tensor of the dimensions that are known now.
  size_t Bytes(int tensor) const { return memory_.Bytes(tensor); }
  // Returns where a tensor lies; empty before tensors are allocated, if it is no constant.
  std::span<std::byte> Data(int tensor) const {
    const bool exists = is_allocated_ || graph_.tensors()[static_cast<size_t>(tensor)].constant;
    return exists ? memory_.Data(tensor) : std::span<std::byte>();
  }

 private:
  // The inputs and outputs, which the caller reads and writes, and constants.
  class Memory : public HostTensors {
   public:
    explicit Memory(const ModelGraph& graph);

    std::vector<int> Dims(int tensor) const override { return dims(tensor); }
    void Resize(int tensor, const std::vector<int>& dims) override;
    std::span<std::byte> Data(int tensor) const override;

    const std::vector<int>& dims(int tensor) const { return At(tensor).dims; }
    void SetDims(int tensor, std::span<const int> dims);
    size_t Bytes(int tensor) const;
    // Gives all inputs memory for their dimensions.
    void AllocateInputs(std::span<const int> inputs);
    void SetData(int tensor, const void* data, size_t bytes);

   private:
    struct Tensor {
      std::vector<int> dims;
      size_t element_bytes = 0;
      std::span<std::byte> data = {};  // a constant, or what the caller gave
      AlignedBuffer<std::byte> own = {};
      size_t own_bytes = 0;
    };
    const Tensor& At(int tensor) const { return tensors_[static_cast<size_t>(tensor)]; }
    Tensor& At(int tensor) { return tensors_[static_cast<size_t>(tensor)]; }

    std::vector<Tensor> tensors_;
  };

  ModelFile file_;
  size_t graph_number_;
  int most_threads_;
  ModelGraph graph_;
  std::shared_ptr<Engine> engine_;
  Memory memory_;
  Plan plan_;
  bool is_allocated_ = false;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_MODEL_MODEL_H_
