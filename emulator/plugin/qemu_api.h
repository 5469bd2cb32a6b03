/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_QEMU_API_H
#define VAGX_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the plugins use of QEMU's plugin interface, version 7 (QEMU 11.1), and of
 * glib, whose arrays that interface hands out. Debian packages neither header for
 * the toolbox. QEMU refuses a plugin whose version it does not have.
 */
#define QEMU_API_VERSION	7
#define QEMU_API_NO_REGISTERS	0	/* flags of a callback */
#define QEMU_API_READS_REGISTERS 1

#define QEMU_API_ADD		0	/* an operation that needs no callback */

struct qemu_tb;
struct qemu_insn;
struct qemu_register;
struct qemu_scoreboard;

/* A number of each processor, @offset bytes into its part of @score */
struct qemu_u64 {
	struct qemu_scoreboard *score;
	size_t offset;
};

struct qemu_register_info {
	struct qemu_register *handle;
	const char *name;
	const char *feature;
	bool read_only;
};

/* glib's GArray and GByteArray begin with these */
struct glib_array {
	void *data;
	unsigned int len;
};

void qemu_plugin_register_vcpu_init_cb(uint64_t id, void (*cb)(unsigned int cpu, void *ctx),
				       void *ctx);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(struct qemu_tb *tb, void *ctx), void *ctx);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_insn *insn,
					    void (*cb)(unsigned int cpu, void *ctx), int flags,
					    void *ctx);
void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_tb *tb, int operation,
							struct qemu_u64 number, uint64_t operand);
void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_insn *insn, int operation,
							  struct qemu_u64 number,
							  uint64_t operand);
struct qemu_scoreboard *qemu_plugin_scoreboard_new(size_t size);
uint64_t qemu_plugin_u64_sum(struct qemu_u64 number);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_tb *tb);
size_t qemu_plugin_tb_n_insns(const struct qemu_tb *tb);
struct qemu_insn *qemu_plugin_tb_get_insn(const struct qemu_tb *tb, size_t index);
size_t qemu_plugin_insn_data(const struct qemu_insn *insn, void *to, size_t len);
struct glib_array *qemu_plugin_get_registers(void);
bool qemu_plugin_read_register(struct qemu_register *handle, struct glib_array *bytes);

/* Of the processor whose callback runs */
bool qemu_plugin_translate_vaddr(uint64_t va, uint64_t *pa);

struct glib_array *g_byte_array_new(void);
struct glib_array *g_byte_array_set_size(struct glib_array *array, unsigned int len);
char *g_array_free(struct glib_array *array, int free_data);

/* What QEMU looks for */
extern int qemu_plugin_version;
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

#endif
