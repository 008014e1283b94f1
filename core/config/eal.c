/* SPDX-License-Identifier: BSD-3-Clause */
/* The EAL's argument vector of a configuration (CFG-8). Only text is made here; nothing of the EAL is called. */
#include "keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const driver_names[] = { "virtio_user", "net_tap", "net_ring", "net_null", "net_pcap",
	"net_af_packet", "net_vhost" };

#define LCORE_PRIMARY 0u
#define LCORE_SIDE 63u
#define LCORE_OBSERVER 127u

/* Grows as it is filled; after a failed allocation adding does nothing. */
struct argvec {
	char **v;
	unsigned int n, cap;
	bool oom;
};

static void __attribute__((format(printf, 2, 3)))
add(struct argvec *a, const char *fmt, ...)
{
	char buf[CONFIG_TEXT_MAX + 64], **grown;
	va_list ap;

	if (a->oom)
		return;
	if (a->n + 1 >= a->cap) {
		grown = config_alloc((a->cap + 32) * sizeof(*grown));
		if (!grown) {
			a->oom = true;
			return;
		}
		if (a->n)
			memcpy(grown, a->v, a->n * sizeof(*grown));
		free(a->v);
		a->v = grown;
		a->cap += 32;
	}
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	a->v[a->n] = config_strndup(buf, strlen(buf));
	if (!a->v[a->n])
		a->oom = true;
	else
		a->n++;
}

/* Appends ",key=value" to a device string. */
static void __attribute__((format(printf, 3, 4)))
append(char *buf, size_t n, const char *fmt, ...)
{
	size_t at = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + at, n - at, fmt, ap);
	va_end(ap);
}

static void
add_vdev(struct argvec *a, const struct config_vdev *v, unsigned int i)
{
	char buf[CONFIG_TEXT_MAX] = "";

	if (v->driver == VDEV_VIRTIO_USER) {
		append(buf, sizeof(buf), ",path=%s,queues=%u,queue_size=%u", v->path, v->queues, v->queue_size);
		if (v->iface)
			append(buf, sizeof(buf), ",iface=%s", v->iface);
		if (v->mac)
			append(buf, sizeof(buf), ",mac=%s", v->mac);
		if (v->cq)
			append(buf, sizeof(buf), ",cq=1");
	}
	if (v->args)
		append(buf, sizeof(buf), ",%s", v->args);
	add(a, "--vdev=%s%u%s", driver_names[v->driver], i, buf);
}

static void
add_bond(struct argvec *a, const struct config_bond *b, unsigned int i)
{
	char buf[CONFIG_TEXT_MAX] = "";

	append(buf, sizeof(buf), ",mode=%u,slave=%s,socket_id=%u", b->mode, b->slave, b->socket_id);
	if (b->primary)
		append(buf, sizeof(buf), ",primary=%s", b->primary);
	if (b->mac)
		append(buf, sizeof(buf), ",mac=%s", b->mac);
	if (b->xmit_policy)
		append(buf, sizeof(buf), ",xmit_policy=%s", b->xmit_policy);
	if (b->lsc_poll_period_ms)
		append(buf, sizeof(buf), ",lsc_poll_period_ms=%u", b->lsc_poll_period_ms);
	if (b->up_delay)
		append(buf, sizeof(buf), ",up_delay=%u", b->up_delay);
	if (b->down_delay)
		append(buf, sizeof(buf), ",down_delay=%u", b->down_delay);
	add(a, "--vdev=net_bonding%u%s", i, buf);
}

static void
add_devices(struct argvec *a, const struct nonic_config *cfg, bool primary)
{
	const char *rest = cfg->allow;
	unsigned int i;
	char tok[64];

	if (cfg->nb_vdevs && !cfg->allow)
		add(a, "--no-pci");
	while (config_token(&rest, ',', tok, sizeof(tok))) {
		add(a, "-a");
		add(a, "%s", tok);
	}
	if (!primary)
		return;
	for (i = 0; i < cfg->nb_vdevs; i++)
		add_vdev(a, &cfg->vdev[i], i);
	for (i = 0; i < cfg->nb_bonds; i++)
		add_bond(a, &cfg->bond[i], i);
}

/* Splits at blanks; quotes of either kind keep them and are dropped. */
static void
add_extra(struct argvec *a, const char *p)
{
	char word[CONFIG_TEXT_MAX], quote = 0;
	bool in_word = false;
	size_t n = 0;

	for (; p && (*p || in_word); p++) {
		if (*p && n + 1 < sizeof(word) && (quote ? *p != quote : *p != ' ' && *p != '\t' && *p != '"' && *p != '\'')) {
			word[n++] = *p;
			in_word = true;
		} else if (*p && (*p == '"' || *p == '\'') && (!quote || *p == quote)) {
			quote = quote ? 0 : *p;
			in_word = true;
		} else if (in_word) {
			word[n] = '\0';
			add(a, "%s", word);
			in_word = false;
			n = 0;
			if (!*p)
				break;
		}
	}
}

static void
add_lcores(struct argvec *a, const struct nonic_config *cfg, unsigned int proc_id, enum config_eal_role role)
{
	unsigned int first = LCORE_PRIMARY;
	char list[CONFIG_TEXT_MAX] = "";

	if (role == CONFIG_EAL_OBSERVER)
		first = LCORE_OBSERVER;
	else if (role != CONFIG_EAL_PRIMARY)
		first = 1 + proc_id + (role == CONFIG_EAL_WORKER_SIDE1 ? LCORE_SIDE : 0);

	append(list, sizeof(list), "%u@%u", first, cfg->proc_lcore[cfg->thread_mode ? 0 : proc_id]);
	for (unsigned int i = 1; cfg->thread_mode && role == CONFIG_EAL_PRIMARY && i < cfg->nb_lcores; i++)
		append(list, sizeof(list), ",%u@%u", first + i, cfg->proc_lcore[i]);
	add(a, "--lcores=%s", list);
}

static bool
has_virtio_user(const struct nonic_config *cfg)
{
	for (unsigned int i = 0; i < cfg->nb_vdevs; i++)
		if (cfg->vdev[i].driver == VDEV_VIRTIO_USER)
			return true;
	return false;
}

int
config_eal_args(const struct nonic_config *cfg, const char *program, unsigned int proc_id,
	enum config_eal_role role, char ***argv, int *argc)
{
	bool primary = role == CONFIG_EAL_PRIMARY;
	struct argvec a = { 0 };

	*argv = NULL;
	*argc = 0;
	if (proc_id >= cfg->nb_lcores)
		return -EINVAL;
	add(&a, "%s", program);
	add_lcores(&a, cfg, proc_id, role);
	if (cfg->channel) {
		add(&a, "-n");
		add(&a, "%u", cfg->channel);
	}
	if (primary && (cfg->memory_mb || (cfg->graceful_reload && !cfg->no_huge))) {
		add(&a, "-m");
		add(&a, "%u", cfg->memory_mb ? cfg->memory_mb : CONFIG_RESERVE_MB);
	}
	if (cfg->no_huge)
		add(&a, "--no-huge");
	else if (primary && has_virtio_user(cfg))
		add(&a, "--single-file-segments"); /* a vhost-user peer maps few files */
	add(&a, "--proc-type=%s", primary ? "primary" : "secondary");
	if (cfg->file_prefix)
		add(&a, "--file-prefix=container-%s", cfg->file_prefix);
	if (cfg->base_virtaddr)
		add(&a, "--base-virtaddr=%s", cfg->base_virtaddr);
	if (cfg->eal_log_level)
		add(&a, "--log-level=%u", cfg->eal_log_level);
	add_devices(&a, cfg, primary);
	add_extra(&a, cfg->extra_eal_args);
	if (a.oom) {
		config_eal_args_free(a.v);
		return -ENOMEM;
	}
	*argv = a.v;
	*argc = (int)a.n;
	return 0;
}

void
config_eal_args_free(char **argv)
{
	char **p;

	for (p = argv; p && *p; p++)
		free(*p);
	free(argv);
}
