#include "larq_engine/runtime/plan/plan_memory.h"

#include <string>

#include "larq_engine/runtime/ops/op_error.h"
#include "larq_engine/runtime/plan/devices.h"

namespace larq_engine {
namespace {

std::byte* FindHostTensor(const Program& program, const Value& value, const HostTensors& host) {
  const bool is_input = value.producer == Value::kHost;
  const std::span<std::byte> data = host.Data(value.tensor);
  if (value.bytes > 0 && data.size() < value.bytes) {
    const size_t op = is_input ? value.readers[0] : static_cast<size_t>(value.producer);
    throw OpError(program.op(op).name.ErrorStart() + (is_input ? "input" : "output") +
                  ": expected " + std::to_string(value.bytes) + " bytes from the host, got " +
                  std::to_string(data.size()) +
                  "; allocate tensors after resizing; if that was done, the file is corrupted");
  }
  // The cast is safe, because constants are only read.
  return value.constant.data() == nullptr
             ? data.data()
             : reinterpret_cast<std::byte*>(const_cast<int32_t*>(value.constant.data()));
}

}  // namespace

void PlanMemory::DropConstants() {
  for (OnDevice& there : devices_) there.constants.clear();
}

void PlanMemory::Place(const Program& program, std::span<const std::vector<Lifetime>> lifetimes) {
  host_values_.clear();
  std::vector<size_t> bytes;
  for (const Value& value : program.values()) {
    if (value.producer == Value::kHost || value.host_reads) host_values_.push_back(bytes.size());
    bytes.push_back(value.bytes);
  }
  for (size_t device = 0; device < devices_.size(); ++device) {
    OnDevice& there = devices_[device];
    const ArenaLayout layout = PlaceValues(lifetimes[device], bytes);
    std::byte* arena = nullptr;
    if (device == kCpuDevice) {
      cpu_arena_ = AlignedBuffer<std::byte>(layout.bytes);
      arena = cpu_arena_.data();
    } else {
      // The buffer is kept while it is large enough, because segments remember launches for their
      // values' addresses.
      if (there.arena == nullptr || there.arena->bytes() < layout.bytes) {
        there.arena.reset();
        there.arena = std::make_unique<DeviceBuffer>(*executors_[device]->memory(),
                                                     MemoryUse::kActivations, layout.bytes);
      }
      arena = there.arena->data();
    }
    there.addresses.assign(bytes.size(), nullptr);
    for (size_t i = 0; i < layout.offsets.size(); ++i) {
      there.addresses[lifetimes[device][i].value] = arena + layout.offsets[i];
    }
  }
}

void PlanMemory::PlaceConstants(const Program& program, std::span<const size_t> device_of,
                                const HostTensors& host) {
  for (size_t v = 0; v < program.values().size(); ++v) {
    const Value& value = program.value(v);
    if (!value.is_constant) continue;
    for (size_t reader : value.readers) {
      const size_t device = device_of[reader];
      if (device == kCpuDevice) continue;
      OnDevice& there = devices_[device];
      there.constants.resize(program.values().size());
      if (there.constants[v] == nullptr) {
        DeviceMemory& memory = *executors_[device]->memory();
        auto made = std::make_unique<DeviceBuffer>(memory, MemoryUse::kWeights, value.bytes);
        memory.CopyIn(FindHostTensor(program, value, host), value.bytes, made->data());
        there.constants[v] = std::move(made);
      }
      there.addresses[v] = there.constants[v]->data();
    }
  }
}

void PlanMemory::FindHostTensors(const Program& program, const HostTensors& host) {
  for (size_t v : host_values_) {
    devices_[kCpuDevice].addresses[v] = FindHostTensor(program, program.value(v), host);
  }
}

}  // namespace larq_engine
