// Calls of the library of C that give memory to the system, whose access to a closed page or to
// memory of the device is an error of the call in place of a fault.
#include "internal.h"
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// open_bytes opens memory that a call reads or writes for the program: a page that is
// closed is an error of the system there. It counts as an access of the program.
static void open_bytes(const void *memory, size_t bytes, int writes, uint64_t here) {
  if (!closingCount) return;
  uint64_t at = (uint64_t)(uintptr_t)memory, end = at + bytes;
  while (at < end) {
    uint64_t next = (at | (pageBytes - 1)) + 1, last = next < end ? next : end;
    if (open_page(at, writes) && !writes) read_unwaited(at, last - at, (uint64_t[]){0, here}, 2);
    at = last;
  }
}

// told is the result of a call. One that was given memory of the device is told in a line.
static ssize_t told(ssize_t result, const char *call, const void *memory, uint64_t here) {
  if (result >= 0 || errno != EFAULT || wb_forked) return result;
  const wbAllocation *a = wb_find(memory);
  if (a && a->kind == wbDevice)
    wb_fail(cudaSuccess, here, a->here, "%s was given memory of the device, byte %llu of the %llu bytes allocated at {}: copy them by cudaMemcpy, or allocate by cudaMallocManaged", call,
            (unsigned long long)((uintptr_t)memory - a->address), (unsigned long long)a->bytes);
  errno = EFAULT;
  return result;
}

// IO is a call that reads or writes bytes at memory by another call of the library.
#define IO(name, memory, writes, other) \
  open_bytes(memory, bytes, writes, HERE); \
  return told(other, name, memory, HERE)

API ssize_t read(int file, void *to, size_t bytes) { IO("read", to, 1, readv(file, &(struct iovec){to, bytes}, 1)); }
API ssize_t write(int file, const void *from, size_t bytes) { IO("write", from, 0, writev(file, &(struct iovec){(void *)from, bytes}, 1)); }
API ssize_t pread(int file, void *to, size_t bytes, off_t at) { IO("pread", to, 1, preadv(file, &(struct iovec){to, bytes}, 1, at)); }
API ssize_t pwrite(int file, const void *from, size_t bytes, off_t at) { IO("pwrite", from, 0, pwritev(file, &(struct iovec){(void *)from, bytes}, 1, at)); }
API ssize_t pread64(int file, void *to, size_t bytes, off_t at) { IO("pread", to, 1, preadv(file, &(struct iovec){to, bytes}, 1, at)); }
API ssize_t pwrite64(int file, const void *from, size_t bytes, off_t at) { IO("pwrite", from, 0, pwritev(file, &(struct iovec){(void *)from, bytes}, 1, at)); }
API ssize_t recv(int socket, void *to, size_t bytes, int flags) { IO("recv", to, 1, recvfrom(socket, to, bytes, flags, 0, 0)); }
API ssize_t send(int socket, const void *from, size_t bytes, int flags) { IO("send", from, 0, sendto(socket, from, bytes, flags, 0, 0)); }
API size_t fread(void *to, size_t size, size_t count, FILE *file) {
  open_bytes(to, size * count, 1, HERE);
  flockfile(file);
  size_t n = fread_unlocked(to, size, count, file);
  funlockfile(file);
  return n;
}
API size_t fwrite(const void *from, size_t size, size_t count, FILE *file) {
  open_bytes(from, size * count, 0, HERE);
  flockfile(file);
  size_t n = fwrite_unlocked(from, size, count, file);
  funlockfile(file);
  return n;
}
