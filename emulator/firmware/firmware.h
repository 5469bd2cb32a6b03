/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FIRMWARE_H
#define VAGX_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The virtual firmware: what runs on the GPU's coprocessor. It owns a thread of its own, which
 * takes RTKit messages of the application endpoints 0x20 and 0x21, and one worker thread per kind
 * of work (vertex, fragment, compute). It reaches guest memory only through the address
 * translation that the guest set up.
 */

struct vagx_clock;
struct vagx_firmware;
struct vagx_gpu;
struct vagx_mem;
struct vagx_report;
struct vagx_uat;
struct vagx_uat_fault;

#define VAGX_FW_EP_FIRMWARE	0x20
#define VAGX_FW_EP_DOORBELL	0x21

/**
 * struct vagx_fw_config - what the virtual firmware is built from
 * @mem: guest RAM; used for the handoff region alone
 * @uat: the MMU; everything else is reached through it
 * @gpu: the units that run jobs
 * @report: where violations and log lines go
 * @clock: the guest's counter
 * @abi: firmware version, "13.5"
 * @handoff: guest physical address of the handoff region, one page of 16 KiB
 * @job_timeout_ms: a job that runs longer is cancelled and reported with a timeout event; 0 means
 *	VAGX_FW_DEFAULT_TIMEOUT_MS
 * @soft_faults: shaders' faults are not reported by the units, so InitData's fault control must
 *	ask for it
 * @send: sends a message to the guest through the mailbox; called on the firmware's threads,
 *	must not call back into the firmware
 * @set_fault_regs: fills the MMU fault register before a fault event is sent; @fault NULL clears
 *	it. Same context as @send.
 * @crashed: the virtual firmware has ended (a crash of the real one): the caller tells the guest
 *	by RTKit's crashlog. Called once per boot, on one of the firmware's threads. May be NULL.
 * @ctx: first argument of the callbacks
 *
 * All pointers are borrowed and outlive the firmware. The structure itself is copied.
 */
struct vagx_fw_config {
	struct vagx_mem *mem;
	struct vagx_uat *uat;
	struct vagx_gpu *gpu;
	struct vagx_report *report;
	struct vagx_clock *clock;
	const char *abi;
	uint64_t handoff;
	unsigned int job_timeout_ms;
	bool soft_faults;
	void (*send)(void *ctx, uint8_t ep, uint64_t msg);
	void (*set_fault_regs)(void *ctx, const struct vagx_uat_fault *fault, unsigned int unit);
	void (*crashed)(void *ctx, const char *message);
	void *ctx;
};

#define VAGX_FW_DEFAULT_TIMEOUT_MS	5000

/**
 * vagx_fw_new() - create the firmware and its threads, in reset
 * @config: see above
 *
 * Return: the firmware, or NULL with errno set (ENOTSUP: an ABI that is known but not implemented
 * yet; EINVAL: unknown).
 */
struct vagx_firmware *vagx_fw_new(const struct vagx_fw_config *config);

/** vagx_fw_free() - cancel what runs, join the threads, release everything; NULL is allowed */
void vagx_fw_free(struct vagx_firmware *fw);

/**
 * vagx_fw_start() - the coprocessor's CPU was started (run bit of its control register)
 *
 * The firmware answers by writing its magic number into the handoff region. Does not block;
 * starting it again while it runs does nothing.
 */
void vagx_fw_start(struct vagx_firmware *fw);

/**
 * vagx_fw_message() - a message arrived on one of the application endpoints
 * @ep: 0x20 or 0x21
 * @msg: the 64-bit message
 *
 * Called from the MMIO thread: only enqueues, never blocks. Messages to a firmware at rest are
 * reported and dropped, those to one that has crashed just dropped.
 */
void vagx_fw_message(struct vagx_firmware *fw, uint8_t ep, uint64_t msg);

/**
 * vagx_fw_quiesce() - RTKit takes the application's power away (AP or IOP state quiesced)
 *
 * Waits for the threads to let go of guest memory (running jobs are cancelled, bounded), and
 * forgets InitData: hold no lock that one of the callbacks takes. After the next vagx_fw_start()
 * or vagx_fw_wake() the guest may send INIT again.
 */
void vagx_fw_quiesce(struct vagx_firmware *fw);

/** vagx_fw_wake() - RTKit gives power back after vagx_fw_quiesce() */
void vagx_fw_wake(struct vagx_firmware *fw);

/**
 * vagx_fw_reset() - the machine was reset
 *
 * Like quiesce, and the crashed state is forgotten too; vagx_fw_start() follows.
 */
void vagx_fw_reset(struct vagx_firmware *fw);

/** vagx_fw_is_crashed() - the virtual firmware has ended after nonsense from the guest */
bool vagx_fw_is_crashed(struct vagx_firmware *fw);

#endif
