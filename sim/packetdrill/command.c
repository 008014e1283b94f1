/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands between backticks. None is ever executed: settings that mean something to the stack are made, settings to what is the case anyway
 * pass, everything else skips the script.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/stack/socket/socket.h"
#include "run_priv.h"

#define WORD_MAX 256

/*
 * Settings that are no knob of the stack, or Linux's names of some that are. values: with these ("|" between) it is the way the stack
 * works anyway, or nothing that it has; "*": any. knob: FreeBSD's name for the same.
 */
static const struct setting {
	const char *key, *values, *knob;
} settings[] = {
	/* FreeBSD */
	{ "net.inet.tcp.hostcache.purgenow", "*", NULL },
	{ "net.inet.tcp.hostcache.purge", "*", NULL },
	{ "net.inet.tcp.hostcache.enable", "*", NULL },
	{ "net.inet.tcp.rfc3042", "1", NULL },
	{ "net.inet.tcp.rfc3390", "1", NULL },
	{ "net.inet.tcp.rfc3465", "1", NULL },
	{ "net.inet.tcp.rfc6675_pipe", "1", NULL },
	{ "net.inet.tcp.do_prr", "1", NULL },
	{ "net.inet.tcp.do_lrd", "0", NULL },
	{ "net.inet.tcp.newcwv", "0", NULL },
	{ "net.inet.tcp.insecure_rst", "0", NULL },
	{ "net.inet.tcp.insecure_syn", "0", NULL },
	{ "net.inet.tcp.insecure_ack", "0", NULL },
	{ "net.inet.tcp.drop_synfin", "0", NULL },
	{ "net.inet.tcp.path_mtu_discovery", "1", NULL },
	{ "net.inet.tcp.pmtud_blackhole_detection", "0", NULL },
	{ "net.inet.tcp.mssdflt", "536", NULL },
	{ "net.inet.tcp.v6mssdflt", "1220", NULL },
	{ "net.inet.tcp.minmss", "216", NULL },
	{ "net.inet.tcp.tso", "*", NULL },
	{ "net.inet.tcp.fastopen.client_enable", "0", NULL },
	{ "net.inet.tcp.fastopen.server_enable", "0", NULL },
	{ "net.inet.tcp.functions_default", "freebsd", NULL },
	{ "net.inet.tcp.icmp_may_rst", "1", NULL },
	{ "net.inet.tcp.abc_l_var", "2", NULL },
	{ "net.inet.tcp.delayed_ack", "1", NULL },
	{ "net.inet.tcp.tolerate_missing_ts", "0", NULL },
	{ "net.inet.tcp.ts_offset_per_conn", "*", NULL },
	{ "net.inet.tcp.nolocaltimewait", "*", NULL },
	{ "net.inet.tcp.fast_finwait2_recycle", "0", NULL },
	{ "net.inet.tcp.reass.maxqueuelen", "100", NULL },
	{ "net.inet.tcp.rexmit_slop", "200", NULL },
	{ "net.inet.tcp.rexmit_drop_options", "0", NULL },
	{ "net.inet.tcp.udp_tunneling_port", "0", NULL },
	{ "net.inet.icmp.icmplim", "*", NULL },
	{ "net.inet6.icmp6.errppslimit", "*", NULL },
	{ "net.inet.tcp.log_debug", "*", NULL },
	/* Linux */
	{ "net.ipv4.tcp_timestamps", "1", "net.inet.tcp.rfc1323" },
	{ "net.ipv4.tcp_sack", "1", "net.inet.tcp.sack.enable" },
	{ "net.ipv4.tcp_window_scaling", "1", NULL },
	{ "net.ipv4.tcp_ecn", "2", "net.inet.tcp.ecn.enable" },
	{ "net.ipv4.tcp_syncookies", "1", NULL },
	{ "net.ipv4.tcp_congestion_control", "cubic", "net.inet.tcp.cc.algorithm" },
	{ "net.ipv4.tcp_fastopen", "*", NULL },
	{ "net.ipv4.tcp_no_metrics_save", "*", NULL },
	{ "net.ipv4.tcp_early_retrans", "3", NULL },
	{ "net.ipv4.tcp_recovery", "1", NULL },
	{ "net.ipv4.tcp_dsack", "1", NULL },
	{ "net.ipv4.tcp_fack", "*", NULL },
	{ "net.ipv4.tcp_frto", "2|1", NULL },
	{ "net.ipv4.tcp_reordering", "3", NULL },
	{ "net.ipv4.tcp_slow_start_after_idle", "1", NULL },
	{ "net.ipv4.tcp_thin_linear_timeouts", "0", NULL },
	{ "net.ipv4.tcp_abort_on_overflow", "0", NULL },
	{ "net.ipv4.tcp_mtu_probing", "0", NULL },
	{ "net.ipv4.tcp_base_mss", "*", NULL },
	{ "net.ipv4.tcp_rfc1337", "0", NULL },
	{ "net.ipv4.tcp_tw_reuse", "*", NULL },
	{ "net.ipv4.tcp_moderate_rcvbuf", "1", NULL },
	{ "net.ipv4.tcp_adv_win_scale", "1", NULL },
	{ "net.ipv4.tcp_min_tso_segs", "*", NULL },
	{ "net.ipv4.tcp_tso_win_divisor", "*", NULL },
	{ "net.ipv4.tcp_tso_rtt_log", "*", NULL },
	{ "net.ipv4.tcp_limit_output_bytes", "*", NULL },
	{ "net.ipv4.tcp_pacing_ss_ratio", "*", NULL },
	{ "net.ipv4.tcp_pacing_ca_ratio", "*", NULL },
	{ "net.ipv4.tcp_invalid_ratelimit", "*", NULL },
	{ "net.ipv4.tcp_challenge_ack_limit", "*", NULL },
	{ "net.ipv4.tcp_autocorking", "*", NULL },
	{ "net.ipv4.tcp_rmem", "*", NULL },
	{ "net.ipv4.tcp_wmem", "*", NULL },
	{ "net.ipv4.tcp_mem", "*", NULL },
	{ "net.ipv4.tcp_syn_retries", "6|5", NULL },
	{ "net.ipv4.tcp_synack_retries", "5", NULL },
	{ "net.ipv4.tcp_retries1", "3", NULL },
	{ "net.ipv4.tcp_retries2", "15", NULL },
	{ "net.ipv4.tcp_orphan_retries", "0", NULL },
	{ "net.ipv4.tcp_fin_timeout", "60", NULL },
	{ "net.ipv4.tcp_keepalive_time", "7200", NULL },
	{ "net.ipv4.tcp_keepalive_intvl", "75", NULL },
	{ "net.ipv4.tcp_keepalive_probes", "9", NULL },
	{ "net.ipv4.tcp_notsent_lowat", "4294967295|-1", NULL },
	{ "net.ipv4.tcp_ecn_fallback", "1", NULL },
	{ "net.ipv4.tcp_comp_sack_nr", "0", NULL },
	{ "net.ipv4.tcp_comp_sack_delay_ns", "*", NULL },
	{ "net.ipv4.tcp_shrink_window", "0", NULL },
	{ "net.ipv4.tcp_stdurg", "0", NULL },
	{ "net.ipv4.tcp_migrate_req", "*", NULL },
	{ "net.ipv4.ip_local_port_range", "*", NULL },
	{ "net.ipv4.ip_no_pmtu_disc", "0", NULL },
	{ "net.ipv4.ip_early_demux", "*", NULL },
	{ "net.ipv4.route.flush", "*", NULL },
	{ "net.ipv6.route.flush", "*", NULL },
	{ "net.core.rmem_max", "*", NULL },
	{ "net.core.wmem_max", "*", NULL },
	{ "net.core.rmem_default", "*", NULL },
	{ "net.core.wmem_default", "*", NULL },
	{ "net.core.somaxconn", "*", NULL },
	{ "net.core.default_qdisc", "*", NULL },
	{ "net.core.optmem_max", "*", NULL },
};

static bool
among(const char *values, const char *v)
{
	size_t n = strlen(v);

	if (strcmp(values, "*") == 0)
		return true;
	for (const char *p = values; p != NULL; p = strchr(p, '|') != NULL ? strchr(p, '|') + 1 : NULL)
		if (strncmp(p, v, n) == 0 && (p[n] == '\0' || p[n] == '|'))
			return true;
	return false;
}

/* 0, or what the stack says to it. */
static int
knob(struct run *r, const char *name, const char *value)
{
	char *end;
	long v = strtol(value, &end, 0);

	if (*value == '\0' || *end != '\0')
		return -ENOENT;
	return sock_sysctl_set(r->net.stack, name, v);
}

static bool
set(struct run *r, int line, const char *key, const char *value)
{
	const struct setting *s = NULL;
	int rc;

	for (unsigned int i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(settings[i].key, key) == 0)
			s = &settings[i];
	rc = knob(r, s != NULL && s->knob != NULL ? s->knob : key, value);
	if (rc == 0 || (s != NULL && among(s->values, value)))
		return true;
	if (rc == -EINVAL)
		return run_skip(r, line, "sysctl %s=%s: out of range here", key, value);
	return run_skip(r, line, "sysctl %s=%s", key, value);
}

/* A word of a command, quotes taken away; *at behind it. "": the statement ends. False: too long. */
static bool
next_word(const char **at, char word[WORD_MAX])
{
	const char *p = *at;
	unsigned int n = 0;
	char quote = '\0';

	while (*p == ' ' || *p == '\t')
		p++;
	for (; *p != '\0' && (quote != '\0' || !(isspace((unsigned char)*p) || *p == ';' || *p == '|' || *p == '&')); p++) {
		if (quote == '\0' && (*p == '"' || *p == '\''))
			quote = *p;
		else if (*p == quote && quote != '\0')
			quote = '\0';
		else if (n == WORD_MAX - 1)
			return false;
		else
			word[n++] = *p;
	}
	word[n] = '\0';
	*at = p;
	return true;
}

/* key=value, the key with dots or as a path below /proc/sys; "a/b" in a name of sysctl's is the same. */
static bool
assignment(struct run *r, int line, char word[WORD_MAX])
{
	char *key = word, *eq = strchr(word, '=');

	if (eq == NULL)
		return true; /* reads it */
	*eq = '\0';
	if (strncmp(key, "/proc/sys/", 10) == 0)
		key += 10;
	for (char *p = key; *p != '\0'; p++)
		if (*p == '/')
			*p = '.';
	return set(r, line, key, eq + 1);
}

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && strcmp(s + n - k, end) == 0;
}

/* One simple command. */
static bool
statement(struct run *r, int line, const char **at)
{
	static const char *const nothing[] = { "true", ":", "sync", "set", "sleep" };
	char word[WORD_MAX], verb[WORD_MAX];
	bool sysctl;

	if (!next_word(at, verb))
		return run_skip(r, line, "a command with a long word");
	sysctl = strcmp(verb, "sysctl") == 0 || ends_with(verb, "/sysctl") || strstr(verb, "set_sysctls") != NULL;
	for (;;) {
		if (!next_word(at, word))
			return run_skip(r, line, "a command with a long word");
		if (word[0] == '\0')
			break;
		if (ends_with(verb, "/set_sysctls.py") && strchr(word, '=') == NULL)
			continue;
		if (sysctl && word[0] != '-' && !assignment(r, line, word))
			return false;
	}
	if (sysctl || verb[0] == '\0' || verb[0] == '#' || ends_with(verb, "defaults.sh") || strstr(verb, "sysctl_restore") != NULL)
		return true;
	for (unsigned int i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		if (strcmp(verb, nothing[i]) == 0)
			return true;
	return run_skip(r, line, "command %s", verb);
}

bool
run_command(struct run *r, const struct pd_event *ev)
{
	const char *at = ev->text;
	int line = ev->line;

	while (*at != '\0') {
		if (isspace((unsigned char)*at) || *at == ';' || *at == '&') {
			line += *at == '\n';
			at++;
		} else if (*at == '#') {
			at += strcspn(at, "\n");
		} else if (*at == '|') {
			return run_skip(r, line, "a pipe of commands");
		} else if (!statement(r, line, &at)) {
			return false;
		}
	}
	return true;
}

bool
run_persona(struct run *r)
{
	(void)r;
	return true;
}
