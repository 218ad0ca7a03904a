// Shared by the two programs of the benchmark: time, limits, and an epoll loop over non-blocking sockets.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

// A paced chunk carries the nanosecond of its writing behind this text, so that the reader can tell how late it came.
#define TIME_MARK "\"content\":\" "
#define TIME_DIGITS 19

static inline int64_t now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

static inline void raise_file_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static inline void prepare_socket(int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static inline void watch(int loop, int fd, void *owner, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = owner};
  epoll_ctl(loop, operation, fd, &event);
}
