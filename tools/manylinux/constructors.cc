// Runs the constructors of a program that was linked with a glibc of 2.34 or newer, where an older
// one starts it. The newer one finds them itself, so its start-up file hands none to
// __libc_start_main; the older one runs only those that it is handed.

using Constructor = void (*)(int, char**, char**);

extern "C" {
// The linker names the ends of the table of constructors.
extern Constructor __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor __init_array_end[] __attribute__((visibility("hidden")));

int __real_main(int argc, char** argv, char** environment);
// The linker puts this in place of main.
int __wrap_main(int argc, char** argv, char** environment);
}

namespace {

bool have_run = false;

__attribute__((constructor)) void RunWithTheOthers() { have_run = true; }

}  // namespace

int __wrap_main(int argc, char** argv, char** environment) {
  if (!have_run) {
    for (Constructor* each = __init_array_start; each != __init_array_end; ++each) {
      (*each)(argc, argv, environment);
    }
  }
  return __real_main(argc, argv, environment);
}
