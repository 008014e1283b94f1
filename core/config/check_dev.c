/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about virtual and bonded ports (CFG-8): their number, and what each needs. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

/* Sections 0..count-1 and no others; without a count the sections are counted. */
static void
check_count(struct config_ctx *c, enum key_section s, const char *count_key, unsigned int *count)
{
	unsigned int i, max = config_sections[s].max + 1, n = 0;
	bool counted = !config_given(c, SECT_DPDK, 0, count_key), present;
	const char *name = config_sections[s].name;
	char section[64];

	for (i = 0; i < max; i++) {
		present = s == SECT_VDEV ? c->cfg->vdev[i].present : c->cfg->bond[i].present;
		if (present)
			n = i + 1;
	}
	if (config_bad(c, SECT_DPDK, 0, count_key))
		return;
	if (counted)
		*count = n;
	for (i = 0; i < max; i++) {
		present = s == SECT_VDEV ? c->cfg->vdev[i].present : c->cfg->bond[i].present;
		config_section_text(s, i, section, sizeof(section));
		if (present && i >= *count)
			config_msg(c, true, config_section_line(c, s, i), section, NULL, NULL,
				"[dpdk] %s = %u, so that the last one is [%s%d]; accepted: as many sections as %s", count_key,
				*count, name, (int)*count - 1, count_key);
		else if (!present && i < *count && counted)
			config_msg(c, true, config_section_line(c, s, n - 1), section, NULL, NULL,
				"missing below [%s%u]; accepted: numbers without a gap (see [dpdk] %s)", name, n - 1, count_key);
		else if (!present && i < *count)
			config_msg_key(c, true, SECT_DPDK, 0, count_key, "[%s%u] is missing; accepted: [%s0]..[%s%u]", name,
				i, name, name, *count - 1);
	}
}

static void
check_vdev(struct config_ctx *c, unsigned int i)
{
	static const char *const only_virtio[] = { "iface", "path", "queues", "queue_size", "mac", "cq" };
	const struct config_vdev *v = &c->cfg->vdev[i];
	char section[64];
	unsigned int j;

	config_section_text(SECT_VDEV, i, section, sizeof(section));
	if (config_bad(c, SECT_VDEV, i, "driver"))
		return;
	if (v->driver == VDEV_VIRTIO_USER) {
		if (!v->path && !config_given(c, SECT_VDEV, i, "path"))
			config_msg(c, true, config_section_line(c, SECT_VDEV, i), section, "path", NULL,
				"missing, while driver is virtio_user; accepted: the path of a vhost-user socket or device");
		return;
	}
	for (j = 0; j < sizeof(only_virtio) / sizeof(only_virtio[0]); j++)
		if (config_given(c, SECT_VDEV, i, only_virtio[j]))
			config_msg_key(c, false, SECT_VDEV, i, only_virtio[j],
				"ignored, because driver is not virtio_user; accepted: the driver's own arguments in args");
}

void
config_check_devices(struct config_ctx *c)
{
	char section[64];
	unsigned int i;

	check_count(c, SECT_VDEV, "nb_vdev", &c->cfg->nb_vdevs);
	check_count(c, SECT_BOND, "nb_bond", &c->cfg->nb_bonds);
	for (i = 0; i < CONFIG_MAX_VDEVS; i++)
		if (c->cfg->vdev[i].present)
			check_vdev(c, i);
	for (i = 0; i < CONFIG_MAX_BONDS; i++) {
		config_section_text(SECT_BOND, i, section, sizeof(section));
		if (c->cfg->bond[i].present && !c->cfg->bond[i].slave)
			config_msg(c, true, config_section_line(c, SECT_BOND, i), section, "slave", NULL,
				"missing; accepted: the members' device names");
	}
}
