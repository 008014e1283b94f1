/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and texts of the drop reasons. */
#include "drops.h"

/* Made from drops.h at build time: the identifiers in lower case. */
static const char *const names[STACK_DROP_COUNT] = {
#include "core/stack/drop_names.h"
};

static const char *const texts[STACK_DROP_COUNT] = {
#define X(id, text) text,
	STACK_DROPS(X)
#undef X
};

const char *
stack_drop_name(enum stack_drop r)
{
	return (unsigned int)r < STACK_DROP_COUNT ? names[r] : "?";
}

const char *
stack_drop_text(enum stack_drop r)
{
	return (unsigned int)r < STACK_DROP_COUNT ? texts[r] : "?";
}
