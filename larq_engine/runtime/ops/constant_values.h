// The values of a constant of the file. They stay where they lie if they are aligned; otherwise
// they are copied, because a file may begin at any address.
#ifndef LARQ_ENGINE_RUNTIME_OPS_CONSTANT_VALUES_H_
#define LARQ_ENGINE_RUNTIME_OPS_CONSTANT_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace larq_engine {

template <typename T>
class ConstantValues {
 public:
  ConstantValues() = default;
  // The values may be parts of greater ones, whose alignment is `alignment`.
  ConstantValues(const void* constant, size_t bytes, size_t alignment = alignof(T))
      : data_(static_cast<const T*>(constant)) {
    if (reinterpret_cast<uintptr_t>(constant) % alignment == 0) return;
    copy_ = std::make_shared<std::vector<T>>((bytes + sizeof(T) - 1) / sizeof(T));
    std::memcpy(copy_->data(), constant, bytes);
    data_ = copy_->data();
  }

  const T* data() const { return data_; }

  // Returns the values from index `first` on.
  ConstantValues From(size_t first) const {
    ConstantValues part = *this;
    part.data_ += first;
    return part;
  }

 private:
  const T* data_ = nullptr;
  std::shared_ptr<std::vector<T>> copy_;
};

}  // namespace larq_engine

#endif  // LARQ_ENGINE_RUNTIME_OPS_CONSTANT_VALUES_H_
