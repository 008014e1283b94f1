/* SPDX-License-Identifier: BSD-3-Clause */
/* The tools' work on control blocks. */
#include "tools.h"

#include <errno.h>
#include <string.h>

#include "../runtime/layout.h"
#include "../runtime/text.h"

#define PAGE (CTL_TEXT + 1)

int
tools_attach(struct tools *t, const struct cli_cmd *cmd, struct shim *s, FILE *out, bool json)
{
	int rc;

	memset(t, 0, sizeof(*t));
	t->cmd = cmd;
	t->shim = s;
	t->out = out;
	t->json = json;
	rc = ctl_dir_attach(s, &t->dir);
	if (rc == -ENOENT || rc == -EAGAIN)
		return cli_fail(cmd, "the primary is starting or stopping; try again");
	if (rc < 0)
		return cli_fail(cmd, "what the primary shares can not be read: %s", strerror(-rc));
	t->first_proc = shim_load32(s, &t->dir->first_proc, SHIM_RELAXED);
	t->nb_workers = shim_load32(s, &t->dir->nb_workers, SHIM_RELAXED);
	if (t->first_proc > 1 || t->nb_workers == 0 || t->nb_workers >= CTL_MAX_PROCS)
		return cli_fail(cmd, "what the primary shares can not be read: %s", strerror(EPROTO));
	rc = gen_dir_attach(s, shim_load64(s, &t->dir->boot_id, SHIM_RELAXED), &t->gen);
	if (rc < 0)
		t->gen = NULL;
	if (rc < 0 && rc != -ENOENT)
		return cli_fail(cmd, "what the primary shares for generations can not be read: %s", strerror(-rc));
	return -1;
}

static unsigned int
proc_of(unsigned int index)
{
	return (index - 1) % LAYOUT_SIDE;
}

/* The generation of the worker that sits, or sat last, in the place of a control block; 0: not known. */
static uint32_t
generation_of(struct tools *t, unsigned int index)
{
	unsigned int lane = proc_of(index) - t->first_proc, side = (index - 1) / LAYOUT_SIDE;

	if (t->gen == NULL || side >= GEN_SIDES || lane >= GEN_MAX_LANES)
		return 0;
	return shim_load32(t->shim, &t->gen->seat[side][lane].gen, SHIM_RELAXED);
}

static void
who(struct tools *t, unsigned int index, char *buf, size_t n)
{
	if (index == CTL_PRIMARY)
		snprintf(buf, n, "the primary");
	else if (index == CTL_MASTER)
		snprintf(buf, n, "the master");
	else if (t->gen != NULL)
		snprintf(buf, n, "worker %u of generation %u", proc_of(index), generation_of(t, index));
	else
		snprintf(buf, n, "worker %u", index - 1);
}

/* Sides that workers may stand on, the owner of lane's first. */
static unsigned int
sides(struct tools *t, unsigned int side[GEN_SIDES])
{
	struct window w;

	side[0] = 0;
	if (t->gen == NULL)
		return 1;
	if (gen_window(t->shim, t->gen, &w) == 0)
		side[0] = gen_side(gen_rightful(w));
	side[1] = side[0] ^ 1;
	return GEN_SIDES;
}

/* Says what went wrong with a request; text is the owner's own sentence. */
static int
complain(struct tools *t, unsigned int index, const struct ctl_block *b, int rc, const char *text)
{
	char name[48];

	who(t, index, name, sizeof(name));
	if (text[0] != '\0')
		return cli_fail(t->cmd, "%s: %s", name, text);
	if (rc == -ETIMEDOUT)
		return cli_fail(t->cmd, "%s (pid %u) did not answer within %u ms", name, b->owner.pid, TOOLS_TIMEOUT_MS);
	if (rc == -EBUSY)
		return cli_fail(t->cmd, "%s is busy with another tool's request", name);
	if (rc == -ESRCH)
		return cli_fail(t->cmd, "%s is not running", name);
	return cli_fail(t->cmd, "%s: %s", name, strerror(-rc));
}

/* The block of worker proc, or of the first. Exit code, or -1. */
static int
block_of(struct tools *t, int proc, unsigned int *index, struct ctl_block **b)
{
	unsigned int first = t->first_proc, last = first + t->nb_workers - 1, side[GEN_SIDES], nb_sides;
	int rc;

	if (proc < 0)
		proc = first;
	if ((unsigned int)proc < first || (unsigned int)proc > last)
		return cli_usage(t->cmd, "--proc-id %d: expected a worker's, %u to %u", proc, first, last);
	/* the first that lives; the owner's where none does */
	nb_sides = sides(t, side);
	for (unsigned int i = 0; i < nb_sides; i++) {
		unsigned int at = layout_ctl_index(proc, side[i]);
		struct ctl_block *one;

		rc = ctl_attach(t->shim, at, &one);
		if (rc < 0)
			return cli_fail(t->cmd, "worker %d: %s", proc, strerror(-rc));
		if (i > 0 && (ctl_owner_alive(t->shim, *b) || !ctl_owner_alive(t->shim, one)))
			continue;
		*index = at;
		*b = one;
	}
	return -1;
}

static size_t
put_word(char *args, size_t at, const char *word)
{
	size_t n = strlen(word) + 1;

	if (at + n >= CTL_ARGS)
		return at;
	memcpy(args + at, word, n);
	return at + n;
}

/* All pages of a list, printed as they come. *n counts pages with text. */
static int
list_pages(struct tools *t, unsigned int index, struct ctl_block *b, enum ctl_op op, const char *only, unsigned int *n)
{
	char args[CTL_ARGS], num[16], *text;
	uint32_t next = 0, before;
	int rc;

	text = shim_malloc(t->shim, PAGE);
	if (text == NULL)
		return cli_fail(t->cmd, "no memory");
	do {
		size_t len = put_word(args, 0, t->json ? "json" : "text");

		before = next;
		text[0] = '\0';
		snprintf(num, sizeof(num), "%u", next);
		len = put_word(args, len, num);
		if (only != NULL)
			len = put_word(args, len, only);
		rc = ctl_call(t->shim, b, op, args, len, text, PAGE, &next, TOOLS_TIMEOUT_MS);
		if (rc < 0)
			break;
		if (text[0] != '\0')
			fprintf(t->out, "%s%s", t->json && *n > 0 ? "," : "", text);
		else
			next = 0;
		*n += text[0] != '\0';
	} while (next > before); /* never back: what the owner says is not believed */
	rc = rc < 0 ? complain(t, index, b, rc, text) : -1;
	shim_free(t->shim, text);
	return rc;
}

int
tools_list(struct tools *t, int proc, const char *key, enum ctl_op op, enum ctl_op op2, const char *only)
{
	struct ctl_block *b;
	unsigned int index, n = 0;
	int rc = block_of(t, proc, &index, &b);

	if (rc >= 0)
		return rc;
	if (t->json)
		fprintf(t->out, "{\"worker\":%u,\"%s\":[", proc_of(index), key);
	rc = list_pages(t, index, b, op, only, &n);
	if (rc < 0 && op2 != CTL_NONE)
		rc = list_pages(t, index, b, op2, only, &n);
	if (t->json)
		fprintf(t->out, "]}\n");
	if (rc < 0 && n == 0 && only != NULL)
		return cli_fail(t->cmd, "worker %u: '%s' is not among its %s", proc_of(index), only, key);
	return rc < 0 ? CLI_OK : rc;
}

static int
order_one(struct tools *t, unsigned int index, struct ctl_block *b, enum ctl_op op, const char *const *words,
	unsigned int n)
{
	char args[CTL_ARGS], text[512] = "";
	size_t len = 0;
	int rc;

	for (unsigned int i = 0; i < n; i++)
		len = put_word(args, len, words[i]);
	rc = ctl_call(t->shim, b, op, args, len, text, sizeof(text), NULL, TOOLS_TIMEOUT_MS);
	return rc < 0 ? complain(t, index, b, rc, text) : CLI_OK;
}

int
tools_order(struct tools *t, int proc, enum ctl_op op, const char *const *words, unsigned int n)
{
	unsigned int index, done = 0, side[GEN_SIDES], nb_sides = sides(t, side);
	struct ctl_block *b;
	int rc;

	if (proc >= 0 && nb_sides == 1) {
		rc = block_of(t, proc, &index, &b);
		return rc >= 0 ? rc : order_one(t, index, b, op, words, n);
	}
	for (unsigned int i = 0; i < t->nb_workers * nb_sides; i++) {
		unsigned int one = t->first_proc + i / nb_sides;

		index = layout_ctl_index(one, side[i % nb_sides]);
		rc = ctl_attach(t->shim, index, &b);
		if (rc < 0 || !ctl_owner_alive(t->shim, b) || (proc >= 0 && one != (unsigned int)proc))
			continue;
		rc = order_one(t, index, b, op, words, n);
		if (rc != CLI_OK)
			return rc;
		done++;
	}
	return done > 0 ? CLI_OK : cli_fail(t->cmd, "no worker is running: start one with 'nonic serve'");
}

static int
port_mtu(struct tools *t, int port, const char *mtu)
{
	char num[16];
	const char *words[] = { num, mtu };
	struct ctl_block *b;
	int rc = ctl_attach(t->shim, CTL_PRIMARY, &b);

	if (rc < 0)
		return cli_fail(t->cmd, "the primary's block: %s", strerror(-rc));
	snprintf(num, sizeof(num), "%d", port);
	return order_one(t, CTL_PRIMARY, b, CTL_MTU_SET, words, 2);
}

int
tools_mtu(struct tools *t, int proc, const char *ifname, int port, unsigned long mtu)
{
	char num[24];
	const char *words[] = { ifname, num };
	uint16_t now = 0;
	int rc;

	snprintf(num, sizeof(num), "%lu", mtu);
	if (proc >= 0)
		return tools_order(t, proc, CTL_IF_MTU, words, 2);
	/* the software view never passes the port's: the port grows first, and shrinks last */
	rc = shim_port_mtu_get(t->shim, port, &now);
	if (rc < 0)
		return cli_fail(t->cmd, "port %d: its MTU can not be read: %s", port, strerror(-rc));
	if (mtu > now) {
		rc = port_mtu(t, port, num);
		return rc != CLI_OK ? rc : tools_order(t, -1, CTL_IF_MTU, words, 2);
	}
	rc = tools_order(t, -1, CTL_IF_MTU, words, 2);
	return rc != CLI_OK ? rc : port_mtu(t, port, num);
}

static const char *
state_name(uint32_t state)
{
	static const char *const name[] = { "none", "starting", "running", "stopping" };

	return state < 4 ? name[state] : "?";
}

static unsigned int
busy_percent(const struct ctl_block *b)
{
	uint64_t all = b->cycles_busy + b->cycles_idle;

	return all == 0 ? 0 : (unsigned int)(b->cycles_busy * 100.0 / all + 0.5);
}

static void
status_json(struct tools *t, unsigned int index, const struct ctl_block *b, bool alive)
{
	unsigned int n = 0;

	if (index == CTL_PRIMARY)
		fprintf(t->out, "{\"pid\":%u,\"state\":\"%s\",\"alive\":%s,\"turns\":%llu,", b->owner.pid,
			state_name(b->state), alive ? "true" : "false", (unsigned long long)b->turns);
	else
		fprintf(t->out, "{\"worker\":%u,\"generation\":%u,\"pid\":%u,\"state\":\"%s\",\"alive\":%s,\"turns\":%llu,"
			"\"idle_turns\":%llu,\"busy_percent\":%u,\"rx_packets\":%llu,\"rx_bytes\":%llu,\"tx_packets\":%llu,\"tx_bytes\":%llu,"
			"\"rx_dropped\":%llu,\"tx_dropped\":%llu,", proc_of(index), generation_of(t, index), b->owner.pid,
			state_name(b->state), alive ? "true" : "false", (unsigned long long)b->turns, (unsigned long long)b->idle_turns,
			busy_percent(b), (unsigned long long)b->rx_packets, (unsigned long long)b->rx_bytes,
			(unsigned long long)b->tx_packets, (unsigned long long)b->tx_bytes,
			(unsigned long long)b->rx_dropped, (unsigned long long)b->tx_dropped);
	fprintf(t->out, "\"pool_size\":%llu,\"pool_free\":%llu,\"drops\":{", (unsigned long long)b->pool_size,
		(unsigned long long)b->pool_avail);
	for (unsigned int i = 0; i < STACK_DROP_COUNT && i < 256; i++)
		if (b->drops[i] != 0)
			fprintf(t->out, "%s\"%s\":%llu", n++ > 0 ? "," : "", stack_drop_name(i),
				(unsigned long long)b->drops[i]);
	fprintf(t->out, "}}");
}

static void
status_text(struct tools *t, unsigned int index, const struct ctl_block *b, bool alive)
{
	char name[48];

	who(t, index, name, sizeof(name));
	if (!alive) {
		fprintf(t->out, "%-12s not running\n", index == CTL_PRIMARY ? "primary" : name);
		return;
	}
	fprintf(t->out, "%-12s %s, pid %u, %llu turns", index == CTL_PRIMARY ? "primary" : name, state_name(b->state),
		b->owner.pid, (unsigned long long)b->turns);
	fprintf(t->out, ", pool %llu of %llu free\n", (unsigned long long)b->pool_avail, (unsigned long long)b->pool_size);
	if (index == CTL_PRIMARY)
		return;
	fprintf(t->out, "  rx %llu packets %llu bytes, %llu dropped; tx %llu packets %llu bytes, %llu dropped; busy %u %%\n",
		(unsigned long long)b->rx_packets, (unsigned long long)b->rx_bytes, (unsigned long long)b->rx_dropped,
		(unsigned long long)b->tx_packets, (unsigned long long)b->tx_bytes, (unsigned long long)b->tx_dropped,
		busy_percent(b));
	for (unsigned int i = 0; i < STACK_DROP_COUNT && i < 256; i++)
		if (b->drops[i] != 0)
			fprintf(t->out, "  %10llu dropped: %s (%s)\n", (unsigned long long)b->drops[i], stack_drop_text(i),
				stack_drop_name(i));
}

static void
status_one(struct tools *t, unsigned int index, struct ctl_block *b)
{
	bool alive = ctl_owner_alive(t->shim, b);

	if (t->json)
		status_json(t, index, b, alive);
	else
		status_text(t, index, b, alive);
}

/* Worker proc: those who live, on both sides; the owner's place where none does. */
static void
status_worker(struct tools *t, unsigned int proc, unsigned int *n)
{
	unsigned int side[GEN_SIDES], nb_sides = sides(t, side), alive = 0;
	struct ctl_block *b[GEN_SIDES];
	bool live[GEN_SIDES];

	for (unsigned int i = 0; i < nb_sides; i++) {
		if (ctl_attach(t->shim, layout_ctl_index(proc, side[i]), &b[i]) < 0)
			return;
		live[i] = ctl_owner_alive(t->shim, b[i]) == 1;
		alive += live[i];
	}
	for (unsigned int i = 0; i < nb_sides; i++) {
		if (!live[i] && (alive > 0 || i > 0))
			continue;
		if (t->json && (*n)++ > 0)
			fprintf(t->out, ",");
		status_one(t, layout_ctl_index(proc, side[i]), b[i]);
	}
}

static void
status_master(struct tools *t)
{
	struct ctl_block *b;
	bool alive = ctl_attach(t->shim, CTL_MASTER, &b) == 0 && ctl_owner_alive(t->shim, b);

	if (t->json && alive)
		fprintf(t->out, ",\"master\":{\"pid\":%u,\"state\":\"%s\",\"turns\":%llu}", b->owner.pid, state_name(b->state),
			(unsigned long long)b->turns);
	else if (t->json)
		fprintf(t->out, ",\"master\":null");
	else if (alive)
		fprintf(t->out, "%-12s %s, pid %u, %llu turns\n", "master", state_name(b->state), b->owner.pid,
			(unsigned long long)b->turns);
}

int
tools_status(struct tools *t)
{
	struct ctl_block *primary;
	unsigned int n = 0;
	int rc = ctl_attach(t->shim, CTL_PRIMARY, &primary);

	if (rc < 0)
		return cli_fail(t->cmd, "the primary's block: %s", strerror(-rc));
	if (t->json)
		fprintf(t->out, "{\"primary\":");
	status_one(t, CTL_PRIMARY, primary);
	status_master(t);
	if (t->json)
		fprintf(t->out, ",\"workers\":[");
	for (unsigned int i = 0; i < t->nb_workers; i++)
		status_worker(t, t->first_proc + i, &n);
	n = 0;
	if (t->json)
		fprintf(t->out, "],\"ports\":[");
	rc = -1;
	if (ctl_owner_alive(t->shim, primary))
		rc = list_pages(t, CTL_PRIMARY, primary, CTL_PORT_LIST, NULL, &n);
	if (t->json)
		fprintf(t->out, "]}\n");
	return rc < 0 ? CLI_OK : rc;
}

/* ---- the master -------------------------------------------------------------------------------- */

/* The master's block. Exit code, or -1. */
static int
master_of(struct tools *t, struct ctl_block **b)
{
	int rc = ctl_attach(t->shim, CTL_MASTER, b);

	if (rc == -ENOENT)
		return cli_fail(t->cmd, "this test bed has no generations: set [dpdk] graceful_reload=1 and primary_slim=1");
	if (rc < 0)
		return cli_fail(t->cmd, "the master's block: %s", strerror(-rc));
	if (!ctl_owner_alive(t->shim, *b))
		return cli_fail(t->cmd, "no master is running: start one with 'nonic serve' (without -p)");
	return -1;
}

static int
ask_master(struct tools *t, struct ctl_block *b, enum ctl_op op, const char *const *words, char *text, size_t n)
{
	char args[CTL_ARGS];
	size_t len = 0;

	text[0] = '\0';
	for (; words != NULL && *words != NULL; words++)
		len = put_word(args, len, *words);
	return ctl_call(t->shim, b, op, args, len, text, n, NULL, TOOLS_TIMEOUT_MS);
}

/* {"outcome":"begun"}; of a failure with its reason, beside the message on stderr. */
static void
outcome_json(struct tools *t, const char *outcome, const char *reason)
{
	char buf[4096];
	struct text x;

	if (!t->json)
		return;
	text_init(&x, buf, sizeof(buf));
	text_add(&x, "{\"outcome\":\"%s\"", outcome);
	if (reason != NULL) {
		text_add(&x, ",\"reason\":");
		text_json(&x, reason);
	}
	text_add(&x, "}\n");
	fputs(buf, t->out);
}

/* What the master said no to, or why it said nothing. */
static int
no_answer(struct tools *t, struct ctl_block *b, int rc, const char *text)
{
	bool silent = rc == -ETIMEDOUT || rc == -ESRCH;

	outcome_json(t, silent ? "unknown" : "rejected", text[0] != '\0' ? text : strerror(-rc));
	return complain(t, CTL_MASTER, b, rc, text);
}

/* How it went, once it is over. */
static int
reload_outcome(struct tools *t, struct ctl_block *b, const char *number)
{
	const char *words[] = { "outcome", number, t->json ? "json" : NULL, NULL };
	char text[2048];
	int rc;

	/* the master bounds every step of a reload: it ends, or the master does */
	do {
		shim_sleep_ns(t->shim, TOOLS_STEP_NS);
		rc = ask_master(t, b, CTL_RELOAD_STATUS, words, text, sizeof(text));
	} while (rc == -EAGAIN);
	if (rc < 0 && rc != -ECANCELED)
		return no_answer(t, b, rc, text);
	if (rc == -ECANCELED && !t->json)
		return cli_fail(t->cmd, "%s", text);
	fprintf(t->out, "%s\n", text);
	return rc == 0 ? CLI_OK : CLI_FAILED;
}

int
tools_reload(struct tools *t, bool wait)
{
	char number[32], text[1024];
	struct ctl_block *b;
	int rc = master_of(t, &b);

	if (rc >= 0)
		return rc;
	rc = ask_master(t, b, CTL_RELOAD, NULL, text, sizeof(text));
	if (rc < 0)
		return no_answer(t, b, rc, text);
	if (!wait) {
		outcome_json(t, "begun", NULL);
		return CLI_OK;
	}
	snprintf(number, sizeof(number), "%.20s", text);
	return reload_outcome(t, b, number);
}

int
tools_quit(struct tools *t, bool wait)
{
	struct ctl_block *b;
	char text[1024];
	int rc = master_of(t, &b);

	if (rc >= 0)
		return rc;
	rc = ask_master(t, b, CTL_QUIT, NULL, text, sizeof(text));
	if (rc < 0)
		return no_answer(t, b, rc, text);
	while (wait && ctl_owner_alive(t->shim, b))
		shim_sleep_ns(t->shim, TOOLS_STEP_NS);
	outcome_json(t, wait ? "stopped" : "begun", NULL);
	return CLI_OK;
}

int
tools_reload_status(struct tools *t)
{
	const char *words[] = { t->json ? "json" : "text", NULL };
	struct ctl_block *b;
	char text[4096];
	int rc = master_of(t, &b);

	if (rc >= 0)
		return rc;
	rc = ask_master(t, b, CTL_RELOAD_STATUS, words, text, sizeof(text));
	if (rc < 0)
		return complain(t, CTL_MASTER, b, rc, text);
	fputs(text, t->out);
	return CLI_OK;
}
