/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 against the published vectors, in one piece and in many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/base/sha256.h"

static void
hex(const uint8_t d[SHA256_LEN], char out[2 * SHA256_LEN + 1])
{
	int i;

	for (i = 0; i < SHA256_LEN; i++)
		sprintf(out + 2 * i, "%02x", d[i]);
}

/* FIPS 180-4 examples; CFG-6 stands on them */
static void
published_vectors(void **state)
{
	static const struct {
		const char *text, *digest;
	} v[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	uint8_t d[SHA256_LEN];
	struct sha256 c;
	char text[65];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		sha256_init(&c);
		sha256_add(&c, v[i].text, strlen(v[i].text));
		sha256_finish(&c, d);
		hex(d, text);
		assert_string_equal(text, v[i].digest);
	}
}

static void
a_million_letters_in_uneven_pieces(void **state)
{
	char piece[997], text[65];
	uint8_t d[SHA256_LEN];
	struct sha256 c;
	size_t left = 1000000, n;

	(void)state;
	memset(piece, 'a', sizeof(piece));
	sha256_init(&c);
	while (left > 0) {
		n = left < sizeof(piece) ? left : sizeof(piece);
		sha256_add(&c, piece, n);
		left -= n;
	}
	sha256_finish(&c, d);
	hex(d, text);
	assert_string_equal(text, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around the padding's edges gives the same digest in one piece and byte by byte. */
static void
pieces_do_not_matter(void **state)
{
	uint8_t data[200], a[SHA256_LEN], b[SHA256_LEN], last[SHA256_LEN] = { 0 };
	struct sha256 c;
	size_t n, i;

	(void)state;
	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	for (n = 0; n <= sizeof(data); n++) {
		sha256_init(&c);
		sha256_add(&c, data, n);
		sha256_finish(&c, a);
		sha256_init(&c);
		for (i = 0; i < n; i++)
			sha256_add(&c, data + i, 1);
		sha256_finish(&c, b);
		assert_memory_equal(a, b, SHA256_LEN);
		assert_memory_not_equal(a, last, SHA256_LEN);
		memcpy(last, a, SHA256_LEN);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(a_million_letters_in_uneven_pieces),
		cmocka_unit_test(pieces_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
