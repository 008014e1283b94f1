/* SPDX-License-Identifier: BSD-3-Clause */
/* Last words; see crash.h. */
#include "crash.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../shim/host/sim/machine.h"

static char note[4096];

static void
on_crash(int sig)
{
	size_t left = strlen(note);
	const char *p = note;

	while (left > 0) {
		ssize_t n = write(STDERR_FILENO, p, left);

		if (n <= 0)
			break;
		p += n;
		left -= (size_t)n;
	}
	raise(sig); /* SA_RESETHAND: now the default */
}

void
crash_catch(void)
{
	static char stack[65536];
	const stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction sa = { .sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER) };

	sigaltstack(&ss, NULL);
	sigaction(SIGABRT, &sa, NULL);
#ifndef SIM_WITH_ASAN
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
#endif
}

void
crash_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(note, sizeof(note), fmt, ap);
	va_end(ap);
}
