/* SPDX-License-Identifier: BSD-3-Clause */
/* Who polls what, from the configuration. */
#include "layout.h"

#include <stdio.h>

void
layout_ring_name(uint16_t port, unsigned int queue, char name[SHIM_NAME_MAX])
{
	snprintf(name, SHIM_NAME_MAX, "nonic_dq_%u_%u", port, queue);
}

void
layout_file_prefix(const struct nonic_config *cfg, char *buf, size_t n)
{
	if (cfg->file_prefix != NULL)
		snprintf(buf, n, "container-%s", cfg->file_prefix);
	else
		snprintf(buf, n, "rte");
}
