/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines of an application: to the file of [dpdk] fstack_log_file_prefix once that is open, else to the stack's log. */
#ifndef NONIC_FF_LOG_H
#define NONIC_FF_LOG_H

#include <stdarg.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FF_LOGTYPE_EAL 0
#define FF_LOGTYPE_USER1 24
#define FF_LOGTYPE_USER2 25
#define FF_LOGTYPE_USER3 26
#define FF_LOGTYPE_USER4 27
#define FF_LOGTYPE_USER5 28
#define FF_LOGTYPE_USER6 29
#define FF_LOGTYPE_USER7 30
#define FF_LOGTYPE_USER8 31
#define FF_LOGTYPE_FSTACK_APP FF_LOGTYPE_USER1
#define FF_LOGTYPE_FSTACK_LIB FF_LOGTYPE_USER7
#define FF_LOGTYPE_FSTACK_FREEBSD FF_LOGTYPE_USER8
#define FF_LOGTYPE_FIRST_EXT_ID 32

#define FF_LOG_DISABLE 0U
#define FF_LOG_EMERG 1U
#define FF_LOG_ALERT 2U
#define FF_LOG_CRIT 3U
#define FF_LOG_ERR 4U
#define FF_LOG_WARNING 5U
#define FF_LOG_NOTICE 6U
#define FF_LOG_INFO 7U
#define FF_LOG_DEBUG 8U
#define FF_LOG_MAX FF_LOG_DEBUG

/* Opens PREFIX and process id and ".log" for appending. 0, or -1. */
int ff_log_open_set(void);
void ff_log_close(void);
/* f is a FILE *, which stays the caller's; NULL: the stack's log again. 0, or -1 (no instance). */
int ff_log_reset_stream(void *f);
/* Lines above level are dropped. Default: fstack_log_level, where 0 drops all; INFO before ff_init. */
void ff_log_set_global_level(uint32_t level);
/* The same for one log type (0..31). 0, or -1. */
int ff_log_set_level(uint32_t logtype, uint32_t level);
/* The text has its own newline. 0, or -1 for a level or type out of range. */
int ff_log(uint32_t level, uint32_t logtype, const char *format, ...) __attribute__((format(printf, 3, 4)));
int ff_vlog(uint32_t level, uint32_t logtype, const char *format, va_list ap);

#ifdef __cplusplus
}
#endif
#endif
