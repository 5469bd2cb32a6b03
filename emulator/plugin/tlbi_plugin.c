// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * A plugin for QEMU's TCG that tells vagx of the guest's TLB invalidations, and of the barriers
 * that complete them.
 *
 *   qemu-system-aarch64 -plugin vagx-tlbi.so,socket=PATH
 *
 * Only invalidations that the GPU's MMU hears and such barriers have a callback, so the rest of
 * the guest runs as without the plugin. A barrier is told only if its processor has issued
 * invalidations since the last one. The processor waits until vagx has answered: behind the
 * barrier, the GPU's translations are gone.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "../listen.h"
#include "../tlbi.h"
#include "qemu_api.h"

#define REGISTERS	31		/* x0 to x30; the number above is zero */
#define CPUS		512		/* more than QEMU's boards have */

#define EXPORTED	__attribute__((visibility("default")))

EXPORTED int qemu_plugin_version = QEMU_API_VERSION;

static pthread_mutex_t tlbi_plugin_lock = PTHREAD_MUTEX_INITIALIZER;
static int tlbi_plugin_vagx = -1;
static struct glib_array *tlbi_plugin_value;
static struct qemu_register *tlbi_plugin_registers[REGISTERS];
/* Whether a processor has issued an invalidation without a barrier; each has its own */
static bool tlbi_plugin_waits[CPUS];

/* The numbers of registers are the same for all processors */
static void tlbi_plugin_find_registers(unsigned int cpu, void *ctx)
{
	struct glib_array *list = qemu_plugin_get_registers();
	const struct qemu_register_info *info = list->data;
	char name[8];

	pthread_mutex_lock(&tlbi_plugin_lock);
	for (unsigned int i = 0; i < list->len; i++) {
		for (unsigned int n = 0; n < REGISTERS; n++) {
			snprintf(name, sizeof(name), "x%u", n);
			if (!strcmp(info[i].name, name))
				tlbi_plugin_registers[n] = info[i].handle;
		}
	}
	pthread_mutex_unlock(&tlbi_plugin_lock);
	g_array_free(list, 1);
}

/* Lock held */
static uint64_t tlbi_plugin_read_register(unsigned int n)
{
	uint64_t x = 0;

	if (n >= REGISTERS || !tlbi_plugin_registers[n])
		return 0;
	g_byte_array_set_size(tlbi_plugin_value, 0);
	if (qemu_plugin_read_register(tlbi_plugin_registers[n], tlbi_plugin_value) &&
	    tlbi_plugin_value->len >= sizeof(x))
		memcpy(&x, tlbi_plugin_value->data, sizeof(x));
	return x;
}

/* Lock held */
static void tlbi_plugin_tell(const struct vagx_tlbi_message *message)
{
	char answer;

	/* A vagx that has ended has no translations */
	if (tlbi_plugin_vagx >= 0 &&
	    (send(tlbi_plugin_vagx, message, sizeof(*message), MSG_NOSIGNAL) != sizeof(*message) ||
	     recv(tlbi_plugin_vagx, &answer, 1, 0) != 1))
		tlbi_plugin_vagx = -1;
}

static void tlbi_plugin_executed(unsigned int cpu, void *ctx)
{
	uint32_t insn = (uintptr_t)ctx;
	struct vagx_tlbi_message message = { .insn = insn, .cpu = cpu };

	pthread_mutex_lock(&tlbi_plugin_lock);
	message.operand = tlbi_plugin_read_register(VAGX_TLBI_RT(insn));
	tlbi_plugin_tell(&message);
	pthread_mutex_unlock(&tlbi_plugin_lock);
	if (cpu < CPUS)
		tlbi_plugin_waits[cpu] = true;
}

static void tlbi_plugin_completed(unsigned int cpu, void *ctx)
{
	struct vagx_tlbi_message message = { .insn = (uintptr_t)ctx, .cpu = cpu };

	if (cpu < CPUS && !tlbi_plugin_waits[cpu])
		return;
	pthread_mutex_lock(&tlbi_plugin_lock);
	tlbi_plugin_tell(&message);
	pthread_mutex_unlock(&tlbi_plugin_lock);
	if (cpu < CPUS)
		tlbi_plugin_waits[cpu] = false;
}

static void tlbi_plugin_translated(struct qemu_tb *tb, void *ctx)
{
	size_t count = qemu_plugin_tb_n_insns(tb);

	for (size_t i = 0; i < count; i++) {
		struct qemu_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = 0;

		qemu_plugin_insn_data(insn, &word, sizeof(word));
		if (vagx_tlbi_is_heard(word))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, tlbi_plugin_executed,
							       QEMU_API_READS_REGISTERS,
							       (void *)(uintptr_t)word);
		else if (vagx_tlbi_is_barrier(word))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, tlbi_plugin_completed,
							       QEMU_API_NO_REGISTERS,
							       (void *)(uintptr_t)word);
	}
}

EXPORTED int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
	static const char option[] = "socket=";

	if (argc != 1 || strncmp(argv[0], option, strlen(option))) {
		fprintf(stderr, "vagx-tlbi: usage: -plugin vagx-tlbi.so,socket=PATH\n");
		return -1;
	}
	tlbi_plugin_value = g_byte_array_new();
	tlbi_plugin_vagx = vagx_connect(argv[0] + strlen(option));
	if (tlbi_plugin_vagx < 0) {
		perror(argv[0]);
		return -1;
	}
	qemu_plugin_register_vcpu_init_cb(id, tlbi_plugin_find_registers, NULL);
	qemu_plugin_register_vcpu_tb_trans_cb(id, tlbi_plugin_translated, NULL);
	return 0;
}
