/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrusive circular doubly linked lists. A node is in at most one list; an unlinked node points at itself. */
#ifndef NONIC_BASE_LIST_H
#define NONIC_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
	struct list *next, *prev;
};

#define list_entry(node, type, member) ((type *)((char *)(node) - offsetof(type, member)))
#define list_for_each(it, head) for ((it) = (head)->next; (it) != (head); (it) = (it)->next)
/* The current node may be removed (and freed) in the body; no other one may. */
#define list_for_each_safe(it, tmp, head) \
	for ((it) = (head)->next, (tmp) = (it)->next; (it) != (head); (it) = (tmp), (tmp) = (it)->next)

static inline void
list_init(struct list *n)
{
	n->next = n->prev = n;
}

static inline bool
list_empty(const struct list *n)
{
	return n->next == n;
}

static inline void
list_add_tail(struct list *head, struct list *n)
{
	n->prev = head->prev;
	n->next = head;
	head->prev->next = n;
	head->prev = n;
}

static inline void
list_add_head(struct list *head, struct list *n)
{
	list_add_tail(head->next, n);
}

/* Takes n out; n is then unlinked. Harmless on an unlinked node. */
static inline void
list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

/* Takes out and returns the first node, or NULL when the list is empty. */
static inline struct list *
list_pop(struct list *head)
{
	struct list *n = head->next;

	if (n == head)
		return NULL;
	list_del(n);
	return n;
}

#endif
