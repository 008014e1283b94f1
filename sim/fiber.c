/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers over ucontext, which starts them; switching is _setjmp and _longjmp, without its system calls. See fiber.h. */
#include "fiber.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define HAVE_VALGRIND 1
#endif
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#endif
#ifdef __SANITIZE_THREAD__
#define WITH_TSAN 1
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if !defined(WITH_ASAN) && !defined(WITH_TSAN)
#define WITH_JUMPS 1 /* the sanitizers want to see the switch that they know */
#endif

#define STACK_DEFAULT ((size_t)256 * 1024)

struct fiber {
	ucontext_t self, back;
	char *map, *stack; /* map: a guard page, then the stack */
	size_t map_size, size;
	void (*fn)(void *arg);
	void *arg;
	bool done;
#ifdef WITH_JUMPS
	bool begun;
	jmp_buf self_jump, back_jump;
#endif
#ifdef HAVE_VALGRIND
	unsigned int valgrind_id;
#endif
#ifdef WITH_ASAN
	void *fake, *back_fake;
	const void *back_stack;
	size_t back_size;
#endif
#ifdef WITH_TSAN
	void *tsan, *back_tsan;
#endif
};

static void
arrived(struct fiber *f)
{
#ifdef WITH_ASAN
	__sanitizer_finish_switch_fiber(f->fake, &f->back_stack, &f->back_size);
#else
	(void)f;
#endif
}

/* Leaves f for the scheduler. */
static void
leave(struct fiber *f)
{
#ifdef WITH_ASAN
	__sanitizer_start_switch_fiber(f->done ? NULL : &f->fake, f->back_stack, f->back_size);
#endif
#ifdef WITH_TSAN
	__tsan_switch_to_fiber(f->back_tsan, 0);
#endif
#ifdef WITH_JUMPS
	if (_setjmp(f->self_jump) == 0)
		_longjmp(f->back_jump, 1);
#else
	swapcontext(&f->self, &f->back);
#endif
}

static void
entry(unsigned int hi, unsigned int lo)
{
	struct fiber *f = (struct fiber *)((uintptr_t)hi << 32 | lo);

	arrived(f);
	f->fn(f->arg);
	f->done = true;
	leave(f);
}

/* Apart from fiber_create: getcontext returns twice in the compiler's eyes. */
static bool
prepare(struct fiber *f)
{
	if (getcontext(&f->self) != 0)
		return false;
	f->self.uc_stack.ss_sp = f->stack;
	f->self.uc_stack.ss_size = f->size;
	f->self.uc_link = NULL;
	makecontext(&f->self, (void (*)(void))entry, 2, (unsigned int)((uintptr_t)f >> 32),
		(unsigned int)(uintptr_t)f);
	return true;
}

struct fiber *
fiber_create(size_t stack, void (*fn)(void *arg), void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct fiber *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->size = ((stack != 0 ? stack : STACK_DEFAULT) + page - 1) / page * page;
	f->map_size = f->size + page;
	f->map = mmap(NULL, f->map_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->map == MAP_FAILED) {
		free(f);
		return NULL;
	}
	f->stack = f->map + page;
	f->fn = fn;
	f->arg = arg;
	if (mprotect(f->map, page, PROT_NONE) != 0 || !prepare(f)) {
		munmap(f->map, f->map_size);
		free(f);
		return NULL;
	}
#ifdef HAVE_VALGRIND
	f->valgrind_id = VALGRIND_STACK_REGISTER(f->stack, f->stack + f->size);
#endif
#ifdef WITH_TSAN
	f->tsan = __tsan_create_fiber(0);
#endif
	return f;
}

void
fiber_resume(struct fiber *f)
{
#ifdef WITH_ASAN
	__sanitizer_start_switch_fiber(&f->back_fake, f->stack, f->size);
#endif
#ifdef WITH_TSAN
	f->back_tsan = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(f->tsan, 0);
#endif
#ifdef WITH_JUMPS
	if (_setjmp(f->back_jump) == 0) {
		if (f->begun)
			_longjmp(f->self_jump, 1);
		f->begun = true;
		setcontext(&f->self);
	}
#else
	swapcontext(&f->back, &f->self);
#endif
#ifdef WITH_ASAN
	__sanitizer_finish_switch_fiber(f->back_fake, NULL, NULL);
#endif
}

void
fiber_yield(struct fiber *f)
{
	leave(f);
	arrived(f);
}

bool
fiber_done(const struct fiber *f)
{
	return f->done;
}

void
fiber_destroy(struct fiber *f)
{
	if (f == NULL)
		return;
#ifdef HAVE_VALGRIND
	VALGRIND_STACK_DEREGISTER(f->valgrind_id);
#endif
#ifdef WITH_TSAN
	__tsan_destroy_fiber(f->tsan);
#endif
#ifdef WITH_ASAN
	__asan_unpoison_memory_region(f->stack, f->size);
#endif
	munmap(f->map, f->map_size);
	free(f);
}
