/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * USC words, which set a shader up: uniforms, textures, samplers, shared memory, registers, code.
 */
#ifndef VAGX_USC_H
#define VAGX_USC_H

#include <stdint.h>

struct agx_shader_counts;
struct vagx_launch;
struct vagx_report;
struct vagx_tlb;
struct vagx_uat_fault;

/** struct vagx_usc_source - the address space and the base of USC words */
struct vagx_usc_source {
	/** @tlb: translates addresses, for the thread that reads */
	struct vagx_tlb *tlb;
	/** @report: takes warnings */
	struct vagx_report *report;
	/** @vm_slot: UAT context */
	unsigned int vm_slot;
	/** @base: base of the 32-bit addresses */
	uint64_t base;
	/** @helper: the job's helper program, which serves memory for stacks; 0 for none */
	uint32_t helper;
	/** @seed: chooses what uniforms have that no word binds */
	uint32_t seed;
};

/** vagx_usc_extends_samplers() - whether samplers have border colours behind them */
bool vagx_usc_extends_samplers(const struct agx_shader_counts *counts);

/**
 * vagx_usc_load() - read USC words and what they bind
 * @source: address space and base
 * @pipeline: offset of the first word from the base, in bytes
 * @launch: gets code, uniforms, textures, samplers, registers, stack and shared memory; its
 *	    extended_samplers is to be set before
 * @fault: filled when -EFAULT is returned; for malformed words it is an
 *	   access that is not allowed, at the word's address
 *
 * Return: 0 or -EFAULT.
 */
int vagx_usc_load(const struct vagx_usc_source *source, uint32_t pipeline,
		  struct vagx_launch *launch, struct vagx_uat_fault *fault);

#endif /* VAGX_USC_H */
