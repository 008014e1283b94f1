/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of values: numbers with ranges, addresses, devices, and rss_check's table. Nothing is skipped silently. */
#include "keys.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

bool
config_token(const char **text, char sep, char *tok, size_t n)
{
	const char *p = *text, *end;
	size_t len;

	if (!p)
		return false;
	end = strchr(p, sep);
	len = end ? (size_t)(end - p) : strlen(p);
	*text = end ? end + 1 : NULL;
	while (len > 0 && isspace((unsigned char)p[0])) {
		p++;
		len--;
	}
	while (len > 0 && isspace((unsigned char)p[len - 1]))
		len--;
	/* A token that does not fit is no valid element of any list here; what is left of it says so. */
	if (len >= n)
		len = n - 1;
	memcpy(tok, p, len);
	tok[len] = '\0';
	return true;
}

/* "7" or "0-3"; lo <= hi. */
static int
parse_range(const char *tok, uint64_t min, uint64_t max, uint64_t *lo, uint64_t *hi, char *why, size_t n)
{
	char part[64], left[96], *dash;
	int rc;

	snprintf(part, sizeof(part), "%s", tok);
	dash = part[0] == '-' ? NULL : strchr(part, '-');
	if (dash)
		*dash = '\0';
	rc = config_parse_u64(part, min, max, lo, left, sizeof(left));
	*hi = *lo;
	if (rc == 0 && dash) {
		rc = config_parse_u64(dash + 1, min, max, hi, left, sizeof(left));
		if (rc == 0 && *hi < *lo) {
			snprintf(why, n, "the range %s runs backwards", tok);
			return -EINVAL;
		}
	}
	if (rc == 0)
		return 0;
	snprintf(why, n, tok[0] ? "\"%s\" in it is %s" : "an element%s is %s", tok, left);
	return -EINVAL;
}

int
config_list_parse(const struct config_key *k, const char *text, void *base, char *why, size_t n)
{
	uint16_t v[CONFIG_MAX_LCORES > CONFIG_MAX_VLANS ? CONFIG_MAX_LCORES : CONFIG_MAX_VLANS];
	unsigned int count = 0, i;
	uint64_t lo = 0, hi = 0;
	char tok[64];

	while (config_token(&text, ',', tok, sizeof(tok))) {
		if (parse_range(tok, k->min, k->max, &lo, &hi, why, n))
			return -EINVAL;
		for (; lo <= hi; lo++) {
			for (i = 0; i < count; i++)
				if (v[i] == lo) {
					snprintf(why, n, "%u is in it twice", v[i]);
					return -EINVAL;
				}
			if (count == k->cap) {
				snprintf(why, n, "more than %u elements", k->cap);
				return -EINVAL;
			}
			v[count++] = (uint16_t)lo;
		}
	}
	memset((char *)base + k->off, 0, k->size);
	memcpy((char *)base + k->off, v, count * sizeof(v[0]));
	memcpy((char *)base + k->count_off, &count, sizeof(count));
	return 0;
}

void
config_list_format(const uint16_t *v, unsigned int count, char *buf, size_t n)
{
	unsigned int i, j;
	size_t at = 0;

	buf[0] = '\0';
	for (i = 0; i < count && at < n; i = j + 1) {
		for (j = i; j + 1 < count && v[j + 1] == v[j] + 1; j++)
			;
		at += (size_t)snprintf(buf + at, n - at, j > i ? "%s%u-%u" : "%s%u", i ? "," : "", v[i], v[j]);
	}
}

int
config_vips_parse(const struct config_key *k, const char *text, void *base, char *why, size_t n)
{
	uint8_t v[CONFIG_MAX_VIPS][16];
	bool v4 = k->type == KEY_VIP4;
	size_t each = v4 ? 4 : 16, i;
	unsigned int count = 0;
	char tok[64], *p;

	while (config_token(&text, ';', tok, sizeof(tok))) {
		if (tok[0] == '\0' && !text && count > 0)
			break; /* F-Stack's files may end in ';' */
		if (count == CONFIG_MAX_VIPS) {
			snprintf(why, n, "more than %d addresses", CONFIG_MAX_VIPS);
			return -EINVAL;
		}
		if (inet_pton(v4 ? AF_INET : AF_INET6, tok, v[count]) != 1) {
			snprintf(why, n, "\"%s\" in it is not an %s address", tok, v4 ? "IPv4" : "IPv6");
			return -EINVAL;
		}
		for (i = 0; i < count; i++)
			if (memcmp(v[i], v[count], each) == 0) {
				snprintf(why, n, "%s is in it twice", tok);
				return -EINVAL;
			}
		count++;
	}
	p = (char *)base + k->off;
	memset(p, 0, k->size);
	for (i = 0; i < count; i++)
		memcpy(p + i * each, v[i], each);
	memcpy((char *)base + k->count_off, &count, sizeof(count));
	return 0;
}

static bool
hex_run(const char **p, unsigned int least, unsigned int most)
{
	unsigned int i;

	for (i = 0; i < most && isxdigit((unsigned char)(*p)[i]); i++)
		;
	*p += i;
	return i >= least;
}

/* [DDDD:]BB:DD.F */
static bool
is_pci(const char *tok)
{
	const char *p = tok;
	bool domain = strchr(tok, ':') != strrchr(tok, ':');

	if (domain && (!hex_run(&p, 4, 8) || *p++ != ':'))
		return false;
	return hex_run(&p, 1, 2) && *p++ == ':' && hex_run(&p, 1, 2) && *p++ == '.' && *p >= '0' && *p <= '7' &&
		p[1] == '\0';
}

int
config_devices_check(const char *text, char *why, size_t n)
{
	char tok[64];

	while (config_token(&text, ',', tok, sizeof(tok)))
		if (!is_pci(tok)) {
			snprintf(why, n, "\"%s\" in it is not a PCI address", tok);
			return -EINVAL;
		}
	return 0;
}

int
config_ports_check(const char *text, char *why, size_t n)
{
	uint64_t lo = 0, hi = 0;
	char tok[64];

	while (config_token(&text, ',', tok, sizeof(tok)))
		if (parse_range(tok, 1, 65535, &lo, &hi, why, n))
			return -EINVAL;
	return 0;
}

struct rss_remote {
	uint64_t port, sport;
	uint32_t daddr, saddr[4];
	unsigned int nb_saddr;
};

/* One "PORT DADDR SADDR SPORT". */
static int
parse_tuple(const char *tuple, struct rss_remote *r, char *why, size_t n)
{
	const char *rest = tuple;
	char tok[4][48], left[96];
	unsigned int i = 0;

	while (rest) {
		char one[48];

		config_token(&rest, ' ', one, sizeof(one));
		if (one[0] == '\0')
			continue;
		if (i == 4) {
			i = 5;
			break;
		}
		snprintf(tok[i++], sizeof(tok[0]), "%s", one);
	}
	if (i != 4) {
		snprintf(why, n, "\"%s\" in it has %s than four fields", tuple, i < 4 ? "fewer" : "more");
		return -EINVAL;
	}
	if (config_parse_u64(tok[0], 0, CONFIG_MAX_PORTS - 1, &r->port, left, sizeof(left)) ||
			inet_pton(AF_INET, tok[1], &r->daddr) != 1 ||
			inet_pton(AF_INET, tok[2], &r->saddr[0]) != 1 ||
			config_parse_u64(tok[3], 1, 65535, &r->sport, left, sizeof(left))) {
		snprintf(why, n, "\"%s\" in it has a bad field", tuple);
		return -EINVAL;
	}
	r->nb_saddr = 1;
	return 0;
}

int
config_rss_tbl_check(const char *text, char *why, size_t n)
{
	struct rss_remote r[16], one;
	unsigned int count = 0, i;
	char tuple[128];

	while (config_token(&text, ';', tuple, sizeof(tuple))) {
		if (tuple[0] == '\0' && !text && count > 0)
			break;
		if (parse_tuple(tuple, &one, why, n))
			return -EINVAL;
		for (i = 0; i < count; i++)
			if (r[i].port == one.port && r[i].daddr == one.daddr && r[i].sport == one.sport)
				break;
		if (i == 16) {
			snprintf(why, n, "more than 16 remotes");
			return -EINVAL;
		}
		if (i == count) {
			r[count++] = one;
		} else if (r[i].nb_saddr == 4) {
			snprintf(why, n, "more than 4 local addresses for one remote");
			return -EINVAL;
		} else {
			r[i].saddr[r[i].nb_saddr++] = one.saddr[0];
		}
	}
	return 0;
}
