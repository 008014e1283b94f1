/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys and the parts of the loader that share it. Internal to core/config. */
#ifndef NONIC_CONFIG_KEYS_H
#define NONIC_CONFIG_KEYS_H

#include <stdarg.h>

#include "config.h"

enum key_section {
	SECT_DPDK, SECT_PCAP, SECT_PORT, SECT_VLAN, SECT_VDEV, SECT_BOND, SECT_RSS_CHECK, SECT_KNI, SECT_BOOT,
	SECT_SYSCTL, SECT_STACK, SECT_COUNT
};

enum key_type {
	KEY_BOOL,      /* bool: 0 or 1 */
	KEY_SWITCH,    /* bool: 0|off|no|false or 1|on|yes|true, as F-Stack reads kernel_coexist */
	KEY_UINT,      /* unsigned of `size` bytes, min..max */
	KEY_POW2,      /* the same, a power of two */
	KEY_ENUM,      /* one of names; its index in `size` bytes */
	KEY_MASK,      /* struct config_lcores, hexadecimal */
	KEY_LIST,      /* uint16_t[cap] and its unsigned int count: 0-3,7 */
	KEY_STR,       /* char *: any text; one of names, when there are names */
	KEY_NAME,      /* char[16]: a network interface's name */
	KEY_PREFIX,    /* char *: a word usable in a file name */
	KEY_HEX,       /* char *: a hexadecimal address */
	KEY_DEVICES,   /* char *: PCI addresses, comma separated */
	KEY_ARGS,      /* char *: words, quotes balanced */
	KEY_PORTS,     /* char *: TCP or UDP ports, comma separated, ranges allowed */
	KEY_RSS_TBL,   /* char *: rss_check's table */
	KEY_MAC,       /* char *: a unicast Ethernet address */
	KEY_IP4, KEY_IP6,   /* uint32_t in network order, struct in6_addr */
	KEY_VIP4, KEY_VIP6, /* arrays of them and their unsigned int count: a;b */
};

enum key_flags {
	KEY_DEVICE = 1,  /* device side: part of the digest (CFG-6) */
	KEY_V2 = 2,      /* came with F-Stack 2.0 */
	KEY_OURS = 4,    /* not F-Stack's */
	KEY_CLAMP = 8,   /* F-Stack documents that it limits the value: limited here too, with a warning */
	KEY_NO_EFFECT = 16, /* accepted because F-Stack's files have it */
};

struct config_key {
	enum key_section section;
	const char *name;
	enum key_type type;
	unsigned int flags;
	size_t off, size;         /* of the value in its section's struct (config_base) */
	size_t count_off;         /* of the unsigned int count of lists */
	uint64_t min, max;        /* numbers and elements of lists */
	unsigned int cap;         /* elements of lists */
	const char *const *names; /* NULL-terminated */
	const char *def;          /* text that the loader parses; NULL: zero or unset */
	const char *def_note;     /* for the reference page, where def does not say it */
	const char *unit, *help, *alias;
};

struct section_info {
	const char *name;  /* "dpdk", or "port" of [portN] */
	bool indexed;
	unsigned int min, max;  /* of N */
	bool pairs;        /* keys that are not in the table are kept as pairs */
	const char *help;
};

extern const struct section_info config_sections[SECT_COUNT];
extern const struct config_key config_keys[];
extern const unsigned int config_nb_keys;

/* The key of a section by its name or alias, or NULL. */
const struct config_key *config_key_find(enum key_section s, const char *name);
/* Where the values of a section live: cfg itself, or the index-th port, vlan slot, vdev, bond. */
void *config_base(const struct nonic_config *cfg, enum key_section s, unsigned int index);
/* The nearest known key of s, or of any section when s is SECT_COUNT; NULL when none is near. */
const struct config_key *config_key_nearest(enum key_section s, const char *name);
/* The nearest section's name as it is written ("[portN]"), or NULL. */
const char *config_section_nearest(const char *name, char *buf, size_t n);
/* "[dpdk]", "[port3]": how a section is named in messages. */
void config_section_text(enum key_section s, unsigned int index, char *buf, size_t n);

/* ---- memory: everything comes from here, zeroed, and goes back through free() ---- */
void *config_alloc(size_t n);
char *config_strndup(const char *s, size_t n);

/* ---- values (value.c, list.c) ---- */
#define CONFIG_TEXT_MAX 4096 /* room for any value as text */

/*
 * Parses text into the value at base + key's offset. 0; 1: limited (why says to what); -EINVAL: why says what is
 * wrong, the value is as it was; -ENOMEM.
 */
int config_value_parse(const struct config_key *k, const char *text, void *base, char *why, size_t n);
/* The value as text that parses to it. false: unset, there is no text. */
bool config_value_format(const struct config_key *k, const void *base, char *buf, size_t n);
/* What the key accepts, as a phrase. */
void config_value_accepted(const struct config_key *k, char *buf, size_t n);
/* Strict unsigned decimal: digits only, no sign, no blank, min..max. 0 or -EINVAL (why). */
int config_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out, char *why, size_t n);
/* The list and table types of the above. */
int config_list_parse(const struct config_key *k, const char *text, void *base, char *why, size_t n);
int config_vips_parse(const struct config_key *k, const char *text, void *base, char *why, size_t n);
int config_devices_check(const char *text, char *why, size_t n);
int config_ports_check(const char *text, char *why, size_t n);
int config_rss_tbl_check(const char *text, char *why, size_t n);
/* Writes "0-3,7". */
void config_list_format(const uint16_t *v, unsigned int count, char *buf, size_t n);
/* Takes the next token up to sep (blanks around it cut off) into tok; *text moves behind the sep. false: no more. */
bool config_token(const char **text, char sep, char *tok, size_t n);

/* ---- loading (lex.c, load.c, check.c) ---- */
#define CONFIG_MAX_ENTRIES 4096
#define CONFIG_MAX_LINE 4095  /* F-Stack reads 2047; any value that is printed must fit */
#define CONFIG_MAX_NAME 49    /* libinih's, of sections and keys */
#define CONFIG_MAX_MESSAGES 500

/* One `key = value` of the file, or a section's header (key NULL). */
struct config_entry {
	char *section, *key, *value;
	int line;
	bool cut;              /* what follows the value behind " ;" looks like more of it */
	bool bad;              /* the value was refused: rules between keys leave it alone */
	enum key_section s;    /* resolved by load.c; SECT_COUNT: unknown */
	unsigned int index;    /* N of [portN] */
	const struct config_key *k;
};

struct config_ctx {
	struct nonic_config *cfg;
	struct config_messages *msgs;
	const char *file;
	bool strict, oom;
	struct config_entry *e;
	unsigned int n, cap;
};

/* Fills c->e from the text; syntax errors become messages. */
void config_lex(struct config_ctx *c, const char *text, size_t len);
/* The last entry that gave the key, or NULL. */
const struct config_entry *config_given(const struct config_ctx *c, enum key_section s, unsigned int index,
	const char *key);
/* Was it given with a value that was refused? */
bool config_bad(const struct config_ctx *c, enum key_section s, unsigned int index, const char *key);
/* The line of the section's first header, or 0. */
int config_section_line(const struct config_ctx *c, enum key_section s, unsigned int index);

/* Rules between keys (CFG-5), in check.c; those about addresses in check_addr.c, about vdevs and bonds in check_dev.c. */
void config_check(struct config_ctx *c);
void config_check_addrs(struct config_ctx *c);
void config_check_devices(struct config_ctx *c);
bool config_port_listed(const struct nonic_config *cfg, unsigned int port);

/*
 * Adds a message. With key NULL: about the file or the section. value NULL: a key that was not given. The text gets its
 * "FILE:LINE: [section] key = value: " in front.
 */
void config_msg(struct config_ctx *c, bool error, int line, const char *section, const char *key,
	const char *value, const char *fmt, ...) __attribute__((format(printf, 7, 8)));
/* The same about a key of the table: line and value come from the entry that gave it; default value otherwise. */
void config_msg_key(struct config_ctx *c, bool error, enum key_section s, unsigned int index, const char *key,
	const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Stable sort by line; line 0 at the end. */
void config_msgs_sort(struct config_messages *msgs);

#endif
