/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Words that set a shader up: uniforms, shared memory, registers, code.
 */
#ifndef VAGX_USC_H
#define VAGX_USC_H

#include <stdint.h>

struct agx_shader_counts;
struct vagx_launch;
struct vagx_report;
struct vagx_uat;
struct vagx_uat_fault;

/** struct vagx_usc_source - where shader words come from */
struct vagx_usc_source {
	/** @uat: translates addresses */
	struct vagx_uat *uat;
	/** @report: takes warnings */
	struct vagx_report *report;
	/** @vm_slot: UAT context */
	unsigned int vm_slot;
	/** @base: base of the 32-bit addresses */
	uint64_t base;
};

/** vagx_usc_extends_samplers() - whether a launch with these has border colours */
bool vagx_usc_extends_samplers(const struct agx_shader_counts *counts);

/**
 * vagx_usc_load() - read shader words
 * @source: where they come from
 * @pipeline: offset of the first word from the base
 * @launch: gets code, uniforms, registers and shared memory; says by then
 *	    whether samplers are extended
 * @fault: filled when -EFAULT is returned; for malformed words it is an
 *	   access that is not allowed, at the word's address
 *
 * Return: 0 or -EFAULT.
 */
int vagx_usc_load(const struct vagx_usc_source *source, uint32_t pipeline,
		  struct vagx_launch *launch, struct vagx_uat_fault *fault);

#endif /* VAGX_USC_H */
