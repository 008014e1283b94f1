/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines of applications. */
#include "api_priv.h"

#include <string.h>

#include "include/ff_log.h"

#define LINE_MAX_LEN 1024

void
api_log_setup(struct ff_instance *in)
{
	unsigned int i;

	in->log_level = in->cfg != NULL ? in->cfg->log_level : FF_LOG_INFO;
	for (i = 0; i < API_LOG_TYPES; i++)
		in->log_type_level[i] = UINT32_MAX;
}

void
api_log_end(struct ff_instance *in)
{
	if (in->log_own != NULL)
		fclose(in->log_own);
	in->log = in->log_own = NULL;
}

int
ff_log_open_set(void)
{
	struct ff_instance *in = ff_instance_current();
	char name[4096];
	FILE *f;

	if (in == NULL)
		return api_ret(-ENXIO);
	if (snprintf(name, sizeof(name), "%s%d.log",
	    in->cfg != NULL && in->cfg->log_prefix != NULL ? in->cfg->log_prefix : "./f-stack-",
	    in->config.dpdk.proc_id) >= (int)sizeof(name))
		return api_ret(-ENAMETOOLONG);
	f = fopen(name, "ae");
	if (f == NULL)
		return -1;
	api_log_end(in);
	in->log = in->log_own = f;
	return 0;
}

void
ff_log_close(void)
{
	struct ff_instance *in = ff_instance_current();

	if (in != NULL)
		api_log_end(in);
}

int
ff_log_reset_stream(void *f)
{
	struct ff_instance *in = ff_instance_current();

	if (in == NULL)
		return api_ret(-ENXIO);
	api_log_end(in);
	in->log = f;
	return 0;
}

void
ff_log_set_global_level(uint32_t level)
{
	struct ff_instance *in = ff_instance_current();

	if (in != NULL && level <= FF_LOG_MAX)
		in->log_level = level;
}

int
ff_log_set_level(uint32_t logtype, uint32_t level)
{
	struct ff_instance *in = ff_instance_current();

	if (in == NULL)
		return api_ret(-ENXIO);
	if (logtype >= API_LOG_TYPES || level > FF_LOG_MAX)
		return api_ret(-EINVAL);
	in->log_type_level[logtype] = level;
	return 0;
}

int
ff_vlog(uint32_t level, uint32_t logtype, const char *format, va_list ap)
{
	struct ff_instance *in = ff_instance_current();
	uint32_t limit = FF_LOG_INFO;
	char line[LINE_MAX_LEN];
	size_t n;

	if (level < FF_LOG_EMERG || level > FF_LOG_MAX || logtype >= API_LOG_TYPES)
		return api_ret(-EINVAL);
	if (in != NULL)
		limit = in->log_type_level[logtype] != UINT32_MAX ? in->log_type_level[logtype] : in->log_level;
	if (level > limit)
		return 0;
	if (in == NULL || in->log != NULL)
		return vfprintf(in == NULL ? stderr : in->log, format, ap) < 0 ? -1 : 0;
	vsnprintf(line, sizeof(line), format, ap);
	n = strlen(line);
	if (n != 0 && line[n - 1] == '\n')
		line[n - 1] = '\0';
	shim_log(in->shim, (int)level, "%s", line);
	return 0;
}

int
ff_log(uint32_t level, uint32_t logtype, const char *format, ...)
{
	va_list ap;
	int rc;

	va_start(ap, format);
	rc = ff_vlog(level, logtype, format, ap);
	va_end(ap);
	return rc;
}
