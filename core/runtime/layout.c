/* SPDX-License-Identifier: BSD-3-Clause */
/* Who polls what, from the configuration. */
#include "layout.h"

#include <stdio.h>

void
layout_ring_name(uint16_t port, unsigned int queue, char name[SHIM_NAME_MAX])
{
	snprintf(name, SHIM_NAME_MAX, "nonic_dq_%u_%u", port, queue);
}
