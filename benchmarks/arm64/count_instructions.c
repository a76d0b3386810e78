// A plug-in of QEMU that counts the instructions which an emulated program executes, function by
// function, and writes "COUNT FUNCTION" lines to the file of its option `out`. Code without symbols
// (libraries that are loaded later) counts as "?". QEMU's header is in no Debian package; these are
// the parts of its interface, version 1, that are used.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;    // a straight piece of code
struct qemu_plugin_insn;  // an instruction of it
enum { QEMU_PLUGIN_INLINE_ADD_U64 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* tb);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* tb, size_t index);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* instruction, int op,
                                                void* counter, uint64_t add);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                           void (*call)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*call)(qemu_plugin_id_t, void*),
                                    void* data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

struct Function {
  char* name;
  uint64_t count;
  struct Function* next;
};
static struct Function* functions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char* out;

static struct Function* Find(const char* name) {
  for (struct Function* f = functions; f != NULL; f = f->next) {
    if (strcmp(f->name, name) == 0) return f;
  }
  struct Function* f = calloc(1, sizeof(*f));
  f->name = strdup(name);
  f->next = functions;
  return functions = f;
}

static void Translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(tb, i);
    const char* name = qemu_plugin_insn_symbol(instruction);
    struct Function* function = Find(name == NULL || *name == '\0' ? "?" : name);
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64,
                                               &function->count, 1);
  }
  pthread_mutex_unlock(&lock);
}

static void AtExit(qemu_plugin_id_t id, void* data) {
  (void)id, (void)data;
  FILE* file = fopen(out, "w");
  if (file == NULL) return;
  for (const struct Function* f = functions; f != NULL; f = f->next) {
    fprintf(file, "%llu %s\n", (unsigned long long)f->count, f->name);
  }
  fclose(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const void* info, int argc,
                                                               char** argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "out=", 4) == 0) out = strdup(argv[i] + 4);
  }
  if (out == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, Translated);
  qemu_plugin_register_atexit_cb(id, AtExit, NULL);
  return 0;
}
