/*
 * Loaded into a workerd process before its libraries. A file of 16 bytes, which the process maps and its
 * tester writes, says how far its clock is wrong and whether its disk takes writes. The file is read anew at
 * each call, so a fault begins and ends while the process runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
  volatile int64_t clock_offset_ms;
  volatile int32_t write_errno;
};

static struct control *control;

__attribute__((constructor)) static void map_control(void) {
  const char *path = getenv("BATON_CHAOS_CONTROL");
  if (path == NULL) return;
  int fd = open(path, O_RDONLY);
  if (fd < 0) return;
  void *page = mmap(NULL, sizeof(struct control), PROT_READ, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) control = page;
  close(fd);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- the clock */

static int64_t offset_ms(void) { return control == NULL ? 0 : control->clock_offset_ms; }

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = REAL(clock_gettime);
  int result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    int64_t ms = offset_ms();
    now->tv_sec += ms / 1000;
    now->tv_nsec += (ms % 1000) * 1000000;
    if (now->tv_nsec >= 1000000000) { now->tv_nsec -= 1000000000; now->tv_sec++; }
    if (now->tv_nsec < 0) { now->tv_nsec += 1000000000; now->tv_sec--; }
  }
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (out != NULL) *out = precise.tv_sec;
  return precise.tv_sec;
}

/* ---- the disk: every regular file that such a process writes is its storage */

static int32_t failing(void) { return control == NULL ? 0 : control->write_errno; }

static int refuses(int fd) {
  struct stat status;
  int32_t error = failing();
  if (error == 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  errno = error;
  return 1;
}

#define WRITER(result, name, parameters, arguments) \
  result name parameters {                          \
    static result(*real) parameters;                \
    if (refuses(fd)) return -1;                     \
    if (real == NULL) real = REAL(name);            \
    return real arguments;                          \
  }

WRITER(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
WRITER(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRITER(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
WRITER(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRITER(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
WRITER(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))

/* A full disk still opens what exists; a read-only one opens nothing for writing and unlinks nothing. */

static int refuses_open(const char *path, int flags) {
  if (failing() != EROFS || strncmp(path, "/dev/", 5) == 0) return 0;
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) == 0) return 0;
  errno = EROFS;
  return 1;
}

#define OPENER(name)                                         \
  int name(const char *path, int flags, ...) {               \
    static int (*real)(const char *, int, ...);              \
    va_list rest;                                            \
    va_start(rest, flags);                                   \
    mode_t mode = va_arg(rest, mode_t);                      \
    va_end(rest);                                            \
    if (refuses_open(path, flags)) return -1;                \
    if (real == NULL) real = REAL(name);                     \
    return real(path, flags, mode);                          \
  }
#define OPENER_AT(name)                                      \
  int name(int folder, const char *path, int flags, ...) {   \
    static int (*real)(int, const char *, int, ...);         \
    va_list rest;                                            \
    va_start(rest, flags);                                   \
    mode_t mode = va_arg(rest, mode_t);                      \
    va_end(rest);                                            \
    if (refuses_open(path, flags)) return -1;                \
    if (real == NULL) real = REAL(name);                     \
    return real(folder, path, flags, mode);                  \
  }

OPENER(open)
OPENER(open64)
OPENER_AT(openat)
OPENER_AT(openat64)

static int refuses_change(void) {
  if (failing() != EROFS) return 0;
  errno = EROFS;
  return 1;
}

/* A file on a full disk can still be given a length: its pages are taken when they are written. */
int ftruncate(int fd, off_t size) { return refuses_change() ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return refuses_change() ? -1 : REAL(ftruncate64)(fd, size); }
int unlink(const char *path) { return refuses_change() ? -1 : REAL(unlink)(path); }
int unlinkat(int folder, const char *path, int flags) {
  return refuses_change() ? -1 : REAL(unlinkat)(folder, path, flags);
}
