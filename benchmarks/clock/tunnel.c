// tunnel: an HTTP proxy that knows CONNECT alone and hands bytes on as they come. One thread, epoll.
// Build: gcc -O2 -o tunnel tunnel.c
// Run:   tunnel --port 9101 [--rt]
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROOM 262144
struct side {                     // one end of a tunnel; what it brought waits in buf for the other
  int fd;
  struct side *other;             // NULL until CONNECT was read
  char buf[ROOM];
  size_t len;
  bool ended;
};
static int ep;

static void listen_for(struct side *s) {
  unsigned wanted = (s->len < ROOM - 1 && !s->ended ? EPOLLIN : 0);
  if (s->other && s->other->len) wanted |= EPOLLOUT;
  struct epoll_event e = {.events = wanted, .data.ptr = s};
  epoll_ctl(ep, EPOLL_CTL_MOD, s->fd, &e);
}
static struct side *join(int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct side *s = calloc(1, sizeof *s);
  s->fd = fd;
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
  epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
  return s;
}
static void part(struct side *s) { close(s->fd); free(s); }
static void push(struct side *from) {   // what `from` brought -> its other side
  struct side *to = from->other;
  while (from->len) {
    ssize_t n = send(to->fd, from->buf, from->len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) { if (errno != EAGAIN) { from->len = 0; from->ended = true; } break; }
    memmove(from->buf, from->buf + n, from->len - n);
    from->len -= n;
  }
  if (from->ended && !from->len) shutdown(to->fd, SHUT_WR);
}
static bool connect_through(struct side *s) {   // false: not a CONNECT that works
  int port; char host[64];
  if (sscanf(s->buf, "CONNECT %63[^:]:%d", host, &port) != 2) return false;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (connect(fd, (void *)&a, sizeof a) && errno != EINPROGRESS) { close(fd); return false; }
  s->len = 0;
  s->other = join(fd);
  s->other->other = s;
  return send(s->fd, "HTTP/1.1 200 Connected\r\n\r\n", 26, MSG_NOSIGNAL) == 26;
}
static void turn(struct side *s, unsigned events) {
  struct side *o = s->other;
  if (events & EPOLLOUT && o) push(o);
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && s->len < ROOM - 1) {
    ssize_t n = recv(s->fd, s->buf + s->len, ROOM - 1 - s->len, MSG_DONTWAIT);
    if (n > 0) s->len += n;
    else if (n == 0 || errno != EAGAIN) s->ended = true;
    s->buf[s->len] = 0;
    if (!o && strstr(s->buf, "\r\n\r\n") && !connect_through(s)) s->ended = true;
    o = s->other;
    if (o) push(s);
  }
  if (!o) { if (s->ended) part(s); return; }
  if (s->ended && o->ended) { part(o); part(s); return; }
  listen_for(s);
  listen_for(o);
}
int main(int argc, char **argv) {
  int port = 9101, rt = 0, on = 1;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--port")) port = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--rt")) rt = 1;
  }
  signal(SIGPIPE, SIG_IGN);
  mlockall(MCL_CURRENT);
  if (rt) { struct sched_param sp = {.sched_priority = 20}; if (sched_setscheduler(0, SCHED_FIFO, &sp)) perror("SCHED_FIFO"); }
  int l = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(l, (void *)&a, sizeof a) || listen(l, 256)) { perror("bind"); return 1; }
  ep = epoll_create1(0);
  struct epoll_event le = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(ep, EPOLL_CTL_ADD, l, &le);
  fprintf(stderr, "tunnel on 127.0.0.1:%d\n", port);
  for (;;) {
    struct epoll_event ev;
    if (epoll_wait(ep, &ev, 1, -1) < 1) continue;   // one at a time: a turn may free the other side
    if (ev.data.ptr) { turn(ev.data.ptr, ev.events); continue; }
    for (int fd; (fd = accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0; ) join(fd);
  }
}
