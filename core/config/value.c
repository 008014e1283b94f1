/* SPDX-License-Identifier: BSD-3-Clause */
/* Single values: strict parsing (CFG-2), formatting back, and the phrase that says what is accepted. */
#include "keys.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *
config_alloc(size_t n)
{
	return calloc(1, n);
}

char *
config_strndup(const char *s, size_t n)
{
	char *p = config_alloc(n + 1);

	if (p)
		memcpy(p, s, n);
	return p;
}

int
config_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *out, char *why, size_t n)
{
	unsigned long long v;
	char *end;

	if (text[0] == '\0') {
		snprintf(why, n, "empty");
		return -EINVAL;
	}
	if (text[0] == '-' && isdigit((unsigned char)text[1])) {
		snprintf(why, n, "negative");
		return -EINVAL;
	}
	if (!isdigit((unsigned char)text[0])) {
		snprintf(why, n, "not a number");
		return -EINVAL;
	}
	errno = 0;
	v = strtoull(text, &end, 10);
	if (*end != '\0') {
		snprintf(why, n, "not a number from \"%.8s\" on", end);
		return -EINVAL;
	}
	if (errno == ERANGE || v > max) {
		snprintf(why, n, "too large");
		*out = max;
		return -ERANGE;
	}
	if (v < min) {
		snprintf(why, n, "too small");
		*out = min;
		return -ERANGE;
	}
	*out = v;
	return 0;
}

static void
store_uint(void *p, size_t size, uint64_t v)
{
	uint8_t v8 = (uint8_t)v;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	if (size == 1)
		memcpy(p, &v8, 1);
	else if (size == 2)
		memcpy(p, &v16, 2);
	else if (size == 4)
		memcpy(p, &v32, 4);
	else
		memcpy(p, &v, 8);
}

static uint64_t
fetch_uint(const void *p, size_t size)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	if (size == 1)
		return *(const uint8_t *)p;
	if (size == 2) {
		memcpy(&v16, p, 2);
		return v16;
	}
	if (size == 4) {
		memcpy(&v32, p, 4);
		return v32;
	}
	memcpy(&v64, p, 8);
	return v64;
}

static int
parse_uint(const struct config_key *k, const char *text, void *p, char *why, size_t n)
{
	uint64_t v = 0;
	int rc = config_parse_u64(text, k->min, k->max, &v, why, n);

	if (rc == -ERANGE && (k->flags & KEY_CLAMP)) {
		snprintf(why, n, "limited to %" PRIu64 ", as F-Stack does", v);
		store_uint(p, k->size, v);
		return 1;
	}
	if (rc)
		return -EINVAL;
	if (k->type == KEY_POW2 && (v & (v - 1)) != 0) {
		snprintf(why, n, "not a power of two");
		return -EINVAL;
	}
	store_uint(p, k->size, v);
	return 0;
}

static int
parse_switch(const char *text, bool *p, char *why, size_t n)
{
	static const char *const words[] = { "0", "1", "off", "on", "no", "yes", "false", "true" };
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i]) == 0) {
			*p = i & 1;
			return 0;
		}
	snprintf(why, n, "neither on nor off");
	return -EINVAL;
}

static int
find_name(const char *const *names, const char *text)
{
	int i;

	for (i = 0; names[i]; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	return -1;
}

static int
parse_enum(const struct config_key *k, const char *text, void *p, char *why, size_t n)
{
	int i = find_name(k->names, text);

	if (i < 0) {
		snprintf(why, n, "unknown word");
		return -EINVAL;
	}
	store_uint(p, k->size, (uint64_t)i);
	return 0;
}

static int
parse_mask(const char *text, struct config_lcores *out, char *why, size_t n)
{
	struct config_lcores l = { { 0 } };
	const char *p = text;
	unsigned int bit = 0, d;
	size_t i;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (i = strlen(p); i-- > 0; bit += 4) {
		if (!isxdigit((unsigned char)p[i])) {
			snprintf(why, n, "not a hexadecimal number");
			return -EINVAL;
		}
		d = (unsigned int)(isdigit((unsigned char)p[i]) ? p[i] - '0' : tolower((unsigned char)p[i]) - 'a' + 10);
		if (bit >= CONFIG_MAX_LCORES && d != 0) {
			snprintf(why, n, "names a lcore above %d", CONFIG_MAX_LCORES - 1);
			return -EINVAL;
		}
		if (bit < CONFIG_MAX_LCORES)
			l.bits[bit / 64] |= (uint64_t)d << (bit % 64);
	}
	if (l.bits[0] == 0 && l.bits[1] == 0) {
		snprintf(why, n, bit == 0 ? "not a hexadecimal number" : "no lcore");
		return -EINVAL;
	}
	*out = l;
	return 0;
}

static int
check_hex(const char *text, char *why, size_t n)
{
	char *end;

	errno = 0;
	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') || !isxdigit((unsigned char)text[2]) ||
			(strtoull(text, &end, 16), *end != '\0') || errno == ERANGE) {
		snprintf(why, n, "not a hexadecimal address");
		return -EINVAL;
	}
	return 0;
}

static int
check_mac(const char *text, char *why, size_t n)
{
	unsigned int i;

	for (i = 0; i < 17; i++)
		if (i % 3 == 2 ? text[i] != ':' : !isxdigit((unsigned char)text[i])) {
			snprintf(why, n, "not an Ethernet address");
			return -EINVAL;
		}
	if (text[17] != '\0') {
		snprintf(why, n, "not an Ethernet address");
		return -EINVAL;
	}
	if (strchr("13579bdfBDF", text[1])) {
		snprintf(why, n, "a group address");
		return -EINVAL;
	}
	return 0;
}

/* Words that become part of file and interface names. */
static int
check_word(const char *text, size_t max, char *why, size_t n)
{
	const char *p;

	for (p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_.-", *p)) {
			snprintf(why, n, "has a character that a name can not have");
			return -EINVAL;
		}
	if ((size_t)(p - text) > max) {
		snprintf(why, n, "longer than %zu characters", max);
		return -EINVAL;
	}
	return 0;
}

static int
check_args(const char *text, char *why, size_t n)
{
	char quote = 0;

	for (; *text; text++)
		if (quote ? *text == quote : *text == '"' || *text == '\'')
			quote = quote ? 0 : *text;
	if (!quote)
		return 0;
	snprintf(why, n, "a quote without its partner");
	return -EINVAL;
}

static int
check_names(const struct config_key *k, const char *text, char *why, size_t n)
{
	if (!k->names || find_name(k->names, text) >= 0)
		return 0;
	snprintf(why, n, "unknown word");
	return -EINVAL;
}

static int
check_string(const struct config_key *k, const char *text, char *why, size_t n)
{
	switch (k->type) {
	case KEY_PREFIX:
		return check_word(text, 63, why, n);
	case KEY_HEX:
		return check_hex(text, why, n);
	case KEY_DEVICES:
		return config_devices_check(text, why, n);
	case KEY_ARGS:
		return check_args(text, why, n);
	case KEY_PORTS:
		return config_ports_check(text, why, n);
	case KEY_RSS_TBL:
		return config_rss_tbl_check(text, why, n);
	case KEY_MAC:
		return check_mac(text, why, n);
	default:
		return check_names(k, text, why, n);
	}
}

static int
parse_string(const struct config_key *k, const char *text, char **p, char *why, size_t n)
{
	char *copy;
	int rc = check_string(k, text, why, n);

	if (rc)
		return rc;
	copy = config_strndup(text, strlen(text));
	if (!copy)
		return -ENOMEM;
	free(*p);
	*p = copy;
	return 0;
}

static int
parse_addr(const struct config_key *k, const char *text, void *p, char *why, size_t n)
{
	uint8_t a[16];

	if (inet_pton(k->type == KEY_IP4 ? AF_INET : AF_INET6, text, a) != 1) {
		snprintf(why, n, "not an %s address", k->type == KEY_IP4 ? "IPv4" : "IPv6");
		return -EINVAL;
	}
	memcpy(p, a, k->size);
	return 0;
}

int
config_value_parse(const struct config_key *k, const char *text, void *base, char *why, size_t n)
{
	void *p = (char *)base + k->off;
	int rc;

	if (text[0] == '\0') {
		snprintf(why, n, "empty");
		return -EINVAL;
	}
	switch (k->type) {
	case KEY_BOOL:
	case KEY_UINT:
	case KEY_POW2:
		return parse_uint(k, text, p, why, n);
	case KEY_SWITCH:
		return parse_switch(text, p, why, n);
	case KEY_ENUM:
		return parse_enum(k, text, p, why, n);
	case KEY_MASK:
		return parse_mask(text, p, why, n);
	case KEY_LIST:
		return config_list_parse(k, text, base, why, n);
	case KEY_NAME:
		rc = check_word(text, k->size - 1, why, n);
		if (rc == 0)
			snprintf(p, k->size, "%s", text);
		return rc;
	case KEY_IP4:
	case KEY_IP6:
		return parse_addr(k, text, p, why, n);
	case KEY_VIP4:
	case KEY_VIP6:
		return config_vips_parse(k, text, base, why, n);
	default:
		return parse_string(k, text, p, why, n);
	}
}

static bool
format_mask(const struct config_lcores *l, char *buf, size_t n)
{
	if (l->bits[1])
		snprintf(buf, n, "%" PRIx64 "%016" PRIx64, l->bits[1], l->bits[0]);
	else
		snprintf(buf, n, "%" PRIx64, l->bits[0]);
	return (l->bits[0] | l->bits[1]) != 0;
}

/* Addresses: unspecified is unset. */
static bool
format_addrs(const struct config_key *k, const void *p, unsigned int count, char *buf, size_t n)
{
	bool v4 = k->type == KEY_IP4 || k->type == KEY_VIP4;
	size_t each = v4 ? 4 : 16, at = 0;
	char one[INET6_ADDRSTRLEN];
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < count && at < n; i++) {
		inet_ntop(v4 ? AF_INET : AF_INET6, (const char *)p + i * each, one, sizeof(one));
		at += (size_t)snprintf(buf + at, n - at, "%s%s", i ? ";" : "", one);
	}
	return count > 0;
}

bool
config_value_format(const struct config_key *k, const void *base, char *buf, size_t n)
{
	const void *p = (const char *)base + k->off;
	unsigned int count = 0;
	const char *s;

	switch (k->type) {
	case KEY_LIST:
	case KEY_VIP4:
	case KEY_VIP6:
		memcpy(&count, (const char *)base + k->count_off, sizeof(count));
		if (k->type == KEY_LIST)
			config_list_format(p, count, buf, n);
		else
			return format_addrs(k, p, count, buf, n);
		return count > 0;
	case KEY_BOOL:
	case KEY_SWITCH:
	case KEY_UINT:
	case KEY_POW2:
		snprintf(buf, n, "%" PRIu64, fetch_uint(p, k->size));
		return true;
	case KEY_ENUM:
		snprintf(buf, n, "%s", k->names[fetch_uint(p, k->size)]);
		return true;
	case KEY_MASK:
		return format_mask(p, buf, n);
	case KEY_NAME:
		snprintf(buf, n, "%s", (const char *)p);
		return buf[0] != '\0';
	case KEY_IP4:
	case KEY_IP6:
		return format_addrs(k, p, 1, buf, n);
	default:
		memcpy(&s, p, sizeof(s));
		snprintf(buf, n, "%s", s ? s : "");
		return s != NULL;
	}
}

static void
join_names(const char *const *names, char *buf, size_t n)
{
	size_t at = 0;
	int i;

	buf[0] = '\0';
	for (i = 0; names[i] && at < n; i++)
		at += (size_t)snprintf(buf + at, n - at, "%s%s", i ? ", " : "", names[i]);
}

void
config_value_accepted(const struct config_key *k, char *buf, size_t n)
{
	const char *unit = k->unit ? k->unit : "", *blank = k->unit ? " " : "";
	static const char *const phrases[] = {
		[KEY_BOOL] = "0 or 1",
		[KEY_SWITCH] = "0 or 1 (also off, on, no, yes, false, true)",
		[KEY_MASK] = "a hexadecimal mask of lcores 0..127, such as f or 0xf",
		[KEY_STR] = "any text",
		[KEY_NAME] = "a name of at most 15 letters, digits, _ . -",
		[KEY_PREFIX] = "a name of at most 63 letters, digits, _ . -",
		[KEY_HEX] = "a hexadecimal address such as 0x7f0000000000",
		[KEY_DEVICES] = "PCI addresses such as 0000:02:00.0,0000:03:00.0",
		[KEY_ARGS] = "arguments separated by blanks; \"...\" or '...' keep blanks",
		[KEY_PORTS] = "ports 1..65535 and ranges, such as 80,443,8000-8100",
		[KEY_RSS_TBL] = "PORT DADDR SADDR SPORT;... with IPv4 addresses, such as 0 192.168.1.1 192.168.2.1 80",
		[KEY_MAC] = "a unicast Ethernet address such as 02:00:00:00:00:01",
		[KEY_IP4] = "an IPv4 address such as 192.168.1.2",
		[KEY_IP6] = "an IPv6 address such as 2001:db8::2",
		[KEY_VIP4] = "at most 64 IPv4 addresses separated by ;",
		[KEY_VIP6] = "at most 64 IPv6 addresses separated by ;",
	};
	char names[256];

	switch (k->type) {
	case KEY_UINT:
		snprintf(buf, n, "a whole number %" PRIu64 "..%" PRIu64 "%s%s", k->min, k->max, blank, unit);
		break;
	case KEY_POW2:
		snprintf(buf, n, "a power of two %" PRIu64 "..%" PRIu64 "%s%s", k->min, k->max, blank, unit);
		break;
	case KEY_LIST:
		snprintf(buf, n, "a list of at most %u numbers %" PRIu64 "..%" PRIu64 " and ranges, such as %s", k->cap,
			k->min, k->max, k->min == 0 ? "0-3,7" : "1-3,7");
		break;
	case KEY_ENUM:
		join_names(k->names, buf, n);
		break;
	default:
		if (k->names) {
			join_names(k->names, names, sizeof(names));
			snprintf(buf, n, "%s", names);
		} else {
			snprintf(buf, n, "%s", phrases[k->type]);
		}
	}
}
