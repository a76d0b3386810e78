#include "larq_engine/kernels/common/shared_buffer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "larq_engine/kernels/common/process_mutex.h"

namespace larq_engine {

struct SharedBytes {
  AlignedBuffer<std::byte> bytes;
  size_t key;
  int64_t users;
};

namespace {

// A file may have thousands of weights that get one key although they differ. Comparing each with
// all others would take minutes. So at most this number of buffers of one key are shared; any
// others belong to their users only.
constexpr size_t kMostAlike = 8;

struct Kept {
  ProcessMutex mutex;
  std::unordered_multimap<size_t, SharedBytes*> bytes;  // by key
};

// The object is never destroyed, because interpreters may outlive the objects of this file.
Kept& TheKept() {
  static Kept& kept = *new Kept;
  return kept;
}

// Computes the key from some of the bytes only, because loading a single model should not wait for
// it. Buffers with equal keys are compared whole.
size_t KeyOf(const AlignedBuffer<std::byte>& bytes) {
  std::array<char, 512> some;
  const size_t count = std::min(some.size(), bytes.size());
  const size_t step = count == 0 ? 0 : bytes.size() / count;
  for (size_t i = 0; i < count; ++i) some[i] = static_cast<char>(bytes.data()[i * step]);
  return std::hash<std::string_view>()({some.data(), count}) ^ bytes.size();
}

bool Equal(const AlignedBuffer<std::byte>& a, const AlignedBuffer<std::byte>& b) {
  return a.size() == b.size() && (a.size() == 0 || !std::memcmp(a.data(), b.data(), a.size()));
}

}  // namespace

SharedBytes* ShareBytes(AlignedBuffer<std::byte> bytes) {
  const size_t key = KeyOf(bytes);
  Kept& kept = TheKept();
  const std::lock_guard lock(kept.mutex);
  const auto [first, last] = kept.bytes.equal_range(key);
  size_t alike = 0;
  for (auto it = first; it != last; ++it, ++alike) {
    if (!Equal(it->second->bytes, bytes)) continue;
    ++it->second->users;
    return it->second;
  }
  auto own = std::make_unique<SharedBytes>(SharedBytes{std::move(bytes), key, 1});
  if (alike < kMostAlike) kept.bytes.emplace(key, own.get());
  return own.release();
}

void ReleaseBytes(SharedBytes* shared) {
  Kept& kept = TheKept();
  const std::lock_guard lock(kept.mutex);
  if (--shared->users > 0) return;
  const auto [first, last] = kept.bytes.equal_range(shared->key);
  const auto found =
      std::find_if(first, last, [&](const auto& each) { return each.second == shared; });
  if (found != last) kept.bytes.erase(found);
  delete shared;
}

const std::byte* DataOf(const SharedBytes& shared) { return shared.bytes.data(); }

}  // namespace larq_engine
