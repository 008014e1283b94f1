/* SPDX-License-Identifier: BSD-3-Clause */
/* The mock's scripts and its record of what was called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "priv.h"

enum mock_kind { MOCK_INT, MOCK_PTR, MOCK_UINT, MOCK_VOID };

struct mock_op_fact {
	const char *name;
	enum mock_kind kind;
	bool logged;
};

static const struct mock_op_fact op_facts[MOCK_OP_COUNT] = {
#define MOCK_OP_FACT(name, kind, logged) { #name, MOCK_##kind, logged },
	MOCK_OPS(MOCK_OP_FACT)
#undef MOCK_OP_FACT
};

const char *
mock_op_name(enum mock_op op)
{
	return op_facts[op].name;
}

static void
log_call(struct mock_state *st, enum mock_op op, const char *text)
{
	size_t room = sizeof(st->log) - st->log_len;
	int n = snprintf(st->log + st->log_len, room, "%s%s(%s)", st->log_len > 0 ? " " : "",
		op_facts[op].name, text != NULL ? text : "");

	if (n > 0)
		st->log_len += (size_t)n < room ? (size_t)n : room - 1;
}

/* Takes the op's next queued answer; true if it says what to return. */
static bool
take_answer(struct mock_script *sc, int64_t *answer)
{
	struct mock_answer *a = sc->answers;
	bool real;

	if (a == NULL)
		return false;
	sc->answers = a->next;
	*answer = a->value;
	real = a->real;
	free(a);
	return !real;
}

bool
mock_enter(struct shim *s, enum mock_op op, const char *text, int64_t *answer)
{
	struct mock_state *st = mock_of(s);
	struct mock_script *sc = &st->script[op];
	int err = sc->fail_all;

	sc->calls++;
	if (sc->logged)
		log_call(st, op, text);
	if (sc->hook != NULL)
		sc->hook(s, op, sc->hook_arg);
	if (sc->fail_in > 0 && --sc->fail_in == 0)
		err = sc->fail_err;
	if (err != 0) {
		*answer = op_facts[op].kind == MOCK_INT ? -err : 0;
		return true;
	}
	return take_answer(sc, answer);
}

void
mock_fail(struct shim *s, enum mock_op op, unsigned int nth, int err)
{
	mock_of(s)->script[op].fail_in = nth;
	mock_of(s)->script[op].fail_err = err;
}

void
mock_fail_all(struct shim *s, enum mock_op op, int err)
{
	mock_of(s)->script[op].fail_all = err;
}

static void
queue_answer(struct shim *s, enum mock_op op, bool real, int64_t value)
{
	struct mock_answer **link = &mock_of(s)->script[op].answers;
	struct mock_answer *a = mock_xcalloc(1, sizeof(*a));

	a->real = real;
	a->value = value;
	while (*link != NULL)
		link = &(*link)->next;
	*link = a;
}

void
mock_return(struct shim *s, enum mock_op op, int64_t value)
{
	queue_answer(s, op, false, value);
}

void
mock_return_real(struct shim *s, enum mock_op op, unsigned int n)
{
	while (n-- > 0)
		queue_answer(s, op, true, 0);
}

void
mock_hook(struct shim *s, enum mock_op op, void (*fn)(struct shim *s, enum mock_op op, void *arg),
	void *arg)
{
	mock_of(s)->script[op].hook = fn;
	mock_of(s)->script[op].hook_arg = arg;
}

void
mock_script_clear(struct shim *s)
{
	struct mock_script *sc;
	int64_t ignored;
	int op;

	for (op = 0; op < MOCK_OP_COUNT; op++) {
		sc = &mock_of(s)->script[op];
		while (sc->answers != NULL)
			take_answer(sc, &ignored);
		sc->fail_in = 0;
		sc->fail_all = 0;
		sc->hook = NULL;
	}
}

void
mock_fail_malloc_at(struct shim *s, unsigned int k)
{
	mock_fail(s, MOCK_OP_malloc, k, 12); /* any errno: malloc's failure is NULL */
}

void
mock_fail_buf_at(struct shim *s, unsigned int k)
{
	mock_fail(s, MOCK_OP_buf_alloc, k, 12);
}

unsigned int
mock_calls(const struct shim *s, enum mock_op op)
{
	return mock_of(s)->script[op].calls;
}

const char *
mock_log(const struct shim *s)
{
	return mock_of(s)->log;
}

void
mock_log_clear(struct shim *s)
{
	struct mock_state *st = mock_of(s);
	int op;

	st->log[0] = '\0';
	st->log_len = 0;
	for (op = 0; op < MOCK_OP_COUNT; op++)
		st->script[op].calls = 0;
}

void
mock_log_op(struct shim *s, enum mock_op op, bool on)
{
	mock_of(s)->script[op].logged = on;
}

struct shim_ops *
mock_ops(struct shim *s)
{
	return &((struct mock_door *)s)->ops;
}

/* Sets the ops' default of being logged; called once, by mock_shim_new. */
void
mock_script_init(struct mock_state *st)
{
	int op;

	for (op = 0; op < MOCK_OP_COUNT; op++)
		st->script[op].logged = op_facts[op].logged;
}
