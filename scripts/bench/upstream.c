// A provider as fast as the machine allows. Answers a chat request with a JSON of 1.5 KB; with "stream":true with 100 events, at once,
// or one every 20 ms when the body names a model with "paced" in it, or as Anthropic Messages for "translated". Prints the port that it listens on.
#include "http.h"

#define CHUNKS 100
#define PACE_MS 20
#define INPUT_MAX 32768
#define OUTPUT_MAX 65536

struct connection {
  int fd, chunks_left, waiting_to_write;
  size_t have, output_length, output_at;
  struct connection *next;
  char input[INPUT_MAX], output[OUTPUT_MAX];
};

static int loop;
static struct connection *slots[PACE_MS];
static char json_reply[4096], burst_reply[OUTPUT_MAX], messages_reply[OUTPUT_MAX];
static size_t json_length, burst_length, messages_length;

static const char stream_head[] =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n";
static const char chunk_format[] =
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1794900000,\"model\":\"bench\",\"choices\":"
    "[{\"index\":0,\"delta\":{" TIME_MARK "%019lld\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n";
static const char stream_end[] =
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1794900000,\"model\":\"bench\",\"choices\":"
    "[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}]}\n\n"
    "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1794900000,\"model\":\"bench\",\"choices\":[],"
    "\"usage\":{\"prompt_tokens\":200,\"completion_tokens\":100,\"total_tokens\":300}}\n\n"
    "data: [DONE]\n\n";

static const char messages_start[] =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_bench\",\"type\":\"message\",\"role\":\"assistant\","
    "\"model\":\"bench\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{\"input_tokens\":200,\"output_tokens\":1}}}\n\n"
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
static const char messages_piece[] =
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" "
    "0000000000000000000\"}}\n\n";
static const char messages_end[] =
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},"
    "\"usage\":{\"output_tokens\":100}}\n\n"
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

static size_t put_frame(char *to, const char *payload, size_t length) {
  size_t at = sprintf(to, "%zx\r\n", length);
  memcpy(to + at, payload, length);
  memcpy(to + at + length, "\r\n", 2);
  return at + length + 2;
}

static size_t put_chunk(char *to, int64_t at) {
  char payload[512];
  return put_frame(to, payload, sprintf(payload, chunk_format, (long long)at));
}

static size_t put_end(char *to) {
  size_t length = put_frame(to, stream_end, sizeof stream_end - 1);
  memcpy(to + length, "0\r\n\r\n", 5);
  return length + 5;
}

static void prepare_replies(void) {
  char body[2048], text[1200];
  memset(text, 'w', sizeof text);
  for (size_t i = 5; i < sizeof text; i += 6) text[i] = ' ';
  text[sizeof text - 1] = 0;
  int length = sprintf(body,
      "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1794900000,\"model\":\"bench\",\"choices\":[{\"index\":0,"
      "\"message\":{\"role\":\"assistant\",\"content\":\"%s\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":\"stop\"}],"
      "\"usage\":{\"prompt_tokens\":200,\"completion_tokens\":200,\"total_tokens\":400}}", text);
  json_length = sprintf(json_reply, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s", length, body);

  burst_length = sizeof stream_head - 1;
  memcpy(burst_reply, stream_head, burst_length);
  for (int i = 0; i < CHUNKS; i++) burst_length += put_chunk(burst_reply + burst_length, 0);
  burst_length += put_end(burst_reply + burst_length);

  messages_length = sizeof stream_head - 1;
  memcpy(messages_reply, stream_head, messages_length);
  messages_length += put_frame(messages_reply + messages_length, messages_start, sizeof messages_start - 1);
  for (int i = 0; i < CHUNKS; i++) messages_length += put_frame(messages_reply + messages_length, messages_piece, sizeof messages_piece - 1);
  messages_length += put_frame(messages_reply + messages_length, messages_end, sizeof messages_end - 1);
  memcpy(messages_reply + messages_length, "0\r\n\r\n", 5);
  messages_length += 5;
}

static void leave_slots(struct connection *c) {
  for (int slot = 0; slot < PACE_MS; slot++)
    for (struct connection **at = &slots[slot]; *at; at = &(*at)->next)
      if (*at == c) { *at = c->next; return; }
}

static void drop(struct connection *c) {
  if (c->chunks_left > 0) leave_slots(c);
  close(c->fd);
  free(c);
}

// Answers 0 when the connection is gone.
static int flush(struct connection *c) {
  while (c->output_at < c->output_length) {
    ssize_t sent = send(c->fd, c->output + c->output_at, c->output_length - c->output_at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EAGAIN) {
      if (!c->waiting_to_write) watch(loop, c->fd, c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
      c->waiting_to_write = 1;
      return 1;
    }
    if (sent < 0) return 0;
    c->output_at += sent;
  }
  c->output_at = c->output_length = 0;
  if (c->waiting_to_write) watch(loop, c->fd, c, EPOLL_CTL_MOD, EPOLLIN);
  c->waiting_to_write = 0;
  return 1;
}

static int write_out(struct connection *c, const char *bytes, size_t length) {
  if (c->output_length + length > OUTPUT_MAX) return 0;
  memcpy(c->output + c->output_length, bytes, length);
  c->output_length += length;
  return c->waiting_to_write ? 1 : flush(c);
}

static int answer(struct connection *c, const char *body, size_t length) {
  if (!memmem(body, length, "\"stream\":true", 13)) return write_out(c, json_reply, json_length);
  if (memmem(body, length, "translated", 10)) return write_out(c, messages_reply, messages_length);
  if (!memmem(body, length, "paced", 5)) return write_out(c, burst_reply, burst_length);
  int slot = now_ns() / 1000000 % PACE_MS;
  c->chunks_left = CHUNKS;
  c->next = slots[slot];
  slots[slot] = c;
  return write_out(c, stream_head, sizeof stream_head - 1);
}

// Answers every whole request in the input. Requests carry a content-length; 0 means the connection is to be dropped.
static int read_requests(struct connection *c) {
  for (;;) {
    char *head_end = memmem(c->input, c->have, "\r\n\r\n", 4);
    if (!head_end) return c->have < INPUT_MAX;
    size_t head = head_end + 4 - c->input, length = 0;
    *head_end = 0;
    char *field = strcasestr(c->input, "\r\ncontent-length:");
    if (field) length = strtoul(field + 17, NULL, 10);
    *head_end = '\r';
    if (head + length > INPUT_MAX) return 0;
    if (c->have < head + length) return 1;
    if (!answer(c, c->input + head, length)) return 0;
    c->have -= head + length;
    memmove(c->input, c->input + head + length, c->have);
  }
}

static int receive(struct connection *c) {
  ssize_t got = recv(c->fd, c->input + c->have, INPUT_MAX - c->have, 0);
  if (got < 0 && errno == EAGAIN) return 1;
  if (got <= 0) return 0;
  c->have += got;
  return read_requests(c);
}

static void pace(int slot) {
  char frame[8192];
  for (struct connection *c = slots[slot], *next; c; c = next) {
    next = c->next;
    size_t length = put_chunk(frame, now_ns());
    if (--c->chunks_left == 0) {
      leave_slots(c);
      length += put_end(frame + length);
    }
    if (!write_out(c, frame, length)) drop(c);
  }
}

int main(void) {
  raise_file_limit();
  prepare_replies();
  int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)) return 1;
  getsockname(listener, (struct sockaddr *)&address, &size);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  loop = epoll_create1(0);
  prepare_socket(listener);
  watch(loop, listener, NULL, EPOLL_CTL_ADD, EPOLLIN);
  int64_t tick = now_ns() / 1000000;

  for (;;) {
    struct epoll_event events[256];
    int busy = 0;
    for (int slot = 0; slot < PACE_MS && !busy; slot++) busy = slots[slot] != NULL;
    int count = epoll_wait(loop, events, 256, busy ? 1 : 100);
    for (int i = 0; i < count; i++) {
      struct connection *c = events[i].data.ptr;
      if (c) {
        if ((events[i].events & EPOLLOUT) && !flush(c)) drop(c);
        else if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !receive(c)) drop(c);
        continue;
      }
      for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
        struct connection *made = calloc(1, sizeof *made);
        made->fd = fd;
        prepare_socket(fd);
        watch(loop, fd, made, EPOLL_CTL_ADD, EPOLLIN);
      }
    }
    for (int64_t now = now_ns() / 1000000; tick < now;) pace(++tick % PACE_MS);
  }
}
