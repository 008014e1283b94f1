/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target over files and directories of files, with any compiler: what once was a finding stays mended. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
run_file(const char *name)
{
	uint8_t *data;
	size_t n;
	long size;
	FILE *f = fopen(name, "rb");

	if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0) {
		perror(name);
		return -1;
	}
	rewind(f);
	data = malloc((size_t)size + 1); /* exactly the input: an overrun is seen by the sanitizers */
	if (!data)
		abort();
	n = fread(data, 1, (size_t)size, f);
	fclose(f);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 1;
}

/* A file, or every file in a directory. How many were run, or -1. */
static int
run_path(const char *path)
{
	char name[4096];
	struct dirent *e;
	struct stat st;
	int n = 0, rc;
	DIR *d;

	if (stat(path, &st) != 0) {
		perror(path);
		return -1;
	}
	if (!S_ISDIR(st.st_mode))
		return run_file(path);
	d = opendir(path);
	if (!d) {
		perror(path);
		return -1;
	}
	while ((e = readdir(d)) != NULL) {
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (e->d_name[0] == '.')
			continue;
		rc = run_path(name);
		if (rc < 0) {
			closedir(d);
			return -1;
		}
		n += rc;
	}
	closedir(d);
	return n;
}

int
main(int argc, char *argv[])
{
	int i, n, total = 0;

	for (i = 1; i < argc; i++) {
		n = run_path(argv[i]);
		if (n < 0)
			return 1;
		total += n;
	}
	printf("%d inputs\n", total);
	return total > 0 ? 0 : 1;
}
