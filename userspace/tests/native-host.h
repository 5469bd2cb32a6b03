/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A virtual machine monitor without a machine: virglrenderer's library, a native context of it,
 * its buffers and requests. The test plays the guest.
 *
 * One thread. virglrenderer says from its own threads that a fence has signalled.
 */
#ifndef NATIVE_HOST_H
#define NATIVE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As virtio-gpu numbers them: the set of capabilities of native contexts, and ours among these */
#define NATIVE_CAPSET		6
#define NATIVE_CONTEXT_ASAHI	4

/** struct native_caps - the begin of what a guest is told of a native context */
struct native_caps {
	uint32_t wire_format_version;
	uint32_t version_major;
	uint32_t version_minor;
	uint32_t version_patchlevel;
	uint32_t context_type;
	uint32_t pad;
};

/** enum native_request_kind - requests of asahi's contexts */
enum native_request_kind {
	NATIVE_NOP = 1,
	NATIVE_IOCTL,
	NATIVE_GET_PARAMS,
	NATIVE_GEM_NEW,
	NATIVE_VM_BIND,
	NATIVE_SUBMIT,
	NATIVE_BIND_OBJECT,
};

/** struct native_request - the begin of each request */
struct native_request {
	uint32_t kind;
	/** @size: of all of it, in bytes, a multiple of four */
	uint32_t size;
	uint32_t sequence;
	/** @answer: offset of the answer in the shared page */
	uint32_t answer;
};

/** struct native_host - virglrenderer with a context */
struct native_host {
	uint32_t context;
	/** @page: what the host tells the guest */
	volatile uint8_t *page;
	uint32_t sequence;
	uint32_t resources;
	uint64_t fences;
};

/** struct native_blob - a buffer that the guest sees */
struct native_blob {
	uint32_t resource;
	void *map;
	uint64_t size;
};

/**
 * native_host_open() - load the library
 * @library: its file
 * @caps: what it offers
 *
 * Return: 0, -ENOENT if there is none, -ENOSYS if it has no native contexts of this driver.
 */
int native_host_open(const char *library, struct native_caps *caps);
void native_host_close(void);

/** native_context_new() - what a process of the guest has when it has opened the node */
int native_context_new(struct native_host *host, uint32_t context);
void native_context_free(struct native_host *host);

/**
 * native_request() - have a request done
 * @host: context
 * @request: it; sequence and answer are filled in
 * @answer_size: bytes that the guest has kept for the answer, 0 if there is none
 *
 * Return: the answer behind its size, or NULL if the request was refused
 */
volatile const void *native_request(struct native_host *host, struct native_request *request,
				    uint32_t answer_size);

/** native_errors() - how many requests without an answer have failed */
uint32_t native_errors(const struct native_host *host);

/** native_blob_new() - take the buffer that GEM_NEW has made as @id */
int native_blob_new(struct native_host *host, uint32_t id, uint64_t size, uint32_t flags,
		    struct native_blob *blob);
void native_blob_free(struct native_host *host, struct native_blob *blob);

/** native_blob_export() - Return: its DMA buffer, or a negative errno value */
int native_blob_export(const struct native_blob *blob);

/** native_fence() - Return: whether what was submitted on a ring is done within a minute */
bool native_fence(struct native_host *host, uint32_t ring);

#endif /* NATIVE_HOST_H */
