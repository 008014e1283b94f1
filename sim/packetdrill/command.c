/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands between backticks. None is ever executed: settings that mean something to the stack are made, settings to
 * what is the case anyway
 * pass, everything else skips the script.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../core/stack/socket/socket.h"
#include "../../core/stack/tcp/tcp.h"
#include "run_priv.h"

#define WORD_MAX 256
#define NO_KNOB TCP_KNOB_COUNT

/*
 * Settings that are no knob of the stack, or Linux's names of some that are. values: with these ("|" between) it is
 * the way the stack
 * works anyway, or nothing that it has; "*": any. knob: what it sets, scale times the value.
 */
static const struct setting {
	const char *key, *values;
	enum tcp_knob knob;
	int scale;
} settings[] = {
	/* FreeBSD; the socket layer knows more of them */
	{ "net.inet.tcp.cc.algorithm", "cubic", TCP_KNOB_CUBIC, 1 },
	{ "net.inet.tcp.hostcache.purgenow", "*", NO_KNOB, 0 },
	{ "net.inet.tcp.hostcache.purge", "*", NO_KNOB, 0 },
	{ "net.inet.tcp.hostcache.enable", "*", NO_KNOB, 0 },
	{ "net.inet.tcp.rfc3042", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.rfc3390", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.rfc3465", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.rfc6675_pipe", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.do_prr", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.do_lrd", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.newcwv", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.insecure_rst", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.insecure_syn", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.insecure_ack", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.drop_synfin", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.path_mtu_discovery", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.pmtud_blackhole_detection", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.mssdflt", "536", NO_KNOB, 0 },
	{ "net.inet.tcp.v6mssdflt", "1220", NO_KNOB, 0 },
	{ "net.inet.tcp.minmss", "216", NO_KNOB, 0 },
	{ "net.inet.tcp.tso", "*", NO_KNOB, 0 },
	{ "net.inet.tcp.fastopen.client_enable", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.fastopen.server_enable", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.functions_default", "freebsd", NO_KNOB, 0 },
	{ "net.inet.tcp.icmp_may_rst", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.abc_l_var", "2", NO_KNOB, 0 },
	{ "net.inet.tcp.delayed_ack", "1", NO_KNOB, 0 },
	{ "net.inet.tcp.tolerate_missing_ts", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.ts_offset_per_conn", "*", NO_KNOB, 0 },
	{ "net.inet.tcp.nolocaltimewait", "*", NO_KNOB, 0 },
	{ "net.inet.tcp.fast_finwait2_recycle", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.reass.maxqueuelen", "100", NO_KNOB, 0 },
	{ "net.inet.tcp.rexmit_slop", "200", NO_KNOB, 0 },
	{ "net.inet.tcp.rexmit_drop_options", "0", NO_KNOB, 0 },
	{ "net.inet.tcp.udp_tunneling_port", "0", NO_KNOB, 0 },
	{ "net.inet.icmp.icmplim", "*", NO_KNOB, 0 },
	{ "net.inet6.icmp6.errppslimit", "*", NO_KNOB, 0 },
	{ "net.inet.tcp.log_debug", "*", NO_KNOB, 0 },
	{ "kern.ipc.maxsockbuf", "2097152", NO_KNOB, 0 },
	/* Linux */
	{ "net.ipv4.tcp_timestamps", "1", TCP_KNOB_TIMESTAMPS, 1 },
	{ "net.ipv4.tcp_sack", "1", TCP_KNOB_SACK, 1 },
	{ "net.ipv4.tcp_window_scaling", "1", TCP_KNOB_WSCALE, 1 },
	{ "net.ipv4.tcp_ecn", "2", TCP_KNOB_ECN, 1 },
	{ "net.ipv4.tcp_syncookies", "1", TCP_KNOB_SYNCOOKIES, 1 },
	{ "net.ipv4.tcp_congestion_control", "cubic", TCP_KNOB_CUBIC, 1 },
	{ "net.ipv4.tcp_fastopen", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_fastopen_key", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_no_metrics_save", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_early_retrans", "3|4", NO_KNOB, 0 },
	{ "net.ipv4.tcp_recovery", "1", NO_KNOB, 0 },
	{ "net.ipv4.tcp_dsack", "1", NO_KNOB, 0 },
	{ "net.ipv4.tcp_fack", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_frto", "2|1", NO_KNOB, 0 },
	{ "net.ipv4.tcp_reordering", "3", NO_KNOB, 0 },
	{ "net.ipv4.tcp_slow_start_after_idle", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_thin_linear_timeouts", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_abort_on_overflow", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_mtu_probing", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_base_mss", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_rfc1337", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_tw_reuse", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_moderate_rcvbuf", "1", TCP_KNOB_RECVBUF_AUTO, 1 },
	{ "net.ipv4.tcp_adv_win_scale", "1", NO_KNOB, 0 },
	{ "net.ipv4.tcp_min_tso_segs", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_tso_win_divisor", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_tso_rtt_log", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_limit_output_bytes", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_pacing_ss_ratio", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_pacing_ca_ratio", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_invalid_ratelimit", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_challenge_ack_limit", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_autocorking", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_rmem", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_wmem", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_mem", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_syn_retries", "6|5", NO_KNOB, 0 },
	{ "net.ipv4.tcp_synack_retries", "5", NO_KNOB, 0 },
	{ "net.ipv4.tcp_retries1", "3", NO_KNOB, 0 },
	{ "net.ipv4.tcp_retries2", "15", NO_KNOB, 0 },
	{ "net.ipv4.tcp_orphan_retries", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_fin_timeout", "60", TCP_KNOB_FINWAIT2, 1000 },
	{ "net.ipv4.tcp_keepalive_time", "7200", TCP_KNOB_KEEPIDLE, 1000 },
	{ "net.ipv4.tcp_keepalive_intvl", "75", TCP_KNOB_KEEPINTVL, 1000 },
	{ "net.ipv4.tcp_keepalive_probes", "9", TCP_KNOB_KEEPCNT, 1 },
	{ "net.ipv4.tcp_notsent_lowat", "4294967295|-1", NO_KNOB, 0 },
	{ "net.ipv4.tcp_ecn_fallback", "1", NO_KNOB, 0 },
	{ "net.ipv4.tcp_comp_sack_nr", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_comp_sack_delay_ns", "*", NO_KNOB, 0 },
	{ "net.ipv4.tcp_shrink_window", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_stdurg", "0", NO_KNOB, 0 },
	{ "net.ipv4.tcp_migrate_req", "*", NO_KNOB, 0 },
	{ "net.ipv4.ip_local_port_range", "*", NO_KNOB, 0 },
	{ "net.ipv4.ip_no_pmtu_disc", "0", NO_KNOB, 0 },
	{ "net.ipv4.ip_early_demux", "*", NO_KNOB, 0 },
	{ "net.ipv4.route.flush", "*", NO_KNOB, 0 },
	{ "net.ipv6.route.flush", "*", NO_KNOB, 0 },
	{ "net.core.rmem_max", "*", NO_KNOB, 0 },
	{ "net.core.wmem_max", "*", NO_KNOB, 0 },
	{ "net.core.rmem_default", "*", NO_KNOB, 0 },
	{ "net.core.wmem_default", "*", NO_KNOB, 0 },
	{ "net.core.somaxconn", "*", TCP_KNOB_SOMAXCONN, 1 },
	{ "net.core.default_qdisc", "*", NO_KNOB, 0 },
	{ "net.core.optmem_max", "*", NO_KNOB, 0 },
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
knob(struct run *r, const struct setting *s, const char *name, const char *value)
{
	char *end;
	long v = strtol(value, &end, 0);

	if (s != NULL && s->knob == TCP_KNOB_CUBIC) {
		v = strcmp(value, "cubic") == 0;
		if (v == 0 && strcmp(value, "reno") != 0 && strcmp(value, "newreno") != 0)
			return -ENOENT;
		return tcp_knob_set(r->net.stack, TCP_KNOB_CUBIC, v);
	}
	if (*value == '\0' || *end != '\0')
		return -ENOENT;
	if (s != NULL && s->knob != NO_KNOB)
		return tcp_knob_set(r->net.stack, s->knob, (int64_t)v * s->scale);
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
	rc = knob(r, s, key, value);
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
	static const char *const nothing[] = { "true", ":", "sync", "set", "sleep", "ethtool" };
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
	if (sysctl || verb[0] == '\0' || verb[0] == '#' || ends_with(verb, "defaults.sh") || strstr(verb,
		"sysctl_restore") != NULL)
		return true;
	for (unsigned int i = 0; i < sizeof(nothing) / sizeof(nothing[0]); i++)
		if (strcmp(verb, nothing[i]) == 0)
			return true;
	return run_skip(r, line, "command %s", verb);
}

struct count {
	const char *state;
	unsigned int n;
};

static bool
same_state(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++)
		if (*a != *b && !((*a == '-' || *a == '_') && (*b == '-' || *b == '_')))
			return false;
	return *a == *b;
}

static void
count(void *ctx, const struct tcp_entry *e)
{
	struct count *c = ctx;

	c->n += same_state(c->state, tcp_fsm_name(e->fsm));
}

/*
 * sockstat ... | grep -c STATE | grep N: are N connections in that state? The other words of greps only find the
 * test itself.
 */
static bool
sockstat(struct run *r, int line, const char **at)
{
	char word[WORD_MAX], state[WORD_MAX] = "";
	struct count c = { .state = state };
	long want = -1;

	for (;;) {
		while (**at == '|' || **at == ' ')
			++*at;
		if (!next_word(at, word))
			return run_skip(r, line, "a command with a long word");
		if (word[0] == '\0')
			break;
		if (isdigit((unsigned char)word[0]))
			want = strtol(word, NULL, 10);
		for (enum tcp_fsm f = TCP_CLOSED; f <= TCP_TIME_WAIT; f++)
			if (same_state(word, tcp_fsm_name(f)))
				strcpy(state, word);
	}
	if (want < 0 || state[0] == '\0')
		return run_skip(r, line, "this use of sockstat");
	tcp_each(r->net.stack, count, &c);
	return c.n == (unsigned long)want || run_fail(r, line, "expected %ld connections in %s got %u", want, state, c.n);
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
		} else if (strncmp(at, "sockstat ", 9) == 0) {
			if (!sockstat(r, line, &at))
				return false;
		} else if (!statement(r, line, &at)) {
			return false;
		}
	}
	return true;
}

/* What is the case on that system before a script begins. */
bool
run_persona(struct run *r)
{
	static const struct {
		enum tcp_knob knob;
		int64_t value;
	} tux[] = {
		{ TCP_KNOB_LINUX_OPTS, 1 },
		{ TCP_KNOB_RTO_MIN, 200 },
		{ TCP_KNOB_DELACK, 0 },
			/* the first segments of a connection are acknowledged at once, and scripts are short */
		{ TCP_KNOB_SENDSPACE, 4 << 20 }, /* writers do not block before the windows do */
		{ TCP_KNOB_SENDBUF_MAX, 4 << 20 },
		{ TCP_KNOB_RECVSPACE, 540000 },
		{ TCP_KNOB_RECVBUF_MAX, 15 << 20 },
		{ TCP_KNOB_KEEPCNT, 9 },
		{ TCP_KNOB_ECN, 0 },             /* as scripts' own defaults have it */
	};

	for (unsigned int i = 0; r->rules.persona == PD_LINUX && i < sizeof(tux) / sizeof(tux[0]); i++)
		if (tcp_knob_set(r->net.stack, tux[i].knob, tux[i].value) != 0)
			return run_fail(r, 0, "this stack is none for Linux's scripts");
	return true;
}
