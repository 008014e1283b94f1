/* SPDX-License-Identifier: BSD-3-Clause */
/* What nonic serve's two halves share: the worker's (cmd_serve.c) and the master's (cmd_serve_master.c). */
#ifndef NONIC_CLI_CMD_SERVE_H
#define NONIC_CLI_CMD_SERVE_H

#include "bed.h"

struct serve_opts {
	const char *conf;
	bool proc_given, alone, stamp;
	unsigned int proc_id;
	uint32_t generation;          /* 0: not named */
	uint16_t echo_port, dns_port, http_port;
	uint32_t shutdown_timeout_ms; /* 0: the configuration's */
	uint32_t ready_timeout_ms, park_timeout_ms; /* 0: the default */
};

extern const struct cli_cmd serve_cmd;
/* The master's life; its exit code. */
int cmd_serve_master(const struct serve_opts *o);

#endif
