/* SPDX-License-Identifier: BSD-3-Clause */
/* The test of deaths over the posix backend: shared memory, no privileges. */
#include <stdio.h>
#include <unistd.h>

#include "../host/posix/posix.h"
#include "crash.h"

static int
bed_open(struct shim **out)
{
	char name[32];
	struct posix_opts o = { .bed = name };
	int rc;

	snprintf(name, sizeof(name), "crash-%d", (int)getpid());
	rc = posix_shim_create(&o, 0, out);
	if (rc != 0) {
		fprintf(stderr, "crash: no shared memory here: %d\n", rc);
		return 77;
	}
	return 0;
}

static struct shim *
bed_door(struct shim *primary, unsigned int id)
{
	struct shim *s;

	return posix_shim_door(primary, SHIM_ROLE_WORKER, id, &s) == 0 ? s : NULL;
}

const struct crash_backend crash_backend = { .open = bed_open, .door = bed_door, .close = posix_shim_close };
