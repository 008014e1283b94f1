/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP echo and the DNS-shaped responder, both families. */
#include "serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "dns.h"

#define PER_TURN 64 /* of one socket, so that none starves the others */

static int
open_one(struct stack *s, int domain, uint16_t port, int *fd)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	const struct sockaddr *addr = (const struct sockaddr *)&v4;
	socklen_t len = sizeof(v4);
	int one = 1, rc;

	if (domain == AF_INET6) {
		addr = (const struct sockaddr *)&v6;
		len = sizeof(v6);
	}
	*fd = sock_socket(s, domain, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (*fd < 0) {
		rc = *fd;
		*fd = -1;
		return rc;
	}
	if (domain == AF_INET6) {
		rc = sock_setsockopt(s, *fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
		if (rc < 0)
			return rc;
	}
	return sock_bind(s, *fd, addr, len);
}

int
serve_open(struct serve *sv, struct stack *s, uint16_t echo_port, uint16_t dns_port)
{
	int rc = 0;

	memset(sv, 0, sizeof(*sv));
	sv->stack = s;
	sv->echo4 = sv->echo6 = sv->dns4 = sv->dns6 = -1;
	if (echo_port != 0)
		rc = open_one(s, AF_INET, echo_port, &sv->echo4);
	if (rc == 0 && echo_port != 0)
		rc = open_one(s, AF_INET6, echo_port, &sv->echo6);
	if (rc == 0 && dns_port != 0)
		rc = open_one(s, AF_INET, dns_port, &sv->dns4);
	if (rc == 0 && dns_port != 0)
		rc = open_one(s, AF_INET6, dns_port, &sv->dns6);
	if (rc < 0)
		serve_close(sv);
	return rc;
}

void
serve_close(struct serve *sv)
{
	int *fd[] = { &sv->echo4, &sv->echo6, &sv->dns4, &sv->dns6 };

	for (unsigned int i = 0; i < 4; i++) {
		if (*fd[i] >= 0)
			sock_close(sv->stack, *fd[i]);
		*fd[i] = -1;
	}
}

void
serve_stamp(struct serve *sv, struct shim *s, uint32_t gen, uint32_t proc_id)
{
	uint32_t word[2] = { htonl(gen), htonl(proc_id) };

	memcpy(sv->stamp, word, SERVE_STAMP);
	sv->shim = s;
}

/* Puts the stamp behind the payload; false: no room, the buffer is gone. */
static bool
stamp(struct serve *sv, struct rte_mbuf *m)
{
	char *at = shim_buf_append(m, SERVE_STAMP);

	if (at == NULL) {
		shim_buf_free(sv->shim, m);
		return false;
	}
	memcpy(at, sv->stamp, SERVE_STAMP);
	return true;
}

/* The payload goes back as it came: the chain that was received is the chain that is sent. */
static void
echo_turn(struct serve *sv, int fd)
{
	struct sock_addr from;
	struct rte_mbuf *m;

	for (unsigned int i = 0; fd >= 0 && i < PER_TURN; i++) {
		if (sock_recv_chain(sv->stack, fd, &m, &from) < 0)
			return;
		if ((sv->shim != NULL && !stamp(sv, m)) || sock_send_chain(sv->stack, fd, m, &from) < 0)
			sv->echo_failed++;
		else
			sv->echoed++;
	}
}

static void
dns_turn(struct serve *sv, int fd)
{
	uint8_t query[DNS_MAX], answer[DNS_MAX];
	struct sockaddr_storage from;

	for (unsigned int i = 0; fd >= 0 && i < PER_TURN; i++) {
		struct iovec iov = { query, sizeof(query) };
		struct msghdr msg = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n = sock_recvmsg(sv->stack, fd, &msg, 0);

		if (n == -EAGAIN)
			return;
		if (n < 0) /* an ICMP error of an earlier answer; the next datagram is another matter */
			continue;
		iov.iov_base = answer;
		iov.iov_len = msg.msg_flags & MSG_TRUNC ? 0 : dns_answer(query, n, answer);
		msg.msg_flags = 0;
		if (iov.iov_len == 0 || sock_sendmsg(sv->stack, fd, &msg, 0) < 0)
			sv->silent++;
		else
			sv->answered++;
	}
}

void
serve_turn(struct serve *sv)
{
	echo_turn(sv, sv->echo4);
	echo_turn(sv, sv->echo6);
	dns_turn(sv, sv->dns4);
	dns_turn(sv, sv->dns6);
}
