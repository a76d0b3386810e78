// Takes the place of the dynamic loader in a static program, where opening a library would need the
// very C library that the program was linked with. So nothing is ever opened, and each caller says
// what it misses.
#include <dlfcn.h>

extern "C" {

void* dlopen(const char*, int) { return nullptr; }
void* dlsym(void*, const char*) { return nullptr; }
int dlclose(void*) { return -1; }
char* dlerror() {
  static char reason[] = "this program is static, and opens no libraries";
  return reason;
}
int dladdr(const void*, Dl_info*) { return 0; }

}  // extern "C"
