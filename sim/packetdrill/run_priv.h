/* SPDX-License-Identifier: BSD-3-Clause */
/* A script being run: what the runner's files share. */
#ifndef NONIC_SIM_PACKETDRILL_RUN_PRIV_H
#define NONIC_SIM_PACKETDRILL_RUN_PRIV_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "flow.h"
#include "net.h"
#include "run.h"
#include "wire.h"

#define RUN_FDS_MAX 256
#define RUN_IO_MAX (16u << 20)     /* bytes of one call */
#define RUN_IOV_MAX 64
#define RUN_FD_NONE 1000000        /* a descriptor that is not open */

/* A descriptor of the script. */
struct run_fd {
	int script, live;
	bool stream, listening;
	bool child_made;           /* a listener: the script's next SYN belongs to its child, not to another one */
	uint16_t lport;            /* bound to it; 0: not */
};

/* The one call that blocks. */
struct run_pending {
	const struct pd_event *ev; /* NULL: none */
	uint64_t since_ns, end_ns;
	int64_t done;              /* bytes written so far */
	bool again;                /* not its first try */
};

struct run {
	const struct pd_script *script;
	struct pd_conf conf;
	struct match_rules rules;
	struct pd_result *out;
	struct pd_net net;
	bool stop;                 /* there is a verdict */
	/* time, ns of the script */
	int64_t base_ns;           /* the event before was due then */
	int64_t tol_ns;
	unsigned int tol_percent;
	int64_t ts_tick_ns;        /* 0: stamps are not timed */
	/* connections */
	struct pd_flow *flows, *flow;
	uint32_t nflows;
	uint16_t bind_port, connect_port, next_port;
	struct run_fd fd[RUN_FDS_MAX];
	unsigned int nfds;
	struct run_fd *sock;       /* made last */
	int info_fd;               /* live: the connection that code asks about; -1 */
	struct run_pending pending;
	uint8_t *io;               /* RUN_IO_MAX bytes */
	const struct pd_event *last_packet; /* the script's last packet event */
};

/* Verdicts; the first one counts. Both return false. */
bool run_fail(struct run *r, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool run_skip(struct run *r, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* run.c: time goes on to `to` (script time), the blocked call being tried again on the way. False: verdict. */
bool run_advance(struct run *r, uint64_t to_ns);
/* One step on the way to `to`. */
bool run_step(struct run *r, uint64_t to_ns);
/* Seconds as text. */
const char *run_time(int64_t ns, char buf[32]);

/* call.c: the name of a live descriptor. False: it has none. */
bool run_local_name(struct run *r, int live, struct sockaddr_storage *sa, socklen_t *len);

/* packets.c */
bool run_inject(struct run *r, const struct pd_event *ev);
/* Waits for the packet of ev, due from..to. *at_ns: when it came. */
bool run_expect(struct run *r, const struct pd_event *ev, int64_t from_ns, int64_t to_ns, uint64_t *at_ns);
/* After the last packet event: packets that nobody expected. */
bool run_leftover(struct run *r);
void run_flows_free(struct run *r);

/* eval.c: values of expressions. False: verdict (unknown words skip the script). */
bool run_num(struct run *r, const struct pd_expr *x, int64_t *v);
/* The n-th argument, NULL when there are less. */
const struct pd_expr *run_arg(const struct pd_call *k, unsigned int n);
/* A struct's member of that name, or NULL. */
const struct pd_expr *run_member(const struct pd_expr *x, const char *name);
/* A socket address; "..." is dflt:port. *len 0: none (NULL). */
bool run_addr(struct run *r, const struct pd_expr *x, const union ip_addr *dflt, uint16_t port, struct sockaddr_storage *sa,
	socklen_t *len);
/* A number of a name: true, or false. */
bool run_word(const char *word, int64_t *v);
/* EAGAIN: 11; 0: no such name. */
int run_errno(const char *word);

/* call.c */
struct run_fd *run_fd_of(struct run *r, int script);
int run_fd_live(struct run *r, int64_t script);
/* The map of a new descriptor. NULL: verdict. */
struct run_fd *run_fd_new(struct run *r, int line, int script, int live);
bool run_call(struct run *r, const struct pd_event *ev, uint64_t end_ns);
/* Tries the blocked call again. */
bool run_retry(struct run *r);
bool run_pending_late(struct run *r);

/*
 * One call, tried once: *ret is its result or a negative errno. Its outputs are compared in run_call_check, once it
 * has returned. False: verdict.
 */
typedef bool run_call_fn(struct run *r, const struct pd_event *ev, int64_t *ret);
/* Families of calls, by files: NULL when not theirs. */
run_call_fn *run_calls_io(const char *name);
run_call_fn *run_calls_opt(const char *name);
run_call_fn *run_calls_wait(const char *name);

/* command.c, code.c */
bool run_command(struct run *r, const struct pd_event *ev);
bool run_persona(struct run *r);
bool run_code(struct run *r, const struct pd_event *ev);

#endif
