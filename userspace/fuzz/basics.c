// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Programs for ioctls that the clients do not use, written by hand in the form of text.c.
 * Each of their calls succeeds, which the fuzzer checks first.
 */
#include "fuzz.h"

const char *const fuzz_basics[] = {
	/* points of timelines */
	"program 0 threads 1\n"
	"r1 = open {fd=0x0}\n"
	"r2 = SYNCOBJ_CREATE r1 {handle=0x0, flags=0x0}\n"
	"r3 = SYNCOBJ_CREATE r1 {handle=0x0, flags=0x1}\n"
	"SYNCOBJ_TIMELINE_SIGNAL r1 {handles=&[r2], points=&[0x5], count_handles=auto, flags=0x0}\n"
	"SYNCOBJ_QUERY r1 {handles=&[r2], points=&[0x0], count_handles=auto, flags=0x0}\n"
	"SYNCOBJ_TRANSFER r1 {src_handle=r2, dst_handle=r3, src_point=0x5, dst_point=0x7, "
	"flags=0x0, pad=0x0}\n"
	"SYNCOBJ_TIMELINE_WAIT r1 {handles=&[r3], points=&[0x7], timeout_nsec=0x100, "
	"count_handles=auto, flags=0x0, first_signaled=0x0, pad=0x0, deadline_nsec=0x0}\n"
	"SYNCOBJ_RESET r1 {handles=&[r3], count_handles=auto, pad=0x0}\n"
	"SYNCOBJ_SIGNAL r1 {handles=&[r3], count_handles=auto, pad=0x0}\n"
	"SYNCOBJ_WAIT r1 {handles=&[r2, r3], timeout_nsec=0x100, count_handles=auto, flags=0x0, "
	"first_signaled=0x0, pad=0x0, deadline_nsec=0x0}\n"
	"SYNCOBJ_DESTROY r1 {handle=r2, pad=0x0}\n"
	"end\n",
	/* objects that are passed from one open file to another */
	"program 0 threads 1\n"
	"r1 = open {fd=0x0}\n"
	"r2 = open {fd=0x0}\n"
	"r3 = SYNCOBJ_CREATE r1 {handle=0x0, flags=0x1}\n"
	"r4 = SYNCOBJ_HANDLE_TO_FD r1 {handle=r3, flags=0x0, fd=0x0, pad=0x0}\n"
	"r5 = SYNCOBJ_FD_TO_HANDLE r2 {handle=0x0, flags=0x0, fd=r4, pad=0x0}\n"
	"r6 = SYNCOBJ_HANDLE_TO_FD r2 {handle=r5, flags=0x1, fd=0x0, pad=0x0}\n"
	"SYNCOBJ_FD_TO_HANDLE r1 {handle=r3, flags=0x1, fd=r6, pad=0x0}\n"
	"r7 = ASAHI_GEM_CREATE r1 {size=0x8000, flags=0x1, vm_id=0x0, handle=0x0, pad=0x0}\n"
	"r8 = PRIME_HANDLE_TO_FD r1 {handle=r7, flags=0x80002, fd=0x0}\n"
	"r9 = PRIME_FD_TO_HANDLE r2 {handle=0x0, flags=0x0, fd=r8}\n"
	"r10 = ASAHI_GEM_MMAP_OFFSET r2 {handle=r9, flags=0x0, offset=0x0}\n"
	"r11 = map r2 {offset=r10, size=0x8000, mapping=0x0}\n"
	"write {mapping=r11, offset=0x0, data=#0102030405060708}\n"
	"unmap {mapping=r11}\n"
	"GEM_CLOSE r2 {handle=r9, pad=0x0}\n"
	"close_fd {fd=r8}\n"
	"close {fd=r2}\n"
	"end\n",
	/* timestamps, memory for them, and an address space that is destroyed before its queue */
	"program 0 threads 1\n"
	"r1 = open {fd=0x0}\n"
	"r2 = ASAHI_GEM_CREATE r1 {size=0x8000, flags=0x0, vm_id=0x0, handle=0x0, pad=0x0}\n"
	"r3 = ASAHI_GEM_BIND_OBJECT r1 {op=0x0, flags=0x1, handle=r2, vm_id=0x0, offset=0x0, "
	"range=0x4000, object_handle=0x0, pad=0x0}\n"
	"ASAHI_GEM_BIND_OBJECT r1 {op=0x1, flags=0x0, handle=0x0, vm_id=0x0, offset=0x0, "
	"range=0x0, object_handle=r3, pad=0x0}\n"
	"ASAHI_GET_TIME r1 {flags=0x0, gpu_timestamp=0x0}\n"
	"r5 = ASAHI_VM_CREATE r1 {kernel_start=0x7f00000000, kernel_end=0x7fffff8000, "
	"vm_id=0x0, pad=0x0}\n"
	"r6 = ASAHI_QUEUE_CREATE r1 {flags=0x0, vm_id=r5, priority=0x1, queue_id=0x0, "
	"usc_exec_base=0x100000000}\n"
	"ASAHI_VM_BIND r1 {vm_id=r5, num_binds=auto, stride=0x20, pad=0x0, userptr=&["
	"{flags=0x6, handle=r2, offset=0x0, range=0x8000, addr=0x100000000}, "
	"{flags=0x1, handle=0x0, offset=0x0, range=0x4000, addr=0x100004000}]}\n"
	"ASAHI_VM_DESTROY r1 {vm_id=r5, pad=0x0}\n"
	"ASAHI_QUEUE_DESTROY r1 {queue_id=r6, pad=0x0}\n"
	"end\n",
	NULL,
};
