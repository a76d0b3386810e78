// The functions that ask for a file's status, which glibc has had under these names since 2.33. It
// still has the older ones, which take the number of the structure's layout.

#include <sys/stat.h>

#ifdef __LP64__  // programs of 32 bits are not released
namespace {

#ifdef __x86_64__
constexpr int kLayout = 1;
#else
constexpr int kLayout = 0;
#endif

}  // namespace

extern "C" {

int __fxstat(int layout, int file, struct stat* status) noexcept;
int __xstat(int layout, const char* path, struct stat* status) noexcept;

int fstat(int file, struct stat* status) noexcept { return __fxstat(kLayout, file, status); }
int stat(const char* path, struct stat* status) noexcept { return __xstat(kLayout, path, status); }
int fstat64(int file, struct stat64* status) noexcept {
  return __fxstat(kLayout, file, reinterpret_cast<struct stat*>(status));
}

}  // extern "C"
#endif
