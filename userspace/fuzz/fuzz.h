/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * A fuzzer of the driver's ioctls. A program is a sequence of calls whose arguments are
 * trees of typed values; the types come from a description of the interface
 * (table.py), and calls may use what earlier ones have given back.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bounds of a program; more is not generated, and not read */
#define FUZZ_MAX_CALLS		96
#define FUZZ_MAX_THREADS	4
#define FUZZ_MAX_TEXT		(128 << 10)
#define FUZZ_MAX_OPS		64

/* Types and calls, made by table.py */

enum fuzz_kind {
	FUZZ_INT,
	FUZZ_RESOURCE,
	FUZZ_LENGTH,
	FUZZ_DEADLINE,
	FUZZ_POINTER,
	FUZZ_ARRAY,
	FUZZ_BYTES,
	FUZZ_STRUCT,
	FUZZ_UNION,
};

/** struct fuzz_type - type of a value */
struct fuzz_type {
	enum fuzz_kind kind;
	/** @size: bytes of a number */
	unsigned int size;
	/** @constant: only @low is right */
	bool constant;
	/** @low: least number, or fewest elements; with @high 0 any number is allowed */
	uint64_t low;
	uint64_t high;
	uint64_t step;
	/** @values: numbers that the interface names, @count of them */
	const uint64_t *values;
	/** @fields: of a structure or union, @count of them */
	const struct fuzz_field *fields;
	unsigned int count;
	/** @elem: type of an array's elements, or of what a pointer leads to */
	const struct fuzz_type *elem;
	/** @resource: index into fuzz_resources */
	unsigned int resource;
	/** @sibling: field whose length this is */
	unsigned int sibling;
	/** @bytes: that length is in bytes, not in elements */
	bool bytes;
};

struct fuzz_field {
	const char *name;
	const struct fuzz_type *type;
	bool out;
};

enum fuzz_action {
	FUZZ_IOCTL,
	FUZZ_OPEN,
	FUZZ_CLOSE,
	FUZZ_CLOSE_FD,
	FUZZ_MAP,
	FUZZ_UNMAP,
	FUZZ_WRITE,
	FUZZ_FINISH,
	FUZZ_EXPECT,
};

struct fuzz_op {
	const char *name;
	unsigned long request;
	enum fuzz_action action;
	bool has_fd;
	const struct fuzz_type *arg;
	/** @result: field in which a resource comes back, or -1 */
	int result;
};

extern const struct fuzz_op fuzz_ops[];
extern const unsigned int fuzz_op_count;
extern const char *const fuzz_resources[];
extern const unsigned int fuzz_resource_count;

const struct fuzz_op *fuzz_op_find(const char *name);
/** fuzz_op_resource() - kind of resource that a call gives back, or -1 */
int fuzz_op_resource(const struct fuzz_op *op);
/** fuzz_resource_find() - its kind, by name */
unsigned int fuzz_resource_find(const char *name);

/* Values */

struct fuzz_value {
	const struct fuzz_type *type;
	/** @number: number, index of a union's member, or an address that leads nowhere */
	uint64_t number;
	/** @label: label of the call whose result this is, or 0 */
	uint32_t label;
	/** @literal: a length that is @number, right or wrong */
	bool literal;
	/** @off_by: added to a length that is not literal */
	int off_by;
	/** @children: elements, fields, the member, or what a pointer leads to */
	struct fuzz_value **children;
	unsigned int count;
	uint8_t *bytes;
	size_t byte_count;
};

struct fuzz_value *fuzz_value_new(const struct fuzz_type *type);
struct fuzz_value *fuzz_value_clone(const struct fuzz_value *value);
void fuzz_value_free(struct fuzz_value *value);
void fuzz_value_append(struct fuzz_value *value, struct fuzz_value *child);
void fuzz_value_remove(struct fuzz_value *value, unsigned int index);
void fuzz_value_set_bytes(struct fuzz_value *value, const void *bytes, size_t count);
/** fuzz_value_size() - bytes in memory, without what is pointed to */
size_t fuzz_value_size(const struct fuzz_value *value);
/** fuzz_value_visit() - call a function for a value and all below it in the tree */
void fuzz_value_visit(struct fuzz_value *value, void (*visit)(struct fuzz_value *, void *),
		      void *data);
/** fuzz_value_length() - the right value for a length field of a structure */
uint64_t fuzz_value_length(const struct fuzz_value *parent, const struct fuzz_type *type);

/* Programs */

struct fuzz_call {
	const struct fuzz_op *op;
	/** @label: by which later calls name the result */
	uint32_t label;
	/** @fd: label of the call that opened the device */
	uint32_t fd;
	/** @size: bytes that the request claims, 0 for the right number */
	unsigned int size;
	/** @fail: which allocation of the kernel fails, 0 for none */
	unsigned int fail;
	struct fuzz_value *arg;
};

struct fuzz_program {
	uint64_t number;
	/** @threads: threads that make all calls once more, at the same time; 1 for none */
	unsigned int threads;
	uint32_t next_label;
	struct fuzz_call *calls[FUZZ_MAX_CALLS];
	unsigned int count;
};

struct fuzz_program *fuzz_program_new(void);
struct fuzz_program *fuzz_program_clone(const struct fuzz_program *program);
void fuzz_program_free(struct fuzz_program *program);
/**
 * fuzz_program_insert() - insert a call, which the program owns from now on
 *
 * Return: false if the program is full; the call is freed then.
 */
bool fuzz_program_insert(struct fuzz_program *program, unsigned int at, struct fuzz_call *call);
void fuzz_program_remove(struct fuzz_program *program, unsigned int at);
struct fuzz_call *fuzz_call_new(const struct fuzz_op *op);
struct fuzz_call *fuzz_call_clone(const struct fuzz_call *call);
void fuzz_call_free(struct fuzz_call *call);
/** fuzz_call_field() - the value of a field of the argument, NULL if there is none */
struct fuzz_value *fuzz_call_field(const struct fuzz_call *call, const char *name);

/** fuzz_program_print() - print a program as text that fuzz_program_read() understands */
void fuzz_program_print(const struct fuzz_program *program, FILE *out);
/** fuzz_program_read() - read the next program of a text; NULL if there is none or it is wrong */
struct fuzz_program *fuzz_program_read(const char **text);

/* Random numbers */

struct fuzz_random {
	uint64_t state;
};

uint64_t fuzz_random(struct fuzz_random *random);
/** fuzz_below() - a number from 0 to @limit - 1; 0 if @limit is 0 */
uint64_t fuzz_below(struct fuzz_random *random, uint64_t limit);
bool fuzz_chance(struct fuzz_random *random, unsigned int percent);

/** struct fuzz_choices - limits of what is generated */
struct fuzz_choices {
	struct fuzz_random *random;
	/** @fail: let allocations fail */
	bool fail;
	unsigned int max_threads;
};

struct fuzz_program *fuzz_generate(const struct fuzz_choices *choices);
/** fuzz_mutate() - change a program, with parts of @other if that is not NULL */
void fuzz_mutate(const struct fuzz_choices *choices, struct fuzz_program *program,
		 const struct fuzz_program *other);

/** struct fuzz_options - see usage() */
struct fuzz_options {
	uint64_t seed;
	unsigned int seconds;
	unsigned long programs;
	unsigned int workers;
	unsigned int threads;
	unsigned int patience_ms;
	unsigned int hang_seconds;
	bool fail;
	bool minimise;
	bool no_gpu;
	char replay[256];
	char out[256];
};

/* Memory that all processes of the fuzzer share */

#define FUZZ_EDGES		(1u << 18)
#define FUZZ_MAX_WORKERS	16
#define FUZZ_MAX_CORPUS		2048
#define FUZZ_TEXTS		(128 << 20)

struct fuzz_op_stats {
	atomic_ulong calls;
	atomic_ulong good;
};

struct fuzz_worker_state {
	/** @begun: second at which the program began, 0 if none runs */
	atomic_ulong begun;
	char program[FUZZ_MAX_TEXT];
};

struct fuzz_shared {
	atomic_uchar edges[FUZZ_EDGES];
	atomic_ulong edge_count;
	atomic_ulong programs;
	atomic_ulong fences_good;
	atomic_ulong fences_bad;
	atomic_ulong fences_late;
	atomic_ulong sanity_good;
	atomic_ulong sanity_again;
	atomic_ulong failures_injected;
	struct fuzz_op_stats ops[FUZZ_MAX_OPS];
	struct fuzz_worker_state workers[FUZZ_MAX_WORKERS];
	/** @corpus: offsets in @texts, plus 1, of programs that took new branches; 0 before that */
	atomic_ulong corpus[FUZZ_MAX_CORPUS];
	atomic_uint corpus_count;
	/** @seed_count: the first of them, which are seeds */
	unsigned int seed_count;
	atomic_ulong used;
	atomic_uint stop;
	struct fuzz_options options;
	char texts[FUZZ_TEXTS];
};

extern struct fuzz_shared *fuzz_shared;

/* Coverage */

/** fuzz_cover_init() - enable KCOV for this thread. Return: whether there is KCOV */
bool fuzz_cover_init(void);
void fuzz_cover_begin(void);
/** fuzz_cover_end() - Return: number of edges that no program has taken before */
unsigned long fuzz_cover_end(void);
/** fuzz_cover_edge() - count an edge. Return: whether it is new */
bool fuzz_cover_edge(uint64_t from, uint64_t to);

/* Running */

struct fuzz_outcome {
	/** @refused: calls that did not succeed; for programs of one thread */
	unsigned int refused;
	/** @expected: calls of "expect", and how many of them were right */
	unsigned int expected;
	unsigned int right;
	/** @finished: work that ended well */
	unsigned int finished;
	/** @edges: edges that no program has taken before */
	unsigned long edges;
};

/**
 * fuzz_run() - run a program
 * @program: program
 * @patience_ms: how long to wait for work in "finish"
 */
struct fuzz_outcome fuzz_run(const struct fuzz_program *program, unsigned int patience_ms);

/* Seeds */

/** fuzz_basics - texts of programs that need no client; NULL is behind the last one */
extern const char *const fuzz_basics[];

/**
 * fuzz_seeds() - record programs that make the GPU work from the clients
 * @programs: filled in
 * @max: room in @programs
 *
 * Return: number of programs, or a negative errno value.
 */
int fuzz_seeds(struct fuzz_program **programs, unsigned int max);

/* Findings */

/** fuzz_kernel_complains() - whether the kernel has logged a warning since the last call */
bool fuzz_kernel_complains(void);

/**
 * fuzz_minimise() - make a program smaller as long as it breaks something
 * @program: program; replaced by the smaller one
 * @broken: runs a program and returns whether something broke
 *
 * Return: whether the program breaks something when it is run alone.
 */
bool fuzz_minimise(struct fuzz_program *program, bool (*broken)(const struct fuzz_program *));

#endif /* FUZZ_H */
