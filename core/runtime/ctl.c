/* SPDX-License-Identifier: BSD-3-Clause */
/* The directory and the control blocks: attaching, claiming, and the request mailbox. */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PID_BITS 22 /* Linux's PID_MAX_LIMIT is 2^22 */
#define CALL_STEP_NS 50000ull

uint64_t
ctl_proc_word(const struct shim_proc *p)
{
	if (p->pid == 0 || p->pid >= 1u << PID_BITS || p->start_time >= 1ull << (64 - PID_BITS))
		return 0;
	return p->start_time << PID_BITS | p->pid;
}

struct shim_proc
ctl_word_proc(uint64_t word)
{
	struct shim_proc p = { .pid = word & ((1u << PID_BITS) - 1), .start_time = word >> PID_BITS };

	return p;
}

static int
check_head(struct shim *s, const char *what, uint64_t magic, uint32_t version)
{
	if (magic != CTL_MAGIC) {
		shim_log(s, SHIM_LOG_ERR, "%s: not a control zone of nonic", what);
		return -EPROTO;
	}
	if (version != CTL_LAYOUT_VERSION) {
		shim_log(s, SHIM_LOG_ERR, "%s: layout version %u, this program speaks version %u: start "
			"primary and tools from one build", what, version, CTL_LAYOUT_VERSION);
		return -EPROTO;
	}
	return 0;
}

int
ctl_dir_attach(struct shim *s, struct ctl_dir **out)
{
	struct ctl_dir *d;
	size_t size;
	void *addr;
	int rc;

	rc = shim_zone_lookup(s, CTL_DIR_ZONE, &addr, &size);
	if (rc < 0)
		return rc;
	if (size < sizeof(*d))
		return -EPROTO;
	d = addr;
	/* acquire pairs with the primary's release: what is checked below was written before it */
	if (shim_load64(s, &d->ready, SHIM_ACQUIRE) != 1)
		return -EAGAIN;
	rc = check_head(s, CTL_DIR_ZONE, d->magic, d->layout_version);
	if (rc < 0)
		return rc;
	if (d->nb_workers == 0 || d->nb_workers >= CTL_MAX_PROCS || d->first_proc > 1 ||
	    d->nb_ports > SHIM_MAX_PORTS || d->boot_id == 0 || d->sides == 0 || d->sides > 2)
		return -EPROTO;
	*out = d;
	return 0;
}

void
ctl_block_name(unsigned int index, char name[SHIM_NAME_MAX])
{
	snprintf(name, SHIM_NAME_MAX, "nonic_ctl_%u", index);
}

int
ctl_attach(struct shim *s, unsigned int index, struct ctl_block **out)
{
	char name[SHIM_NAME_MAX];
	struct ctl_block *b;
	struct ctl_dir *d;
	size_t size;
	void *addr;
	int rc;

	if (index >= CTL_MAX_PROCS)
		return -EINVAL;
	rc = ctl_dir_attach(s, &d);
	if (rc < 0)
		return rc;
	ctl_block_name(index, name);
	rc = shim_zone_lookup(s, name, &addr, &size);
	if (rc < 0)
		return rc;
	if (size < sizeof(*b))
		return -EPROTO;
	b = addr;
	rc = check_head(s, name, b->magic, b->layout_version);
	if (rc < 0)
		return rc;
	if (b->boot_id != d->boot_id)
		return -EPROTO;
	*out = b;
	return 0;
}

int
ctl_block_create(struct shim *s, unsigned int index, uint64_t boot_id, struct ctl_block **out)
{
	char name[SHIM_NAME_MAX];
	struct ctl_block *b;
	void *addr;
	int rc;

	if (index >= CTL_MAX_PROCS)
		return -EINVAL;
	ctl_block_name(index, name);
	rc = shim_zone_reserve(s, name, sizeof(*b), &addr);
	if (rc < 0)
		return rc;
	b = addr;
	b->magic = CTL_MAGIC;
	b->layout_version = CTL_LAYOUT_VERSION;
	b->boot_id = boot_id;
	*out = b;
	return 0;
}

static int
word_alive(struct shim *s, uint64_t word)
{
	struct shim_proc p = ctl_word_proc(word);

	/* an error (no permission to look) is taken for alive: never break what may be in use */
	return shim_proc_alive(s, &p) != 0;
}

int
ctl_owner_alive(struct shim *s, const struct ctl_block *b)
{
	uint64_t word = shim_load64(s, &b->claim, SHIM_ACQUIRE);

	return word != 0 && word_alive(s, word);
}

int
ctl_claim(struct shim *s, struct ctl_block *b)
{
	struct shim_proc self = shim_self(s);
	uint64_t mine = ctl_proc_word(&self);
	uint64_t seen = shim_load64(s, &b->claim, SHIM_ACQUIRE);

	if (mine == 0)
		return -ERANGE;
	if (seen != 0 && word_alive(s, seen))
		return -EBUSY;
	/* acquire: what the last owner wrote is seen; release: the claim is seen before what follows */
	if (!shim_cas64(s, &b->claim, &seen, mine, SHIM_ACQ_REL))
		return -EBUSY;
	b->owner = self;
	b->result = -ECONNRESET;
	b->text_len = 0;
	b->next = 0;
	shim_store32(s, &b->quit, 0, SHIM_RELAXED);
	shim_store32(s, &b->reply, shim_load32(s, &b->request, SHIM_ACQUIRE), SHIM_RELEASE);
	shim_store32(s, &b->state, CTL_STARTING, SHIM_RELEASE);
	return 0;
}

void
ctl_state_set(struct shim *s, struct ctl_block *b, enum ctl_state state)
{
	shim_store32(s, &b->state, state, SHIM_RELEASE);
}

void
ctl_release(struct shim *s, struct ctl_block *b)
{
	shim_store32(s, &b->state, CTL_FREE, SHIM_RELEASE);
	shim_store64(s, &b->claim, 0, SHIM_RELEASE);
}

bool
ctl_reap(struct shim *s, struct ctl_block *b)
{
	uint64_t seen = shim_load64(s, &b->claim, SHIM_ACQUIRE);

	if (seen == 0 || word_alive(s, seen))
		return false;
	/* a successor may be faster: then the block is its own and stays so */
	if (!shim_cas64(s, &b->claim, &seen, 0, SHIM_ACQ_REL))
		return false;
	shim_store32(s, &b->state, CTL_FREE, SHIM_RELEASE);
	return true;
}

uint32_t
ctl_mark_next(struct shim *s, struct ctl_dir *d)
{
	uint32_t mark;

	do {
		/* relaxed: only that nobody else gets the number matters */
		mark = (shim_fetch_add32(s, &d->next_mark, 1, SHIM_RELAXED) + 1) & SHIM_BUF_MARK_MAX;
	} while (mark == 0);
	return mark;
}

void
ctl_mark_set(struct shim *s, struct ctl_block *b, uint32_t mark)
{
	shim_store32(s, &b->cache_id, shim_cache_id(s), SHIM_RELAXED);
	/* release: the cache is known before the mark says that there is something to sweep */
	shim_store32(s, &b->owner_mark, mark, SHIM_RELEASE);
}

/* Under `sweeper`. */
static int
sweep_locked(struct shim *s, struct ctl_block *b, struct shim_pool *pool, uint64_t mine)
{
	/* acquire: pairs with the claim; a successor that claims from here on waits for `sweeper` before it takes a buffer */
	uint64_t owner = shim_load64(s, &b->claim, SHIM_ACQUIRE);
	uint32_t mark = shim_load32(s, &b->owner_mark, SHIM_ACQUIRE);
	unsigned int n;

	if (mark == 0 || (owner != 0 && owner != mine && word_alive(s, owner)))
		return 0;
	n = shim_pool_sweep(s, pool, mark, shim_load32(s, &b->cache_id, SHIM_RELAXED));
	shim_store32(s, &b->owner_mark, 0, SHIM_RELEASE);
	return n;
}

int
ctl_sweep(struct shim *s, struct ctl_block *b, struct shim_pool *pool)
{
	struct shim_proc self = shim_self(s);
	uint64_t mine = ctl_proc_word(&self), seen = shim_load64(s, &b->sweeper, SHIM_ACQUIRE);
	int n;

	if (seen != 0 && word_alive(s, seen))
		return -EBUSY;
	/* acquire: what the last sweeper did is seen */
	if (!shim_cas64(s, &b->sweeper, &seen, mine, SHIM_ACQ_REL))
		return -EBUSY;
	n = sweep_locked(s, b, pool, mine);
	/* release: the sweep is over before another one begins */
	shim_store64(s, &b->sweeper, 0, SHIM_RELEASE);
	return n;
}

/* Takes the client lock, or breaks a dead client's. */
static int
lock_take(struct shim *s, struct ctl_block *b, uint64_t mine, uint64_t deadline)
{
	for (;;) {
		uint64_t seen = 0;

		if (shim_cas64(s, &b->lock, &seen, mine, SHIM_ACQ_REL))
			return 0;
		if (!word_alive(s, seen) && shim_cas64(s, &b->lock, &seen, mine, SHIM_ACQ_REL))
			return 0;
		if (shim_clock_ns(s) >= deadline)
			return -EBUSY;
		shim_sleep_ns(s, CALL_STEP_NS);
	}
}

/* Waits until reply is number. */
static int
reply_wait(struct shim *s, struct ctl_block *b, uint32_t number, uint64_t deadline)
{
	unsigned int n = 0;

	while (shim_load32(s, &b->reply, SHIM_ACQUIRE) != number) {
		if (n++ % 64 == 63 && !ctl_owner_alive(s, b))
			return -ESRCH;
		if (shim_clock_ns(s) >= deadline)
			return -ETIMEDOUT;
		shim_sleep_ns(s, CALL_STEP_NS);
	}
	return 0;
}

static int
call_locked(struct shim *s, struct ctl_block *b, enum ctl_op op, const char *args, size_t args_len,
	uint64_t deadline)
{
	uint32_t number = shim_load32(s, &b->request, SHIM_ACQUIRE);
	int rc;

	/* one that a client gave up on may still be in the owner's hands: its arguments must stay whole */
	rc = reply_wait(s, b, number, deadline);
	if (rc < 0)
		return rc;
	memset(b->args, 0, sizeof(b->args));
	if (args_len > 0)
		memcpy(b->args, args, args_len);
	b->op = op;
	/* release: op and args are seen before the number */
	shim_store32(s, &b->request, number + 1, SHIM_RELEASE);
	return reply_wait(s, b, number + 1, deadline);
}

int
ctl_call(struct shim *s, struct ctl_block *b, enum ctl_op op, const char *args, size_t args_len,
	char *text, size_t text_len, uint32_t *next, unsigned int timeout_ms)
{
	uint64_t deadline = shim_clock_ns(s) + (uint64_t)timeout_ms * 1000000u;
	struct shim_proc self = shim_self(s);
	uint64_t mine = ctl_proc_word(&self);
	size_t n;
	int rc;

	if (args_len >= CTL_ARGS)
		return -E2BIG;
	if (mine == 0)
		return -ERANGE;
	if (!ctl_owner_alive(s, b))
		return -ESRCH;
	rc = lock_take(s, b, mine, deadline);
	if (rc < 0)
		return rc;
	rc = call_locked(s, b, op, args, args_len, deadline);
	if (rc == 0) {
		/* each is read once: it may change while it is checked */
		rc = (int32_t)shim_load32(s, (uint32_t *)&b->result, SHIM_RELAXED);
		if (rc > 0)
			rc = -EPROTO;
		n = shim_load32(s, &b->text_len, SHIM_RELAXED);
		if (n > CTL_TEXT)
			n = CTL_TEXT;
		if (text != NULL && text_len > 0) {
			if (n >= text_len)
				n = text_len - 1;
			memcpy(text, b->text, n);
			text[n] = '\0';
		}
		if (next != NULL)
			*next = b->next;
	}
	shim_store64(s, &b->lock, 0, SHIM_RELEASE);
	return rc;
}

bool
ctl_poll(struct shim *s, struct ctl_block *b, struct ctl_request *r)
{
	uint32_t number = shim_load32(s, &b->request, SHIM_ACQUIRE), op;
	size_t at = 0;

	if (number == b->reply)
		return false;
	r->number = number;
	op = shim_load32(s, &b->op, SHIM_RELAXED); /* once: it may change while it is checked */
	r->op = op < CTL_OP_COUNT ? (enum ctl_op)op : CTL_NONE;
	memcpy(r->args, b->args, CTL_ARGS);
	r->args[CTL_ARGS] = '\0';
	r->nb_words = 0;
	while (r->nb_words < 8 && at < CTL_ARGS && r->args[at] != '\0') {
		r->word[r->nb_words++] = r->args + at;
		at += strlen(r->args + at) + 1;
	}
	return true;
}

void
ctl_answer(struct shim *s, struct ctl_block *b, const struct ctl_request *r, int result, const char *text,
	size_t len, uint32_t next)
{
	if (len > CTL_TEXT)
		len = CTL_TEXT;
	if (len > 0)
		memcpy(b->text, text, len);
	b->text_len = len;
	b->result = result;
	b->next = next;
	/* release: the answer is seen before its number */
	shim_store32(s, &b->reply, r->number, SHIM_RELEASE);
}
