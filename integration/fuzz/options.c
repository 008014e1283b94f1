/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of the fuzzers' address sanitizer: each input frees all it allocated, and a short quarantine (still longer than an
 * input's life) lets the next one use the same pages. With the default of 256 MB every input runs on cold memory, at half the
 * speed.
 */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}
