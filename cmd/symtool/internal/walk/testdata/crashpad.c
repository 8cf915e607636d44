// A program that aborts, of which Crashpad's handler, argv[1], writes a minidump into the database argv[2]. Crashpad
// reads its ExceptionInformation, addresses of a signal's siginfo_t and ucontext_t and the thread's id, from the parent
// of the handler (crashpad_handler, --trace-parent-with-exception).
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct __attribute__((packed)) { unsigned long info, context; pid_t thread; } exception;
static char database[4096], address[80], *handler;

static void crashed(int signal, siginfo_t *info, void *context) {
  exception.info = (unsigned long)info;
  exception.context = (unsigned long)context;
  exception.thread = syscall(SYS_gettid);
  pid_t child = fork();
  if (child == 0) {
    execl(handler, handler, database, address, "--annotation=OOMAllocationSize=1000000", (char *)NULL);
    _exit(9);
  }
  int status;
  waitpid(child, &status, 0);
  _exit(status == 0 ? 0 : 8);
}

__attribute__((noinline)) static void fail(const char *name) {
  char *copy = strdup(name);
  if (copy[0]) abort();
  free(copy);
}

__attribute__((noinline)) static int load(const char *name) { fail(name); return name[0]; }

int main(int argc, char **argv) {
  if (argc != 3) return 7;
  handler = argv[1];
  snprintf(database, sizeof database, "--database=%s", argv[2]);
  snprintf(address, sizeof address, "--trace-parent-with-exception=0x%lx", (unsigned long)&exception);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO};
  sigaction(SIGABRT, &action, NULL);
  return load(argv[2]);
}
