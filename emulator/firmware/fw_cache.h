/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_CACHE_H
#define VAGX_FW_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct fw_access;

/*
 * The coprocessor caches what is mapped as private memory, and the
 * application processor does not see that cache. This remembers what the
 * real one might still hold, to find memory that was given another use
 * without a flush in between: pages that are mapped elsewhere or no longer,
 * and commands in lines that an earlier command had. Any thread.
 */
struct fw_cache;

struct fw_cache *fw_cache_new(void);
void fw_cache_free(struct fw_cache *cache);

/* An access to @va goes through the cache if its mapping says so */
void fw_cache_touch(struct fw_cache *cache, struct fw_access *access, uint64_t va);

/* An object in private memory comes into use, or is no longer needed: the driver may free it */
void fw_cache_use(struct fw_cache *cache, struct fw_access *access, uint64_t va, size_t len,
		  const char *what);
void fw_cache_retire(struct fw_cache *cache, struct fw_access *access, uint64_t va, size_t len);

/* Flushes; a sweep looks for pages whose mapping went away without one */
void fw_cache_flush(struct fw_cache *cache, uint64_t va, uint64_t size);
void fw_cache_flush_all(struct fw_cache *cache);
void fw_cache_sweep(struct fw_cache *cache, struct fw_access *access);

#endif
