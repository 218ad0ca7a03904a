// The load of the benchmark: load PORT REQUEST-FILE REQUESTS CONNECTIONS SECONDS RATE RAMP-MS
// Sends the requests of the file, so many of one length, over kept connections, of which each has one of them: each as fast as it is answered (RATE 0), or RATE a second in all, on schedule
// whatever the answers do, with latency counted from the schedule. Starts connections over RAMP-MS. After SECONDS it starts nothing
// new and waits for what runs. Prints one JSON line: latencies and delays of paced chunks are in microseconds, failedStatus is that of
// the last failure, 0 when the connection broke.
#include "http.h"

#define HISTOGRAM 8000000
#define HEAD_MAX 8192
enum body { IN_HEAD, BY_LENGTH, CHUNK_SIZE, CHUNK_DATA, CHUNK_END };

struct connection {
  int fd, busy, keep, status, mark;
  enum body reading;
  int64_t started, left, stamp;
  size_t have, sent;
  const char *request;
  char head[HEAD_MAX];
};

static int loop, port, finished_ok, failed, failed_status, finished_in_time;
static size_t request_length;
static uint32_t *latencies, *delays;
static int64_t chunks, chunks_in_window, window_from, window_to, last_end;

static void record(uint32_t *histogram, int64_t ns) {
  int64_t us = ns / 1000;
  histogram[us < 0 ? 0 : us >= HISTOGRAM ? HISTOGRAM - 1 : us]++;
}

static double percentile(const uint32_t *histogram, double share) {
  int64_t total = 0, seen = 0;
  for (int i = 0; i < HISTOGRAM; i++) total += histogram[i];
  for (int i = 0; i < HISTOGRAM; i++)
    if ((seen += histogram[i]) >= total * share && seen > 0) return i;
  return 0;
}

static void open_connection(struct connection *c) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(c->fd, (struct sockaddr *)&address, sizeof address)) { close(c->fd); c->fd = -1; return; }
  prepare_socket(c->fd);
  watch(loop, c->fd, c, EPOLL_CTL_ADD, EPOLLIN);
}

static void send_rest(struct connection *c) {
  while (c->sent < request_length) {
    ssize_t sent = send(c->fd, c->request + c->sent, request_length - c->sent, MSG_NOSIGNAL);
    if (sent < 0) return;
    c->sent += sent;
  }
}

static void finish(struct connection *c, int ok) {
  int64_t now = now_ns();
  c->busy = 0;
  last_end = now;
  if (ok) finished_ok++; else failed++;
  if (!ok) failed_status = c->reading == IN_HEAD ? 0 : c->status;
  if (ok && now <= window_to) finished_in_time++;
  if (ok) record(latencies, now - c->started);
  if (!ok || !c->keep) { close(c->fd); c->fd = -1; }
}

static void begin(struct connection *c, int64_t scheduled) {
  if (c->fd < 0) open_connection(c);
  c->started = scheduled;
  c->busy = 1;
  c->reading = IN_HEAD;
  c->have = c->sent = c->mark = 0;
  if (c->fd < 0) { failed++; c->busy = 0; return; }
  send_rest(c);
}

// Looks for the time that a paced chunk carries; a mark may be split over reads.
static void scan(struct connection *c, const char *bytes, size_t length) {
  static const char mark[] = TIME_MARK;
  const int marked = sizeof mark - 1;
  for (size_t i = 0; i < length; i++) {
    if (c->mark < marked) {
      c->mark = bytes[i] == mark[c->mark] ? c->mark + 1 : bytes[i] == mark[0];
      c->stamp = 0;
      continue;
    }
    c->stamp = c->stamp * 10 + (bytes[i] - '0');
    if (++c->mark < marked + TIME_DIGITS) continue;
    c->mark = 0;
    if (c->stamp == 0) continue;
    int64_t now = now_ns();
    chunks++;
    if (now >= window_from && now <= window_to) chunks_in_window++;
    record(delays, now - c->stamp);
  }
}

// Reads the head; answers how many of the bytes belonged to it, or -1 when it is not HTTP.
static ssize_t read_head(struct connection *c, const char *bytes, size_t length) {
  size_t before = c->have, take = length < HEAD_MAX - 1 - before ? length : HEAD_MAX - 1 - before;
  memcpy(c->head + before, bytes, take);
  c->have += take;
  c->head[c->have] = 0;
  char *end = strstr(c->head, "\r\n\r\n");
  if (!end) return c->have >= HEAD_MAX - 1 ? -1 : (ssize_t)length;
  end[2] = 0;
  c->status = atoi(c->head + 9);
  c->keep = strcasestr(c->head, "\r\nconnection: close") == NULL;
  char *counted = strcasestr(c->head, "\r\ncontent-length:");
  if (counted) { c->reading = BY_LENGTH; c->left = strtoll(counted + 17, NULL, 10); }
  else if (strcasestr(c->head, "\r\ntransfer-encoding: chunked")) { c->reading = CHUNK_SIZE; c->left = 0; c->have = 0; }
  else return -1;
  return (end + 4 - c->head) - before;
}

// Answers 1 when the response is complete, 0 when more is to come, -1 when it is broken.
static int read_body(struct connection *c, const char *bytes, size_t length) {
  size_t at = 0;
  while (at < length || (c->reading == BY_LENGTH && c->left == 0)) {
    if (c->reading == IN_HEAD) {
      ssize_t used = read_head(c, bytes + at, length - at);
      if (used < 0) return -1;
      at += used;
    } else if (c->reading == BY_LENGTH) {
      size_t take = (int64_t)(length - at) < c->left ? length - at : (size_t)c->left;
      c->left -= take;
      at += take;
      if (c->left == 0) return 1;
    } else if (c->reading == CHUNK_SIZE) {
      char byte = bytes[at++];
      if (byte == '\n') {
        c->have = 0;
        c->reading = c->left == 0 ? CHUNK_END : CHUNK_DATA;
        if (c->left == 0) c->left = -1;
      } else if (byte != '\r') c->left = c->left * 16 + (byte <= '9' ? byte - '0' : (byte | 32) - 'a' + 10);
    } else if (c->reading == CHUNK_DATA) {
      size_t take = (int64_t)(length - at) < c->left ? length - at : (size_t)c->left;
      scan(c, bytes + at, take);
      c->left -= take;
      at += take;
      if (c->left == 0) c->reading = CHUNK_END;
    } else if (bytes[at++] == '\n') {
      if (c->left == -1) return 1;
      c->reading = CHUNK_SIZE;
      c->left = 0;
    }
  }
  return 0;
}

static void receive(struct connection *c) {
  static char bytes[262144];
  ssize_t got = recv(c->fd, bytes, sizeof bytes, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    if (c->busy) finish(c, 0);
    else { close(c->fd); c->fd = -1; }
    return;
  }
  int state = read_body(c, bytes, got);
  if (state != 0) finish(c, state == 1 && c->status == 200);
}

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(2);
  fseek(file, 0, SEEK_END);
  *length = ftell(file);
  rewind(file);
  char *bytes = malloc(*length);
  if (fread(bytes, 1, *length, file) != *length) exit(2);
  fclose(file);
  return bytes;
}

int main(int count, char **args) {
  if (count != 8) return 2;
  raise_file_limit();
  port = atoi(args[1]);
  size_t length;
  const char *requests = read_file(args[2], &length);
  int different = atoi(args[3]), size = atoi(args[4]);
  request_length = length / different;
  double seconds = atof(args[5]), rate = atof(args[6]);
  int64_t ramp = atoll(args[7]) * 1000000;
  latencies = calloc(HISTOGRAM, sizeof *latencies);
  delays = calloc(HISTOGRAM, sizeof *delays);
  struct connection *all = calloc(size, sizeof *all);
  for (int i = 0; i < size; i++) {
    all[i].fd = -1;
    all[i].request = requests + i % different * request_length;
  }
  loop = epoll_create1(0);

  int64_t from = now_ns(), due = from;
  int started = 0, next = 0;
  window_from = from + ramp;
  window_to = window_from + seconds * 1e9;
  last_end = from;

  for (;;) {
    int64_t now = now_ns();
    int running = 0;
    if (rate > 0) {
      for (int tries = 0; due <= now && due < window_to && tries < size; tries++) {
        struct connection *c = &all[next++ % size];
        if (c->busy) continue;
        begin(c, due);
        due += 1e9 / rate;
      }
    } else if (now < window_to) {
      while (started < size && now - from >= ramp * started / size) started++;
      for (int i = 0; i < started; i++)
        if (!all[i].busy) begin(&all[i], now_ns());
    }
    for (int i = 0; i < size; i++) running += all[i].busy;
    if (now >= window_to && (running == 0 || now >= window_to + 5000000000LL)) break;

    struct epoll_event events[256];
    int ready = epoll_wait(loop, events, 256, rate > 0 && due < window_to ? (due - now_ns() > 1000000 ? 1 : 0) : started < size || ramp ? 1 : 10);
    for (int i = 0; i < ready; i++) {
      struct connection *c = events[i].data.ptr;
      if (c->busy && c->sent < request_length) send_rest(c);
      receive(c);
      if (rate <= 0 && !c->busy && now_ns() < window_to) begin(c, now_ns());
    }
  }

  int unfinished = 0;
  for (int i = 0; i < size; i++) unfinished += all[i].busy;
  printf("{\"requests\":%d,\"failed\":%d,\"failedStatus\":%d,\"perSecond\":%.1f,\"seconds\":%.3f,\"p50\":%.0f,\"p99\":%.0f,\"chunks\":%lld,\"chunksPerSecond\":%.0f,"
         "\"delayP50\":%.0f,\"delayP99\":%.0f}\n",
         finished_ok, failed + unfinished, failed_status, finished_in_time / (seconds + ramp / 1e9), (last_end - from) / 1e9, percentile(latencies, 0.5),
         percentile(latencies, 0.99), (long long)chunks, chunks_in_window / seconds, percentile(delays, 0.5), percentile(delays, 0.99));
  return 0;
}
