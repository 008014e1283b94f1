/* SPDX-License-Identifier: BSD-3-Clause */
/* Who polls what, from the configuration. */
#include "layout.h"

#include <stdio.h>

void
layout_ring_name(uint16_t port, unsigned int from, unsigned int to, char name[SHIM_NAME_MAX])
{
	snprintf(name, SHIM_NAME_MAX, "nonic_dq_%u_%u_%u", port, from, to);
}

void
layout_drain_name(uint16_t port, unsigned int lane, unsigned int side, char name[SHIM_NAME_MAX])
{
	snprintf(name, SHIM_NAME_MAX, "nonic_dr_%u_%u_%u", port, lane, side);
}

void
layout_relay_name(uint16_t port, unsigned int lane, unsigned int side, char name[SHIM_NAME_MAX])
{
	snprintf(name, SHIM_NAME_MAX, "nonic_rl_%u_%u_%u", port, lane, side);
}

void
layout_pub_name(unsigned int lane, unsigned int side, char name[SHIM_NAME_MAX])
{
	snprintf(name, SHIM_NAME_MAX, "nonic_pub_%u_%u", lane, side);
}

void
layout_file_prefix(const struct nonic_config *cfg, char *buf, size_t n)
{
	if (cfg->file_prefix != NULL)
		snprintf(buf, n, "container-%s", cfg->file_prefix);
	else
		snprintf(buf, n, "rte");
}
