/* SPDX-License-Identifier: BSD-3-Clause */
/* select and poll: what is ready of what is asked. */
#include <errno.h>

#include "socket_priv.h"

/* Linux's groups of bits for the three sets of select. */
#define SEL_IN (EPOLLRDNORM | EPOLLIN | EPOLLHUP | EPOLLERR)
#define SEL_OUT (EPOLLWRNORM | EPOLLOUT | EPOLLERR)
#define SEL_EX EPOLLPRI

#define WORD_BITS ((int)(8 * sizeof(unsigned long)))

/* A set as Linux sees it: as many words as nfds needs, even past FD_SETSIZE. */
static inline unsigned long *
word(fd_set *set, int i)
{
	return set == NULL ? NULL : (unsigned long *)(void *)set + i;
}

/* Looks at the descriptors of one word; replaces the three words by what is ready. Number of bits, or -EBADF. */
static int
select_word(struct stack *s, int first, unsigned long mask, unsigned long *w[3])
{
	unsigned long in[3], out[3] = { 0, 0, 0 }, all;
	static const uint32_t group[3] = { SEL_IN, SEL_OUT, SEL_EX };
	int i, n = 0;

	for (i = 0; i < 3; i++)
		in[i] = w[i] != NULL ? *w[i] & mask : 0;
	for (all = in[0] | in[1] | in[2]; all != 0; all &= all - 1) {
		unsigned long bit = all & -all;
		int ev = sock_ready(s, first + __builtin_ctzl(all));

		if (ev < 0)
			return ev;
		for (i = 0; i < 3; i++) {
			if ((in[i] & bit) && ((uint32_t)ev & group[i])) {
				out[i] |= bit;
				n++;
			}
		}
	}
	for (i = 0; i < 3; i++) {
		if (w[i] != NULL)
			*w[i] = out[i];
	}
	return n;
}

/* A dry run first, so that the sets stay as they are on -EBADF. */
static int
select_check(struct stack *s, int nfds, fd_set *rd, fd_set *wr, fd_set *ex)
{
	int fd;

	for (fd = 0; fd < nfds; fd++) {
		int i = fd / WORD_BITS;
		unsigned long any = (rd != NULL ? *word(rd, i) : 0) | (wr != NULL ? *word(wr, i) : 0) |
			(ex != NULL ? *word(ex, i) : 0);

		if (any == 0)
			fd |= WORD_BITS - 1;
		else if ((any >> (fd % WORD_BITS) & 1) && fd_file(s, fd) == NULL)
			return -EBADF;
	}
	return 0;
}

int
sock_select(struct stack *s, int nfds, fd_set *rd, fd_set *wr, fd_set *ex)
{
	int i, n = 0, err;

	if (nfds < 0)
		return -EINVAL;
	if (nfds > sock_max_fd(s))
		nfds = sock_max_fd(s);
	err = select_check(s, nfds, rd, wr, ex);
	if (err != 0)
		return err;
	for (i = 0; i * WORD_BITS < nfds; i++) {
		unsigned long *w[3] = { word(rd, i), word(wr, i), word(ex, i) };
		int left = nfds - i * WORD_BITS;

		n += select_word(s, i * WORD_BITS, left >= WORD_BITS ? ~0ul : (1ul << left) - 1, w);
	}
	return n;
}

int
sock_poll(struct stack *s, struct pollfd *fds, nfds_t n)
{
	nfds_t i;
	int ready = 0;

	if (n > (nfds_t)sock_max_fd(s))
		return -EINVAL;
	if (n != 0 && fds == NULL)
		return -EFAULT;
	for (i = 0; i < n; i++) {
		int ev;

		fds[i].revents = 0;
		if (fds[i].fd < 0)
			continue;
		ev = sock_ready(s, fds[i].fd);
		if (ev < 0)
			fds[i].revents = POLLNVAL;
		else
			fds[i].revents = (short)(ev & (fds[i].events | POLLERR | POLLHUP));
		ready += fds[i].revents != 0;
	}
	return ready;
}
