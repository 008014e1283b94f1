/* SPDX-License-Identifier: BSD-3-Clause */
/* Fibers: a switch of a dozen instructions on x86-64, ucontext elsewhere; see fiber.h. */
#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__CET__)
#define BY_HAND 1
#else
#include <ucontext.h>
#endif

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

#define STACK_DEFAULT ((size_t)256 * 1024)

#define SPARE_MAX 64u

struct fiber {
#ifdef BY_HAND
	void *self, *back; /* stack pointers */
#else
	ucontext_t self, back;
#endif
	char *map, *stack; /* map: a guard page, then the stack */
	size_t map_size, size;
	void (*fn)(void *arg);
	void *arg;
	bool done;
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

/* Stacks of the default size that are free: making one costs more than a short process. */
static char *spare[SPARE_MAX];
static unsigned int nb_spare;

#ifdef BY_HAND
/* Keeps what a call must keep on this stack, its pointer in *from, and goes on where `to` was left. */
void fiber_jump(void **from, void *to);
void fiber_begin(void);
__asm__(".text\n"
	".p2align 4\n"
	".globl fiber_jump\n"
	".hidden fiber_jump\n"
	".type fiber_jump, @function\n"
	"fiber_jump:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size fiber_jump, .-fiber_jump\n"
	".globl fiber_begin\n"
	".hidden fiber_begin\n"
	".type fiber_begin, @function\n"
	"fiber_begin:\n" /* rbx: the fiber, r12: the function */
	"	movq %rbx, %rdi\n"
	"	call *%r12\n"
	"	ud2\n"
	".size fiber_begin, .-fiber_begin\n");
#endif

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
#ifdef BY_HAND
	fiber_jump(&f->self, f->back);
#else
	swapcontext(&f->self, &f->back);
#endif
}

static void
body(struct fiber *f)
{
	arrived(f);
	f->fn(f->arg);
	f->done = true;
	leave(f);
}

#ifdef BY_HAND
static bool
prepare(struct fiber *f)
{
	/* r15 r14 r13 r12 rbx rbp, where it begins; 16-byte aligned when that has been taken off */
	uintptr_t *top = (uintptr_t *)(f->stack + f->size) - 9;

	memset(top, 0, 9 * sizeof(*top));
	top[3] = (uintptr_t)body;
	top[4] = (uintptr_t)f;
	top[6] = (uintptr_t)fiber_begin;
	f->self = top;
	return true;
}
#else
static void
entry(unsigned int hi, unsigned int lo)
{
	body((struct fiber *)((uintptr_t)hi << 32 | lo));
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
#endif

/* A guard page and a stack of the size, or NULL. */
static char *
stack_take(size_t page, size_t size)
{
	char *map;

	if (size == STACK_DEFAULT && nb_spare > 0)
		return spare[--nb_spare];
	map = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	if (mprotect(map, page, PROT_NONE) != 0) {
		munmap(map, size + page);
		return NULL;
	}
	return map;
}

static void
stack_give(char *map, size_t map_size, size_t size)
{
	if (size == STACK_DEFAULT && nb_spare < SPARE_MAX)
		spare[nb_spare++] = map;
	else
		munmap(map, map_size);
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
	f->map = stack_take(page, f->size);
	if (f->map == NULL) {
		free(f);
		return NULL;
	}
	f->stack = f->map + page;
	f->fn = fn;
	f->arg = arg;
	if (!prepare(f)) {
		stack_give(f->map, f->map_size, f->size);
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
#ifdef BY_HAND
	fiber_jump(&f->back, f->self);
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
	stack_give(f->map, f->map_size, f->size);
	free(f);
}
