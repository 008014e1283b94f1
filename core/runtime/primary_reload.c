/* SPDX-License-Identifier: BSD-3-Clause */
/* What two generations of workers share (graceful_reload=1): generation directory, publish tables, drain and relay rings. */
#include <errno.h>
#include <string.h>

#include "../dispatch/pub_table.h"
#include "../reload/gen_dir.h"
#include "primary_priv.h"

struct primary_reload {
	bool gen;                /* the directory is there */
	unsigned int nb_tables;  /* made so far: lane * sides + side */
	unsigned int nb_rings;
	struct shim_ring_end ring[]; /* drain and relay, of each port, lane and side */
};

static int
table_make(struct primary *p, unsigned int lane, unsigned int side)
{
	uint32_t entries = p->cfg->publish_entries;
	size_t size = pub_table_size(entries);
	char name[SHIM_NAME_MAX];
	void *addr;
	int rc;

	layout_pub_name(lane, side, name);
	rc = shim_zone_reserve(p->shim, name, size, &addr);
	if (rc == 0) {
		p->reload->nb_tables++;
		rc = pub_table_init(p->shim, addr, entries, p->dir->boot_id);
	}
	if (rc < 0)
		shim_log(p->shim, SHIM_LOG_ERR, "publish table %s of %u flows (%zu KB): %s", name, entries, size >> 10,
			strerror(-rc));
	return rc;
}

static int
ring_make(struct primary *p, const char *name)
{
	struct primary_reload *r = p->reload;
	int rc = primary_ring_make(p, name, p->cfg->drain_ring_size, &r->ring[r->nb_rings]);

	if (rc == 0)
		r->nb_rings++;
	return rc;
}

/* Rings of one lane on every port that its worker polls. */
static int
lane_make(struct primary *p, unsigned int lane, unsigned int side)
{
	char name[SHIM_NAME_MAX];
	int rc = table_make(p, lane, side);

	for (unsigned int i = 0; rc == 0 && i < p->nb_ports; i++) {
		uint16_t port = p->port[i].port;

		if (config_port_queue(p->cfg, port, p->first_proc + lane) < 0)
			continue;
		layout_drain_name(port, lane, side, name);
		rc = ring_make(p, name);
		layout_relay_name(port, lane, side, name);
		if (rc == 0)
			rc = ring_make(p, name);
	}
	return rc;
}

int
primary_reload_setup(struct primary *p)
{
	unsigned int rings = p->nb_ports * p->nb_workers * GEN_SIDES * 2;
	struct gen_dir *gen;
	int rc;

	if (!p->cfg->graceful_reload)
		return 0;
	p->reload = shim_malloc(p->shim, sizeof(*p->reload) + rings * sizeof(p->reload->ring[0]));
	if (p->reload == NULL) {
		shim_log(p->shim, SHIM_LOG_ERR, "no memory for the primary");
		return -ENOMEM;
	}
	rc = gen_dir_create(p->shim, p->nb_workers, p->dir->boot_id, &gen);
	if (rc < 0) {
		shim_log(p->shim, SHIM_LOG_ERR, "zone %s: %s", GEN_ZONE, strerror(-rc));
		return rc;
	}
	p->reload->gen = true;
	for (unsigned int i = 0; rc == 0 && i < p->nb_workers * GEN_SIDES; i++)
		rc = lane_make(p, i / GEN_SIDES, i % GEN_SIDES);
	return rc;
}

void
primary_reload_undo(struct primary *p)
{
	struct primary_reload *r = p->reload;
	char name[SHIM_NAME_MAX];

	if (r == NULL)
		return;
	for (unsigned int i = 0; i < r->nb_rings; i++)
		primary_ring_end(p, &r->ring[i]);
	for (unsigned int i = 0; i < r->nb_tables; i++) {
		layout_pub_name(i / GEN_SIDES, i % GEN_SIDES, name);
		shim_zone_free(p->shim, name);
	}
	if (r->gen)
		shim_zone_free(p->shim, GEN_ZONE);
	shim_free(p->shim, r);
	p->reload = NULL;
}
