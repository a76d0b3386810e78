// Memory between two inaccessible pages. WebAssembly has none: its pages are all accessible, and
// what a kernel reads too much shows only on other machines.
#ifndef LARQ_ENGINE_TESTS_COMMON_GUARDED_PAGES_H_
#define LARQ_ENGINE_TESTS_COMMON_GUARDED_PAGES_H_

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstddef>
#include <new>

namespace larq_engine::testing {

class GuardedPages {
 public:
  // Allocates `bytes`, rounded up to whole pages.
  explicit GuardedPages(size_t bytes) {
    const size_t page = PageBytes();
    bytes_ = (bytes + page - 1) / page * page;
    mapped_ = static_cast<std::byte*>(Map(bytes_ + 2 * page));
    if (mapped_ == nullptr || (bytes_ > 0 && !Permit(mapped_ + page, bytes_))) {
      throw std::bad_alloc();
    }
  }
  ~GuardedPages() { Unmap(mapped_, bytes_ + 2 * PageBytes()); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  std::byte* begin() const { return mapped_ + PageBytes(); }
  std::byte* end() const { return begin() + bytes_; }

 private:
#if defined(_WIN32)
  static size_t PageBytes() {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwPageSize;
  }
  static void* Map(size_t bytes) {
    return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
  }
  static bool Permit(void* pages, size_t bytes) {
    DWORD before;
    return VirtualProtect(pages, bytes, PAGE_READWRITE, &before) != 0;
  }
  static void Unmap(void* pages, size_t) { VirtualFree(pages, 0, MEM_RELEASE); }
#else
  static size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  static void* Map(size_t bytes) {
    void* pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
  }
  static bool Permit([[maybe_unused]] void* pages, [[maybe_unused]] size_t bytes) {
#if defined(__wasm__)
    return true;
#else
    return mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0;
#endif
  }
  static void Unmap(void* pages, size_t bytes) { munmap(pages, bytes); }
#endif

  std::byte* mapped_;
  size_t bytes_;
};

}  // namespace larq_engine::testing

#endif  // LARQ_ENGINE_TESTS_COMMON_GUARDED_PAGES_H_
