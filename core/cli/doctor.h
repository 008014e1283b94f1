/* SPDX-License-Identifier: BSD-3-Clause */
/* nonic doctor (TST-6): why a test bed does not work on this machine, and the command that mends it. */
#ifndef NONIC_CLI_DOCTOR_H
#define NONIC_CLI_DOCTOR_H

#include "../config/config.h"
#include "machine.h"

enum doctor_level { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_finding {
	enum doctor_level level;
	const char *id;          /* "hugepages" */
	char text[320];          /* what is there, or what is missing */
	char fix[320];           /* the command or edit that mends it; "" with DOCTOR_OK */
};

#define DOCTOR_MAX 64u

struct doctor {
	const struct machine *m;
	unsigned int n;
	struct doctor_finding f[DOCTOR_MAX];
};

/* Looks at the machine, and at cfg when it is not NULL. */
void doctor_run(struct doctor *d, const struct machine *m, const struct nonic_config *cfg);
void doctor_add(struct doctor *d, enum doctor_level level, const char *id, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
bool doctor_failed(const struct doctor *d);
/* The first failure, for a command that can not start; NULL: none. */
const struct doctor_finding *doctor_first_failure(const struct doctor *d);
/* What cfg needs of the machine before a primary starts; alone: no other process has to attach. */
void doctor_preflight(struct doctor *d, const struct machine *m, const struct nonic_config *cfg, bool alone);

#endif
