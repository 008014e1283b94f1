/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a script's expressions. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "run_priv.h"

const struct pd_expr *
run_arg(const struct pd_call *k, unsigned int n)
{
	const struct pd_expr *x = k->args;

	while (x != NULL && n-- > 0)
		x = x->next;
	return x;
}

const struct pd_expr *
run_member(const struct pd_expr *x, const char *name)
{
	if (x == NULL || x->kind != PD_X_STRUCT)
		return NULL;
	for (x = x->kids; x != NULL; x = x->next)
		if (x->name != NULL && strcmp(x->name, name) == 0)
			return x;
	return NULL;
}

/* -D NAME=VALUE: the value's text, or NULL. */
static const char *
defined(const struct run *r, const char *name)
{
	size_t n = strlen(name);

	for (const struct pd_option *o = r->script->options; o != NULL; o = o->next)
		if (strcmp(o->name, "define") == 0 && o->value != NULL && strncmp(o->value, name, n) == 0 && o->value[n] == '=')
			return o->value + n + 1;
	return NULL;
}

static bool
word(struct run *r, const struct pd_expr *x, int64_t *v)
{
	const char *text = defined(r, x->text);
	char *end;

	if (text != NULL) {
		*v = strtoll(text, &end, 0);
		if (*text != '\0' && *end == '\0')
			return true;
	} else {
		text = x->text;
	}
	/* the two names that scripts for both families use */
	if (r->conf.family == ADDR_INET6 && strcmp(text, "CMSG_LEVEL_IP") == 0)
		text = "SOL_IPV6";
	if (r->conf.family == ADDR_INET6 && strcmp(text, "CMSG_TYPE_RECVERR") == 0)
		text = "IPV6_RECVERR";
	return run_word(text, v) || run_skip(r, x->line, "%s is not known", x->text);
}

bool
run_num(struct run *r, const struct pd_expr *x, int64_t *v)
{
	int64_t one;

	if (x == NULL)
		return run_fail(r, 0, "an argument is missing");
	switch (x->kind) {
	case PD_X_INT:
		*v = x->num;
		return true;
	case PD_X_WORD:
		return word(r, x, v);
	case PD_X_OR:
		*v = 0;
		for (const struct pd_expr *k = x->kids; k != NULL; k = k->next) {
			if (!run_num(r, k, &one))
				return false;
			*v |= one;
		}
		return true;
	case PD_X_LIST:
		if (x->kids != NULL && x->kids->next == NULL)
			return run_num(r, x->kids, v);
		break;
	case PD_X_CALL:
		if (x->kids == NULL || x->kids->next != NULL)
			break;
		if (strcmp(x->text, "htons") == 0 || strcmp(x->text, "htonl") == 0)
			return run_num(r, x->kids, v); /* where it matters, the caller turns it */
		return run_skip(r, x->line, "%s() is not known", x->text);
	default:
		break;
	}
	return run_fail(r, x->line, "a number was expected in column %d", x->col);
}

static void
fill(const struct run *r, const union ip_addr *a, uint16_t port, struct sockaddr_storage *sa, socklen_t *len)
{
	struct sockaddr_in *in = (struct sockaddr_in *)sa;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)sa;

	memset(sa, 0, sizeof(*sa));
	if (r->conf.family == ADDR_INET && !r->conf.mapped) {
		*len = sizeof(*in);
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, a, 4);
		return;
	}
	*len = sizeof(*in6);
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(port);
	if (!r->conf.mapped) {
		memcpy(&in6->sin6_addr, a, 16);
		return;
	}
	memset(&in6->sin6_addr.s6_addr[10], 0xff, 2);
	memcpy(&in6->sin6_addr.s6_addr[12], a, 4);
}

/* inet_addr("1.2.3.4"), inet_pton(AF_INET6, "::1"), INADDR_ANY, a string, "..." */
static bool
host(struct run *r, const struct pd_expr *x, int af, const union ip_addr *dflt, void *to)
{
	const struct pd_expr *s = x;

	if (x->kind == PD_X_ELLIPSIS) {
		memcpy(to, dflt, af == AF_INET ? 4 : 16);
		return true;
	}
	if (x->kind == PD_X_CALL)
		for (s = x->kids; s != NULL && s->kind != PD_X_STRING && s->kind != PD_X_WORD; s = s->next)
			continue;
	if (x->kind == PD_X_CALL && s != NULL && s->kind == PD_X_WORD && s->next != NULL)
		s = s->next;
	if (s != NULL && s->kind == PD_X_WORD && (strcmp(s->text, "INADDR_ANY") == 0 || strcmp(s->text, "in6addr_any") == 0))
		return true;
	if (s != NULL && s->kind == PD_X_STRING && inet_pton(af, s->text, to) == 1)
		return true;
	return run_fail(r, x->line, "an address was expected in column %d", x->col);
}

static bool
port(struct run *r, const struct pd_expr *x, uint16_t dflt, uint16_t *to)
{
	int64_t v = dflt;

	if (x != NULL && x->kind != PD_X_ELLIPSIS && !run_num(r, x, &v))
		return false;
	*to = htons((uint16_t)v);
	return true;
}

bool
run_addr(struct run *r, const struct pd_expr *x, const union ip_addr *dflt, uint16_t dport, struct sockaddr_storage *sa,
	socklen_t *len)
{
	const struct pd_expr *fam, *a;
	struct sockaddr_in *in = (struct sockaddr_in *)sa;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)sa;
	int64_t af;

	*len = 0;
	memset(sa, 0, sizeof(*sa));
	if (x == NULL || x->kind == PD_X_ELLIPSIS) {
		fill(r, dflt, dport, sa, len);
		return true;
	}
	if (x->kind != PD_X_STRUCT) /* NULL, 0 */
		return run_num(r, x, &af) && (af == 0 || run_fail(r, x->line, "an address was expected in column %d", x->col));
	fam = run_member(x, "sa_family");
	if (fam == NULL)
		fam = run_member(x, "sin_family") != NULL ? run_member(x, "sin_family") : run_member(x, "sin6_family");
	if (fam == NULL)
		return run_fail(r, x->line, "an address without a family in column %d", x->col);
	if (!run_num(r, fam, &af))
		return false;
	sa->ss_family = (sa_family_t)af;
	if (af == AF_INET6) {
		*len = sizeof(*in6);
		a = run_member(x, "sin6_addr");
		return port(r, run_member(x, "sin6_port"), dport, &in6->sin6_port) && (a == NULL || host(r, a, AF_INET6, dflt,
			&in6->sin6_addr));
	}
	*len = sizeof(*in);
	a = run_member(x, "sin_addr");
	return port(r, run_member(x, "sin_port"), dport, &in->sin_port) && (a == NULL || host(r, a, AF_INET, dflt,
		&in->sin_addr));
}
