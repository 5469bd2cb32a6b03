// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Any bytes as a shader, on registers that hold random words: by the interpreter, then by native
 * code, which has to leave the same memory and end in the same error; or by both at once, compared
 * after each segment ("check"). What is left in a corpus, also in that of instructions, can be
 * given to it as files.
 *
 * The first byte says how the rest is run: bits 0 and 1 choose a mode of the compiler, 2 and 3
 * the stage (vertices, fragments, a threadgroup, a preshader), 4 and 5 what happens to accesses,
 * and which lanes there are. Few random bytes are an instruction: so each two of them choose one of
 * 65,536, whose jumps go a few instructions on or back. With bits 6 and 7 it is the instructions
 * that are in the bytes, as in the corpus of instructions, and with bit 5 as well the bytes as they
 * are.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "agx_isa.h"
#include "fuzz.h"
#include "gpu/core.h"
#include "gpu/stage.h"
#include "jit/jit.h"
#include "uat.h"

#define DATA_VA		0x2000000000ULL
#define DATA_SIZE	(2 * VAGX_UAT_PAGE_SIZE)
#define CODE_SIZE	VAGX_UAT_PAGE_SIZE
#define WORDS		(DATA_SIZE / 4)
/* Halves of registers that the prologue fills */
#define FILLED		32

/* Before the program: registers are filled from memory */
static const char prologue[] =
	"mov r31, thread_index_in_threadgroup\nshl r31, r31, 4\n"
	"load r0_r1_r2_r3, du0, r31, i32, xyzw, a\niadd r31, r31, 4\n"
	"load r4_r5_r6_r7, du0, r31, i32, xyzw, a\niadd r31, r31, 4\n"
	"load r8_r9_r10_r11, du0, r31, i32, xyzw, a\niadd r31, r31, 4\n"
	"load r12_r13_r14_r15, du0, r31, i32, xyzw, a\nwait a\nldimm r0l, 0\n";

static const char *const modes[] = {
	"check", "all",
#ifdef __x86_64__
	"check,avx2", "all,avx2",
#endif
};

/* What the program is run as */
enum stage {
	STAGE_VERTICES,
	STAGE_FRAGMENTS,
	STAGE_GROUP,
	STAGE_PRESHADER,
};

static enum stage stage;
static uint8_t code[CODE_SIZE] __attribute__((aligned(VAGX_UAT_PAGE_SIZE)));
static uint8_t data_memory[DATA_SIZE] __attribute__((aligned(VAGX_UAT_PAGE_SIZE)));
static size_t prologue_size;
static struct vagx_tlb tlb;
/* without native code, then by mode */
static struct vagx_core *core[1 + sizeof(modes) / sizeof(modes[0])];
/* What runs, and what each run begins with: a preshader changes its launch */
static struct vagx_launch launch, first_launch;

/* Programs without an end: the flag is set when one has run for two of the watchdog's periods */
static atomic_bool stop;
static atomic_uint run_number;

/* In place of the MMU; the entries of the cache stay empty */
void *vagx_tlb_ptr_slow(struct vagx_tlb *t, uint64_t va, size_t len, enum vagx_access access,
			struct vagx_uat_fault *fault)
{
	uint64_t at = va - (access == VAGX_EXEC ? FUZZ_VA : DATA_VA);
	uint64_t size = access == VAGX_EXEC ? CODE_SIZE : DATA_SIZE;

	if (at < size && len <= size - at)
		return (access == VAGX_EXEC ? code : data_memory) + at;
	*fault = (struct vagx_uat_fault){
		.va = va,
		.slot = t->slot,
		.access = access,
		.reason = VAGX_FAULT_UNMAPPED,
	};
	return NULL;
}

static void *watch(void *unused)
{
	unsigned int last = 0, now, same = 0;

	for (;;) {
		usleep(20000);
		now = atomic_load(&run_number);
		same = now == last ? same + 1 : 0;
		last = now;
		if (same > 1)
			atomic_store(&stop, true);
	}
	return unused;
}

static void set_up(void)
{
	struct vagx_core_config config = { .tlb = &tlb };
	struct agx_program program;
	pthread_t thread;
	unsigned int i;

	for (i = 0; i < sizeof(core) / sizeof(core[0]); i++) {
		struct vagx_jit_config jit = { .mode = VAGX_JIT_OFF };

		/* programs have native code of one kind */
		config.programs = vagx_programs_new();
		FUZZ_CHECK(!i || vagx_jit_parse(modes[i - 1], &jit));
		config.jit = vagx_jit_new(&jit, fuzz_report());
		core[i] = vagx_core_new(&config);
		FUZZ_CHECK(core[i]);
	}
	FUZZ_CHECK(!agx_isa_assemble(prologue, "prologue", &program, stderr));
	memcpy(code, program.code, program.size);
	prologue_size = program.size;
	free(program.code);
	FUZZ_CHECK(!pthread_create(&thread, NULL, watch, NULL));
}

/* Words of memory: numbers that are likely to go wrong among any others */
static void fill_memory(void)
{
	static const uint32_t special[] = {
		0, 0x80000000, 0x3f800000, 0x7f800000, 0x7fc00000, 0xffffffff, 0x00800000, 1,
	};
	uint32_t *words = (uint32_t *)(void *)data_memory;
	uint64_t state = 1;
	unsigned int i;

	for (i = 0; i < WORDS; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		words[i] = state >> 62 ? (uint32_t)(state >> 31) : special[state >> 33 & 7];
	}
}

/* How a run ended */
struct ending {
	int err;
	struct vagx_uat_fault fault;
	uint64_t loaded, stored;
	char error[192];
	/* what a preshader has stored */
	uint16_t uniforms[VAGX_CORE_UNIFORMS];
	uint64_t uniforms_set[VAGX_CORE_UNIFORMS / 64];
	uint8_t textures[VAGX_CORE_TEXTURES][VAGX_TEXTURE_BYTES];
	uint8_t samplers[VAGX_CORE_SAMPLERS][VAGX_SAMPLER_BYTES];
	uint8_t memory[DATA_SIZE];
};

static int run_stage(struct vagx_core *c, unsigned int how, struct vagx_uat_fault *fault)
{
	static uint8_t tile_memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	static const struct vagx_plane planes[4];
	static uint32_t out[4 * VAGX_SIMD_WIDTH];
	static const uint32_t group[3];
	struct vagx_tile tile = {
		.width = 32, .height = 32, .samples = 1, .sample_positions = 0x88,
		.memory = tile_memory,
	};
	struct vagx_vertices vertices = { .count = 20, .words = 4, .out = out };
	struct vagx_fragments fragments = {
		.exists = how & 32 ? 0xffff0ff0 : UINT32_MAX, .num_planes = 4,
	};
	unsigned int i;

	memset(tile_memory, 0, sizeof(tile_memory));
	for (i = 0; i < VAGX_SIMD_WIDTH; i++) {
		fragments.planes[i / 4] = planes;
		fragments.live[i] = i % 3 != 0;
	}
	switch (stage) {
	case STAGE_VERTICES:
		return vagx_core_run_vertices(c, &launch, &vertices, fault);
	case STAGE_FRAGMENTS:
		return vagx_core_run_fragments(c, &launch, &tile, &fragments, fault);
	case STAGE_PRESHADER:
		return vagx_core_run_preshader(c, &launch, fault);
	default:
		return vagx_core_run_groups(c, &launch, group, 1, fault);
	}
}

static void run(struct vagx_core *c, unsigned int how, struct ending *e)
{
	static uint64_t serial;
	struct vagx_core_stats before, after;

	memset(e, 0, sizeof(*e));
	fill_memory();
	atomic_store(&stop, false);
	atomic_fetch_add(&run_number, 1);
	launch = first_launch;
	launch.serial = ++serial;
	vagx_core_get_stats(c, &before);
	e->err = run_stage(c, how, &e->fault);
	vagx_core_get_stats(c, &after);
	/* check compares, and finds a mistake of the compiler */
	if (e->err == -EPROTO)
		vagx_core_describe_failure(c, &launch, stderr);
	FUZZ_CHECK(e->err != -EPROTO);
	e->loaded = after.loaded - before.loaded;
	e->stored = after.stored - before.stored;
	snprintf(e->error, sizeof(e->error), "%s", vagx_core_error(c));
	memcpy(e->uniforms, launch.uniforms, sizeof(e->uniforms));
	memcpy(e->uniforms_set, launch.uniforms_set, sizeof(e->uniforms_set));
	memcpy(e->textures, launch.textures, sizeof(e->textures));
	memcpy(e->samplers, launch.samplers, sizeof(e->samplers));
	memcpy(e->memory, data_memory, DATA_SIZE);
}

/* Leaves out what ends a program at once: there is no texture */
static bool is_wanted(struct agx_instr *instr)
{
	switch (instr->op) {
	case AGX_OP_ITER:
	case AGX_OP_ITER_PROJECTED:
	case AGX_OP_LDCF:
	case AGX_OP_LD_TILE:
	case AGX_OP_ST_TILE:
	case AGX_OP_SAMPLE_MASK:
	case AGX_OP_ZS_EMIT:
		return stage == STAGE_FRAGMENTS;
	case AGX_OP_ST_VAR:
		return stage == STAGE_VERTICES;
	case AGX_OP_TEX_STATE_STORE:
	case AGX_OP_SAMPLER_STATE_STORE:
	case AGX_OP_UNIFORM_STORE:
		return stage == STAGE_PRESHADER;
	case AGX_OP_IMAGE_WRITE:
	case AGX_OP_IMAGE_WRITE_BLOCK:
	case AGX_OP_SAMPLE_FLOAT:
	case AGX_OP_SAMPLE_INT:
	case AGX_OP_TRAP:
	case AGX_OP_STOP:
	case AGX_OP_CALL_REG:
	case AGX_OP_RET:
	case AGX_OP_JMP_INCOMPLETE:
	case AGX_OP_DOORBELL:
	case AGX_OP_JMP_IF_SKIPPING_DOORBELL:
	case AGX_OP_STACK_MAP:
	case AGX_OP_STACK_UNMAP:
		return false;
	case AGX_OP_JMP_ANY:
	case AGX_OP_JMP_NONE:
	case AGX_OP_CALL:
		instr->mod[AGX_MOD_OFFSET] = (instr->mod[AGX_MOD_OFFSET] & 0x7e) - 32;
		return true;
	default:
		return true;
	}
}

/* Registers are those that were filled; the result is left out if it cannot be encoded then */
static int encode_tame(const struct agx_instr *instr, uint8_t *bytes)
{
	struct agx_instr tame = *instr;
	unsigned int i;
	int length;

	if (tame.dst.type == AGX_OPERAND_REG)
		tame.dst.value %= FILLED;
	for (i = 0; i < AGX_ISA_MAX_SRCS; i++) {
		if (tame.src[i].type == AGX_OPERAND_REG)
			tame.src[i].value %= FILLED;
	}
	length = agx_isa_encode(&tame, bytes);
	return length > 0 ? length : agx_isa_encode(instr, bytes);
}

/* Puts an instruction to memory, if it is wanted. Return: how many bytes it has, or 0. */
static size_t put_instruction(const uint8_t *data, size_t size, uint8_t *to, size_t *used)
{
	uint8_t bytes[AGX_ISA_MAX_LENGTH];
	struct agx_instr instr;
	int length = agx_isa_decode(data, size, &instr);

	if (length <= 0 || !is_wanted(&instr))
		return 0;
	*used = (size_t)length;
	length = encode_tame(&instr, bytes);
	FUZZ_CHECK(length > 0);
	memcpy(to, bytes, (size_t)length);
	return (size_t)length;
}

/* Puts the instructions that are in the bytes to memory. Return: how many bytes they have. */
static size_t put_instructions(const uint8_t *data, size_t size, uint8_t *to)
{
	size_t done = 0, at, used;

	for (at = 0; at < size; at += used) {
		used = 1;
		done += put_instruction(data + at, size - at, to + done, &used);
	}
	return done;
}

/* Puts one of 65,536 instructions to memory. Return: how many bytes it has. */
static size_t put_chosen(unsigned int number, uint8_t *to)
{
	uint8_t bytes[AGX_ISA_MAX_LENGTH];
	uint64_t state = number;
	size_t length = 0, used, i;

	while (!length) {
		for (i = 0; i < sizeof(bytes); i++) {
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
			bytes[i] = state >> 56;
		}
		length = put_instruction(bytes, sizeof(bytes), to, &used);
	}
	return length;
}

static void put_program(const uint8_t *data, size_t size, unsigned int how)
{
	uint8_t *to = code + prologue_size;
	size_t used = 0, i;

	memset(to, 0, CODE_SIZE - prologue_size);
	if ((how & 224) == 224) {
		memcpy(to, data, size);
		return;
	}
	if ((how & 224) == 192)
		used = put_instructions(data, size, to);
	for (i = 0; (how & 224) < 192 && i + 1 < size; i += 2)
		used += put_chosen(data[i] | (unsigned int)data[i + 1] << 8, to + used);
	/* stop */
	to[used] = 0x88;
}

static void prepare(unsigned int how)
{
	struct vagx_launch *l = &first_launch;
	unsigned int i;

	stage = how >> 2 & 3;
	*l = (struct vagx_launch){
		.shared_size = 256,
		.sample_stride = 8,
		.soft_faults = how & 16,
		.stop = &stop,
	};
	if (stage == STAGE_PRESHADER)
		l->preshader_va = FUZZ_VA;
	else
		l->code_va = FUZZ_VA;
	for (i = 0; i < 3; i++) {
		l->grid[i] = i ? 1 : how & 32 ? 23 : 32;
		l->local[i] = l->grid[i];
	}
	/* a preshader loads state from wherever uniforms say */
	for (i = 0; i < (stage == STAGE_PRESHADER ? VAGX_CORE_UNIFORMS : 4); i++)
		l->uniforms[i] = (uint16_t)(DATA_VA >> 16 * (i % 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ending wanted, got;

	if (!core[0])
		set_up();
	/* two bytes become an instruction */
	if (!size || size > (CODE_SIZE - prologue_size) / AGX_ISA_MAX_LENGTH)
		return 0;
	prepare(data[0]);
	put_program(data + 1, size - 1, data[0]);
	run(core[0], data[0], &wanted);
	run(core[1 + (data[0] & 3)], data[0], &got);
	/* where a program without an end was stopped is a matter of time */
	if (wanted.err == -ECANCELED || got.err == -ECANCELED)
		return 0;
	FUZZ_CHECK(!memcmp(&wanted, &got, sizeof(got)));
	return 0;
}
