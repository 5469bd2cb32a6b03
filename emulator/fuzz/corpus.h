/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Inputs of fuzzing targets that are lists of records, for the parts of fuzz-corpus.
 */
#ifndef VAGX_FUZZ_CORPUS_H
#define VAGX_FUZZ_CORPUS_H

#include "records.h"

/** struct corpus_list - an input while it is made; the first record is the target's own */
struct corpus_list {
	struct fuzz_record record[FUZZ_RECORDS];
	size_t count;
};

/** corpus_add() - add a record, if there is room */
void corpus_add(struct corpus_list *list, struct fuzz_record record);

/** corpus_put() - write a list as an input of a target, unless there is one like it */
void corpus_put(const char *target, const struct corpus_list *list);

/**
 * corpus_put_machine() - make inputs for page tables and vertex buffers
 * @capture: text of a capture, whose jobs have lines about mappings and renders
 */
void corpus_put_machine(const char *capture);

/**
 * corpus_put_commands() - make inputs for the firmware
 * @golden: text of tools/checks/golden-commands: what the driver has written into commands
 */
void corpus_put_commands(const char *golden);

#endif /* VAGX_FUZZ_CORPUS_H */
