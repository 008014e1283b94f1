/* SPDX-License-Identifier: BSD-3-Clause */
/* kqueue's events, with the names, numbers and layout that programs for F-Stack are compiled against. */
#ifndef NONIC_FF_EVENT_H
#define NONIC_FF_EVENT_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 64 bytes where pointers have 8. */
struct kevent {
	uintptr_t ident;   /* descriptor, or the user's own number */
	short filter;      /* EVFILT_x */
	unsigned short flags;
	unsigned int fflags;
	int64_t data;
	void *udata;       /* given back as it was */
	uint64_t ext[4];
};

/* Filters that report: READ, WRITE, TIMER, USER. EV_ADD of another one fails with EINVAL. */
#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_AIO (-3)
#define EVFILT_VNODE (-4)
#define EVFILT_PROC (-5)
#define EVFILT_SIGNAL (-6)
#define EVFILT_TIMER (-7)
#define EVFILT_PROCDESC (-8)
#define EVFILT_FS (-9)
#define EVFILT_LIO (-10)
#define EVFILT_USER (-11)
#define EVFILT_SENDFILE (-12)
#define EVFILT_EMPTY (-13)
#define EVFILT_SYSCOUNT 13

#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_DISABLE 0x0008
#define EV_ONESHOT 0x0010
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_DISPATCH 0x0080
#define EV_FORCEONESHOT 0x0100
#define EV_SYSFLAGS 0xF000
#define EV_DROP 0x1000
#define EV_FLAG1 0x2000
#define EV_FLAG2 0x4000
#define EV_ERROR 0x4000
#define EV_EOF 0x8000

/* READ and WRITE */
#define NOTE_LOWAT 0x00000001
#define NOTE_FILE_POLL 0x00000002
/* USER: what to do with the lower 24 bits of fflags, and the trigger */
#define NOTE_FFNOP 0x00000000
#define NOTE_FFAND 0x40000000
#define NOTE_FFOR 0x80000000
#define NOTE_FFCOPY 0xc0000000
#define NOTE_FFCTRLMASK 0xc0000000
#define NOTE_FFLAGSMASK 0x00ffffff
#define NOTE_TRIGGER 0x01000000
/* TIMER: unit of data, milliseconds without one */
#define NOTE_SECONDS 0x00000001
#define NOTE_MSECONDS 0x00000002
#define NOTE_USECONDS 0x00000004
#define NOTE_NSECONDS 0x00000008
#define NOTE_ABSTIME 0x00000010
/* VNODE and PROC: numbers only */
#define NOTE_DELETE 0x0001
#define NOTE_WRITE 0x0002
#define NOTE_EXTEND 0x0004
#define NOTE_ATTRIB 0x0008
#define NOTE_LINK 0x0010
#define NOTE_RENAME 0x0020
#define NOTE_REVOKE 0x0040
#define NOTE_EXIT 0x80000000
#define NOTE_FORK 0x40000000
#define NOTE_EXEC 0x20000000
#define NOTE_PCTRLMASK 0xf0000000
#define NOTE_PDATAMASK 0x000fffff
#define NOTE_TRACK 0x00000001
#define NOTE_TRACKERR 0x00000002
#define NOTE_CHILD 0x00000004

/* Fills *kevp; each argument is evaluated once. */
static inline void
ff_ev_set(struct kevent *kevp, uintptr_t ident, short filter, unsigned short flags, unsigned int fflags,
	int64_t data, void *udata)
{
	kevp->ident = ident;
	kevp->filter = filter;
	kevp->flags = flags;
	kevp->fflags = fflags;
	kevp->data = data;
	kevp->udata = udata;
	kevp->ext[0] = kevp->ext[1] = kevp->ext[2] = kevp->ext[3] = 0;
}
#define EV_SET(kevp_, ident_, filter_, flags_, fflags_, data_, udata_) \
	ff_ev_set((kevp_), (uintptr_t)(ident_), (short)(filter_), (unsigned short)(flags_), \
		(unsigned int)(fflags_), (int64_t)(data_), (void *)(udata_))

struct knote;
SLIST_HEAD(klist, knote);

#ifdef __cplusplus
}
#endif
#endif
