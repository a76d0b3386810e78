// Two kinds of functions: those that the compiler's C++ runtime, built for a newer glibc, takes
// from libc and that glibc 2.28 lacks; and those that glibc has in an archive, for which there is
// no stub. Only `--config=manylinux` links this file, and the plug-in's version script hides its
// names.

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

// glibc 2.32 says here whether locks and atomic counts can be left out. They cannot, as the host
// has threads.
extern "C" char __libc_single_threaded;
char __libc_single_threaded = 0;

// Needed since glibc 2.36: std::random_device refers to it, and comes with std::string's archive
// member.
extern "C" uint32_t arc4random() noexcept {
  uint32_t number;
  if (getentropy(&number, sizeof(number)) != 0) abort();
  return number;
}

// glibc stops calling the functions once the object that registered them is unloaded.
extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                 void* object) noexcept;
extern "C" __attribute__((visibility("hidden"))) void* __dso_handle;
extern "C" int pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept {
  return __register_atfork(prepare, parent, child, __dso_handle);
}

namespace {

// Fills in `result` and ends the search if `info` holds the address that `result` asks for.
int FindIn(dl_phdr_info* info, size_t /*size*/, void* data) {
  auto* result = static_cast<dl_find_object*>(data);
  const auto address = reinterpret_cast<uintptr_t>(result->dlfo_map_start);
  const ElfW(Phdr)* eh_frame = nullptr;
  bool found = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type == PT_GNU_EH_FRAME) eh_frame = &header;
    // The difference is unsigned, so an address below the segment is far above it.
    found |=
        header.p_type == PT_LOAD && address - (info->dlpi_addr + header.p_vaddr) < header.p_memsz;
  }
  if (!found) return 0;
  if (eh_frame == nullptr) return -1;
  result->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + eh_frame->p_vaddr);
  return 1;
}

}  // namespace

// Needed since glibc 2.35. The unwinder asks for the object that holds an address, and only reads
// dlfo_eh_frame.
extern "C" int _dl_find_object(void* address, dl_find_object* result) noexcept {
  result->dlfo_map_start = address;
  return dl_iterate_phdr(FindIn, result) == 1 ? 0 : -1;
}
