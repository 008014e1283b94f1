/* SPDX-License-Identifier: BSD-3-Clause */
/* What a backend brings for the test of deaths: a bed whose memory forked children share. */
#ifndef NONIC_SHIM_CRASH_H
#define NONIC_SHIM_CRASH_H

#include "../shim.h"

struct crash_backend {
	/* 0; or 77 after a line on stderr that says why it can not run here. */
	int (*open)(struct shim **out);
	/* The door of a forked child, and whatever it needs to be a process of its own to pools; 1 .. 126. */
	struct shim *(*door)(struct shim *primary, unsigned int id);
	void (*close)(struct shim *primary);
};

extern const struct crash_backend crash_backend;

#endif
