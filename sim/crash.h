/* SPDX-License-Identifier: BSD-3-Clause */
/* A crash of the code under test says what was running, and how to run it again. */
#ifndef NONIC_SIM_CRASH_H
#define NONIC_SIM_CRASH_H

/* Handlers for the signals of a crash; once. */
void crash_catch(void);
/* What is printed when it happens, until the next call; "": nothing. */
void crash_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
