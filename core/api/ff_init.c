/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ff_init, ff_run, ff_stop_run: a process that serves its own ports. The one file of the API that knows which binding
 * it is compiled for: only DPDK's has a door that can be opened from a configuration.
 */
#include "api_priv.h"

#include <stdlib.h>
#include <string.h>

#ifdef NONIC_SHIM_DPDK
#include "../../shim/dpdk/eal.h"

/* The EAL of the configuration, as primary or as secondary; auto: primary for the first process. */
static int
door_open(const struct nonic_config *cfg, const char *program, struct shim **out)
{
	unsigned int proc_id = cfg->proc_id < 0 ? 0 : (unsigned int)cfg->proc_id;
	bool primary = cfg->proc_type == PROC_PRIMARY || (cfg->proc_type == PROC_AUTO && proc_id == 0);
	char **argv, **copy;
	int argc, rc;

	rc = config_eal_args(cfg, program, proc_id, primary ? CONFIG_EAL_PRIMARY : CONFIG_EAL_WORKER, &argv, &argc);
	if (rc != 0)
		return rc;
	/* the EAL moves the pointers about and repeats one: what is freed is not what it was given */
	copy = calloc((size_t)argc + 1, sizeof(*copy));
	if (copy != NULL) {
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
		rc = shim_dpdk_open(argc, copy, primary ? SHIM_ROLE_PRIMARY : SHIM_ROLE_WORKER, proc_id, out);
	}
	if (copy == NULL || rc < 0)
		fprintf(stderr, "ff_init: the EAL did not start; 'nonic doctor --conf %s' looks for the reason\n", cfg->file);
	free(copy);
	config_eal_args_free(argv);
	return copy == NULL ? -ENOMEM : rc;
}

static void
door_close(struct shim *s)
{
	shim_dpdk_close(s);
}
#else
static int
door_open(const struct nonic_config *cfg, const char *program, struct shim **out)
{
	(void)cfg;
	(void)program;
	(void)out;
	return -ENOTSUP; /* a host door is made by its test or simulator, which sets the instance */
}

static void
door_close(struct shim *s)
{
	(void)s;
}
#endif

static void
say(const struct config_messages *msgs)
{
	unsigned int i;

	for (i = 0; i < msgs->n; i++)
		fprintf(stderr, "%s: %s\n", msgs->m[i].error ? "error" : "warning", msgs->m[i].text);
}

static int
config_get(int argc, char *const argv[], struct nonic_config *cfg)
{
	struct config_messages msgs = { 0 };
	struct config_args args;
	int rc = config_args_parse(argc, argv, &args, &msgs);

	say(&msgs);
	config_messages_free(&msgs);
	memset(cfg, 0, sizeof(*cfg));
	if (rc != 0)
		return rc;
	rc = config_load(args.conf, 0, cfg, &msgs);
	if (rc == 0)
		rc = config_apply_args(cfg, &args, &msgs);
	say(&msgs);
	config_messages_free(&msgs);
	return rc;
}

static int
init(int argc, char *const argv[])
{
	struct nonic_config cfg;
	struct ff_instance *in = NULL;
	struct shim *s = NULL;
	int rc = config_get(argc, argv, &cfg);

	if (rc == 0)
		rc = door_open(&cfg, argc > 0 ? argv[0] : "nonic", &s);
	if (rc == 0) {
		rc = ff_instance_open(s, &cfg, &in);
		if (rc != 0)
			door_close(s);
	}
	config_free(&cfg);
	if (rc != 0)
		return rc;
	ff_instance_set(in);
	return 0;
}

int
ff_init(int argc, char *const argv[])
{
	int rc;

	if (ff_instance_current() != NULL)
		return 0; /* the simulator has made one for this process */
	rc = init(argc, argv);
	if (rc == 0)
		return 0;
	fprintf(stderr, "ff_init: %s\n", strerror(-rc));
	exit(EXIT_FAILURE);
}

void
ff_run(loop_func_t loop, void *arg)
{
	struct ff_instance *in = ff_instance_current();

	if (in == NULL)
		return;
	if (in->own_cfg == NULL) { /* somebody else turns the worker: ff_instance_loop calls loop */
		in->loop = loop;
		in->loop_arg = arg;
		return;
	}
	ff_instance_run(in, loop, arg);
	door_close(ff_instance_close(in));
}

void
ff_stop_run(void)
{
	struct ff_instance *in = ff_instance_current();

	if (in != NULL)
		in->stop = 1;
}
