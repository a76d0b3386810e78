// Tests larq_engine_register_ops in a process whose libraries have no op resolver.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "larq_engine/runtime/larq_engine.h"

namespace larq_engine {
namespace {

std::string ErrorOfRegister() {
  int resolver = 0;  // never looked at
  char error[256] = "";
  EXPECT_EQ(larq_engine_register_ops(&resolver, error, sizeof(error)), 1);
  return error;
}

TEST(RegisterOpsElsewhere, IsAnErrorThatSaysWhatToDo) {
  EXPECT_EQ(ErrorOfRegister(),
            "larq_engine_register_ops: no library of this process exports "
            "tflite::MutableOpResolver::AddCustom (TensorFlow's does, LiteRT's does not); load the "
            "engine as a delegate instead");
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer does not see the locks inside the loader
TEST(RegisterOpsElsewhere, OtherThreadsMayLoadLibrariesMeanwhile) {
  // Every library is asked, under the loader's locks. A deadlock would make this test run for ever.
  std::thread loader([] {
    for (int i = 0; i < 3000; ++i) {
      void* library = dlopen("libutil.so.1", RTLD_LAZY);
      ASSERT_NE(library, nullptr) << dlerror();
      dlclose(library);
    }
  });
  for (int i = 0; i < 3000; ++i) EXPECT_NE(ErrorOfRegister(), "");
  loader.join();
}
#endif

}  // namespace
}  // namespace larq_engine
