/* SPDX-License-Identifier: MIT */
/* Copyright (C) 2026 The asahi driver authors */
#ifndef VAGX_FW_CACHE_H
#define VAGX_FW_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "firmware.h"

struct fw_access;
struct vagx_mem;

/*
 * The coprocessor caches what is mapped as private memory, and the
 * application processor does not see that cache. This remembers what the
 * real one might still hold, to find memory that was given another use
 * without a flush in between: pages that are mapped elsewhere or no longer,
 * and commands in lines that an earlier command had.
 *
 * What the firmware writes there is in memory at once, as if the line had been
 * written back; but it also stays behind as dirty bytes that come to memory
 * once more: when the line is flushed, has to make room for another, at some
 * moment of the cache's choice, or when power goes away. Memory that has been
 * given another use by then is overwritten.
 *
 * What the firmware has read, it may read again from its cache. If memory differs by
 * then, the driver has written to a line without a flush, maybe for the object that
 * shares it. Any thread.
 */
struct fw_cache;

/* A dirty line is written back within @dirty_ms milliseconds, at a time that @seed gives */
struct fw_cache *fw_cache_new(struct vagx_mem *mem, uint64_t seed, unsigned int dirty_ms);
void fw_cache_free(struct fw_cache *cache);

/* The firmware reads @len bytes at @va, within one page, which are at @memory */
void fw_cache_read(struct fw_cache *cache, struct fw_access *access, uint64_t va, void *memory,
		   size_t len, const char *structure, const char *field);

/* The firmware makes sure that it reads memory there, and not what it read before */
void fw_cache_discard(struct fw_cache *cache, uint64_t va, size_t len);

/* The firmware has written these bytes at @va, within one page */
void fw_cache_written(struct fw_cache *cache, struct fw_access *access, uint64_t va,
		      const void *bytes, size_t len);

/* Writes back what is due. Return: when to come again, 0 for not at all. */
uint64_t fw_cache_evict(struct fw_cache *cache, struct fw_access *access, uint64_t now_ns);

/* Power goes away, and everything with it */
void fw_cache_cut(struct fw_cache *cache, struct fw_access *access, enum vagx_power_off how);

/* An access to @va goes through the cache if its mapping says so */
void fw_cache_touch(struct fw_cache *cache, struct fw_access *access, uint64_t va);

/* An object in private memory comes into use, or is no longer needed: the driver may free it */
void fw_cache_use(struct fw_cache *cache, struct fw_access *access, uint64_t va, size_t len,
		  const char *what);
void fw_cache_retire(struct fw_cache *cache, struct fw_access *access, uint64_t va, size_t len);

/* Flushes; a sweep looks for pages whose mapping went away without one */
void fw_cache_flush(struct fw_cache *cache, struct fw_access *access, uint64_t va, uint64_t size);
void fw_cache_flush_all(struct fw_cache *cache, struct fw_access *access);
void fw_cache_sweep(struct fw_cache *cache, struct fw_access *access);

#endif
