/* SPDX-License-Identifier: BSD-3-Clause */
/* Two generations on a mock door. */
#include "genbed.h"

#include <arpa/inet.h>

#include "core/stack/socket/socket.h"

/* The text of the last message is known once the call is over: it is fetched when the next one begins. */
static void
log_hook(struct shim *s, enum mock_op op, void *arg)
{
	struct gb *b = arg;
	int n;

	(void)op;
	n = snprintf(b->log + b->log_len, sizeof(b->log) - b->log_len, "%s\n", mock_last_message(s));
	if (n > 0 && b->log_len + n < sizeof(b->log))
		b->log_len += n;
}

bool
gb_logged(const struct gb *b, const char *text)
{
	return strstr(b->log, text) != NULL || strstr(mock_last_message(b->rt->s), text) != NULL;
}

static int
echo(void *arg)
{
	struct gb_app *a = arg;
	struct worker *w = a->b->rt->w[a->i];
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	char text[256];
	ssize_t n;

	if (a->fd < 0 || a->deaf || w == NULL)
		return 0;
	while ((n = sock_recvfrom(worker_stack(w), a->fd, text, sizeof(text), 0, (struct sockaddr *)&from, &len)) >= 0) {
		a->got++;
		sock_sendto(worker_stack(w), a->fd, text, n, 0, (struct sockaddr *)&from, len);
		len = sizeof(from);
	}
	return 0;
}

void
gb_kill(struct gb *b, unsigned int i)
{
	rt_kill(b->rt, i);
	b->app[i].fd = -1;
}

int
gb_worker(struct gb *b, unsigned int i, unsigned int lane, uint32_t gen)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(7) };
	struct worker_config wc = { .cfg = &b->rt->cfg, .proc_id = 1 + lane, .generation = gen, .loop = echo,
		.loop_arg = &b->app[i] };
	int rc;

	wc.shim = rt_door(b->rt, i, 1 + lane);
	b->app[i] = (struct gb_app){ .b = b, .i = i, .fd = -1 };
	rc = worker_create(&wc, &b->rt->w[i]);
	if (rc < 0) {
		b->rt->w[i] = NULL;
		return rc;
	}
	b->app[i].fd = sock_socket(worker_stack(b->rt->w[i]), AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(sock_bind(worker_stack(b->rt->w[i]), b->app[i].fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return 0;
}

void
gb_start(struct gb *b, unsigned int lanes)
{
	struct ctl_dir *dir;
	unsigned int slot;

	mock_hook(b->rt->s, MOCK_OP_vlog, log_hook, b);
	assert_int_equal(primary_setup(b->rt->s, &b->rt->cfg, &b->rt->p), 0);
	assert_int_equal(ctl_dir_attach(b->rt->tool, &dir), 0);
	assert_int_equal(gen_dir_attach(b->rt->tool, dir->boot_id, &b->dir), 0);
	b->master = mock_shim_attach(b->rt->s, SHIM_ROLE_OBSERVER, 61);
	assert_int_equal(gen_master_claim(b->master, b->dir, &slot, NULL), 0);
	for (unsigned int i = 0; i < lanes; i++)
		assert_int_equal(gb_worker(b, 2 * i, i, 0), 0);
	gb_turn(b, 100);
	for (unsigned int i = 0; i < lanes; i++) {
		assert_true(gb_owns(b, 2 * i));
		gb_arp(b, i);
	}
	gb_turn(b, 100);
	gb_turn(b, 100);
	for (unsigned int i = 0; i < lanes; i++)
		gb_sent(b, i, NULL, 0);
	assert_int_equal(gen_window(b->master, b->dir, &b->window), 0);
}

struct gb *
gb_new(const char *text, unsigned int lanes)
{
	struct gb *b = test_calloc(1, sizeof(*b));

	b->rt = rt_new(text);
	gb_start(b, lanes);
	return b;
}

void
gb_free(struct gb *b)
{
	struct rt *rt = b->rt;

	mock_script_clear(rt->s);
	for (unsigned int i = 0; i < 4; i++) {
		worker_destroy(rt->w[i]);
		rt->w[i] = NULL;
	}
	mock_shim_free(b->master);
	rt_free(rt);
	test_free(b);
}

void
gb_turn(struct gb *b, unsigned int us)
{
	mock_advance_ns(b->rt->s, us * 1000ull);
	shim_clock_sample(b->master);
	for (unsigned int i = 0; i < 4; i++)
		if (b->rt->w[i] != NULL && !worker_stopped(b->rt->w[i]))
			worker_turn(b->rt->w[i]);
	primary_turn(b->rt->p);
}

void
gb_turns(struct gb *b, unsigned int n)
{
	while (n-- > 0)
		gb_turn(b, 100);
}

void
gb_step(struct gb *b, enum window_state state)
{
	struct window to = b->window;

	to.state = state;
	if (state == WINDOW_CLOSED)
		to.active = gen_rightful(b->window);
	assert_true(gen_window_swap(b->master, b->dir, b->window, to));
	b->window = to;
}

uint32_t
gb_open(struct gb *b)
{
	struct window to = { .state = WINDOW_OPEN, .active = b->window.active };

	to.wid = gen_next(b->master, b->dir, !gen_side(b->window.active));
	assert_true(gen_window_swap(b->master, b->dir, b->window, to));
	b->window = to;
	gb_turn(b, 100);
	assert_int_equal(gb_worker(b, 1, 0, to.wid), 0);
	for (int i = 0; i < 3; i++)
		gb_turn(b, SEAT_LOOK_NS / 1000);
	return to.wid;
}

void
gb_commit(struct gb *b)
{
	gb_step(b, WINDOW_PARKING);
	gb_turn(b, 100);
	assert_false(gb_owns(b, 0));
	assert_false(gb_owns(b, 1));
	gb_step(b, WINDOW_COMMITTED);
	gb_turns(b, 2);
	assert_false(gb_owns(b, 0));
	assert_true(gb_owns(b, 1));
}

/* An IPv4 header for n bytes behind it, over the one that is there. frag: flags and offset. */
static void
ip_header(uint8_t *ip, size_t n, uint16_t id, uint16_t frag)
{
	uint32_t s = 0;

	ip[2] = (20 + n) >> 8;
	ip[3] = (20 + n) & 0xff;
	ip[4] = id >> 8;
	ip[5] = id & 0xff;
	ip[6] = frag >> 8;
	ip[7] = frag & 0xff;
	ip[9] = 17;
	ip[10] = ip[11] = 0;
	for (int i = 0; i < 20; i += 2)
		s += ip[i] << 8 | ip[i + 1];
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	ip[10] = ~s >> 8;
	ip[11] = ~s & 0xff;
}

static void
udp_header(uint8_t *u, uint16_t sport, size_t n)
{
	u[0] = sport >> 8;
	u[1] = sport & 0xff;
	u[2] = 0;
	u[3] = 7;
	u[4] = (8 + n) >> 8;
	u[5] = (8 + n) & 0xff;
	u[6] = u[7] = 0;
}

void
gb_udp(struct gb *b, unsigned int queue, uint16_t sport, const char *text)
{
	size_t n = strlen(text);
	uint8_t f[512];

	rt_ping(f, "192.0.2.2", "192.0.2.9", 1);
	ip_header(f + 14, 8 + n, 1, 0);
	udp_header(f + 34, sport, n);
	memcpy(f + 42, text, n);
	assert_int_equal(mock_inject(b->rt->s, 0, queue, f, 42 + n), 0);
}

void
gb_frag(struct gb *b, uint16_t port, uint16_t sport, uint16_t id, bool first)
{
	uint8_t f[512];

	rt_ping(f, "192.0.2.2", "192.0.2.9", 1);
	f[5] = 1 + port; /* the mock's MAC addresses count up with the port */
	ip_header(f + 14, 16, id, first ? 0x2000 : 2);
	memset(f + 34, 'f', 16);
	if (first)
		udp_header(f + 34, sport, 24);
	assert_int_equal(mock_inject(b->rt->s, port, 0, f, 50), 0);
}

void
gb_arp(struct gb *b, unsigned int queue)
{
	uint8_t f[128];

	assert_int_equal(mock_inject(b->rt->s, 0, queue, f, rt_arp_request(f, "192.0.2.2", "192.0.2.9")), 0);
}

unsigned int
gb_sent(struct gb *b, unsigned int queue, uint16_t *port, unsigned int n)
{
	unsigned int count = 0;
	uint8_t f[2048];
	size_t len;

	while ((len = mock_collect_bytes(b->rt->s, 0, queue, f, sizeof(f))) > 0) {
		bool udp = len >= 42 && f[12] == 8 && f[13] == 0 && f[23] == 17;

		if (count < n)
			port[count] = udp ? f[36] << 8 | f[37] : 0;
		count++;
	}
	return count;
}
