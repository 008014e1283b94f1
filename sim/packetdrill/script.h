/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A packet script as a tree (STK-7): the public packet script language, the part of it that README.md lists. Parsing
 * touches nothing but
 * memory; what a script means is run.c's business. Times are ns.
 */
#ifndef NONIC_SIM_PACKETDRILL_SCRIPT_H
#define NONIC_SIM_PACKETDRILL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PD_FILE_MAX (1u << 20)    /* a longer script is refused */
#define PD_NEST_MAX 64            /* of brackets and braces in arguments */
#define PD_OPTS_MAX 40            /* options of one segment: as many as there are bytes for them */
#define PD_PAYLOAD_MAX 65535u     /* of one inbound packet; what is expected may be larger */

/* ---- expressions: arguments and results of calls ---- */

enum pd_expr_kind {
	PD_X_INT,       /* num */
	PD_X_WORD,      /* text: a name such as SOCK_STREAM, or what it was defined as */
	PD_X_STRING,    /* text, its length in num */
	PD_X_ELLIPSIS,  /* ...: the runner supplies it */
	PD_X_OR,        /* kids: A | B | C */
	PD_X_LIST,      /* kids: [A, B] */
	PD_X_STRUCT,    /* kids: {a=1, b(2)=3, 4}; members have a name or none */
	PD_X_CALL,      /* text(kids): htons(80), inet_addr("1.2.3.4") */
};

struct pd_expr {
	enum pd_expr_kind kind;
	int line, col;
	int64_t num;
	const char *text;
	const char *name;          /* of a member, or NULL */
	struct pd_expr *kids, *next;
};

/* ---- packets ---- */

enum pd_proto { PD_TCP, PD_UDP, PD_ICMP };
enum pd_ecn { PD_ECN_ANY, PD_ECN_NOECN, PD_ECN_ECT0, PD_ECN_ECT1, PD_ECN_CE, PD_ECN_ECT01 };

enum pd_tcp_flag {
	PD_FIN = 0x01, PD_SYN = 0x02, PD_RST = 0x04, PD_PSH = 0x08, PD_ACK = 0x10, PD_URG = 0x20, PD_ECE = 0x40, PD_CWR = 0x80,
		PD_AE = 0x100
};

enum pd_opt_kind {
	PD_O_EOL = 0, PD_O_NOP = 1, PD_O_MSS = 2, PD_O_WSCALE = 3, PD_O_SACKOK = 4, PD_O_SACK = 5, PD_O_TS = 8, PD_O_MD5 = 19,
		PD_O_FO = 34,
	PD_O_EXP = 254
};

/* One TCP option. raw is what is behind kind and length, for kinds without numbers of their own. */
struct pd_opt {
	uint8_t kind;
	uint8_t nsack, nraw;
	uint32_t a, b;             /* mss; shift; TS val and ecr */
	uint32_t sack[4][2];       /* left and right edges */
	uint8_t raw[38];
};

enum pd_opts { PD_OPTS_NONE, PD_OPTS_ANY, PD_OPTS_LIST };

/* A packet as a script says it or, with its numbers translated, one that the stack has sent. */
struct pd_packet {
	bool inbound;
	enum pd_proto proto;
	uint8_t ip_version;        /* of a live one: 4, 6 */
	enum pd_ecn ecn;
	int tos;                   /* -1: not said */
	int ttl;                   /* -1: not said */
	uint16_t sport, dport;     /* 0: not said */
	uint32_t len;              /* payload bytes */
	/* TCP */
	uint16_t flags;
	uint32_t seq, ack;
	bool has_ack;              /* "ack N" is there */
	int win;                   /* -1: not said */
	int urg;                   /* -1: not said */
	enum pd_opts opts_kind;
	uint8_t nopts;
	struct pd_opt opt[PD_OPTS_MAX];
	/* ICMP error */
	uint8_t icmp_type, icmp_code; /* of the version in icmp_version */
	uint8_t icmp_version;      /* 4, 6, 0: either (icmp_word and icmp_code_word say what) */
	const char *icmp_word, *icmp_code_word;
	int64_t mtu;               /* -1: not said */
	bool quoted;               /* [seq:end(len)] or [udp (len)] is there */
	enum pd_proto quote_proto;
	uint32_t quote_seq, quote_len;
};

/* ---- events ---- */

enum pd_time {
	PD_T_ABS,      /* T */
	PD_T_REL,      /* +T */
	PD_T_ANY,      /* * */
};

enum pd_event_kind { PD_E_PACKET, PD_E_CALL, PD_E_COMMAND, PD_E_CODE };

struct pd_call {
	const char *name;
	struct pd_expr *args;
	unsigned int nargs;
	struct pd_expr *result;    /* NULL: "?": not looked at */
	const char *err;           /* "EAGAIN" of "= -1 EAGAIN", or NULL */
};

struct pd_event {
	struct pd_event *next;
	enum pd_event_kind kind;
	int line, col;
	enum pd_time time;
	int64_t at, end;           /* ns; end only with window or blocks; with PD_T_REL both count from the event before */
	bool window;               /* a~b */
	bool blocks;               /* T...U */
	union {
		struct pd_packet *packet;
		struct pd_call *call;
		const char *text;      /* of a command or code */
	};
};

struct pd_option {
	struct pd_option *next;
	int line;
	const char *name, *value;  /* value NULL: none */
};

struct pd_arena;

struct pd_script {
	struct pd_arena *arena;
	struct pd_option *options;
	struct pd_event *events;
	unsigned int nevents;
	bool says_v4, says_v6;     /* something in it belongs to one family */
};

enum pd_status { PD_GOOD, PD_SYNTAX, PD_UNSUPPORTED };

struct pd_error {
	enum pd_status status;
	int line, col;
	char text[256];
};

/*
 * text: len bytes, anything. On PD_GOOD *out is the script, to be freed with pd_script_free; otherwise *e says where
 * and why (PD_SYNTAX: it is no script;
 * PD_UNSUPPORTED: a part of the language that is left out) and *out is NULL. Memory running out is PD_SYNTAX as well.
 */
enum pd_status pd_parse(const char *text, size_t len, struct pd_script **out, struct pd_error *e);
void pd_script_free(struct pd_script *s);
/* The value of an option, "" when it has none; NULL: it is not there. */
const char *pd_option(const struct pd_script *s, const char *name);

/* ---- memory of one script ---- */

struct pd_arena *pd_arena_new(void);
/* Zeroed; NULL when memory runs out. */
void *pd_arena_take(struct pd_arena *a, size_t n);
void pd_arena_free(struct pd_arena *a);

/* ---- as text ---- */

/* p in script syntax into buf, cut to n; returns buf. */
const char *pd_packet_show(const struct pd_packet *p, char *buf, size_t n);
/* One option. */
const char *pd_opt_show(const struct pd_opt *o, char *buf, size_t n);

#endif
