#include "larq_engine/benchmark_model/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "larq_engine/benchmark_model/errors.h"

namespace larq_engine {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void Fail(const std::string& path, const char* what) {
  throw RunError("'" + path + "': " + what + ": " + std::strerror(errno));
}

std::string TemporaryName(const std::string& path) {
  return path + ".tmp" + std::to_string(getpid());
}

}  // namespace

std::vector<uint8_t> ReadFile(const std::string& path) {
  // The file is opened without waiting, because opening a pipe that nobody writes to would take for
  // ever.
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) Fail(path, "cannot open the file");
  const FilePtr file(fdopen(descriptor, "rb"));
  if (file == nullptr) {
    close(descriptor);
    Fail(path, "cannot open the file");
  }
  struct stat status;
  if (fstat(descriptor, &status) != 0) Fail(path, "cannot look at the file");
  if (!S_ISREG(status.st_mode)) throw RunError("'" + path + "': expected a file, got none");
  if (static_cast<uint64_t>(status.st_size) > PTRDIFF_MAX) {
    throw RunError("'" + path + "': expected a file that fits into memory, got " +
                   std::to_string(status.st_size) + " bytes");
  }
  std::vector<uint8_t> content(static_cast<size_t>(status.st_size));
  if (content.empty()) return content;  // it has no memory, and fread must not get a null pointer
  if (std::fread(content.data(), 1, content.size(), file.get()) != content.size()) {
    Fail(path, "cannot read the file");
  }
  return content;
}

void CheckWritable(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw RunError("'" + path + "': cannot write the file: it is a folder");
  }
  const std::string temporary = TemporaryName(path);
  const FilePtr file(std::fopen(temporary.c_str(), "wb"));
  if (file == nullptr) Fail(path, "cannot write the file");
  std::remove(temporary.c_str());
}

void WriteFile(const std::string& path, std::span<const uint8_t> content) {
  const std::string temporary = TemporaryName(path);
  FilePtr file(std::fopen(temporary.c_str(), "wb"));
  if (file == nullptr) Fail(path, "cannot write the file");
  bool written = content.empty() ||
                 std::fwrite(content.data(), 1, content.size(), file.get()) == content.size();
  written = std::fclose(file.release()) == 0 && written;
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary.c_str());
    errno = reason;
    Fail(path, "cannot write the file");
  }
}

}  // namespace larq_engine
