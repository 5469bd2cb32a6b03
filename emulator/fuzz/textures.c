// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Descriptors of textures, samplers and images with what is done by them: shaders sample, load,
 * and write pixels and blocks, at any coordinates. An input begins with one of a few right
 * descriptors, changes fields by the table of packets, or bits, then coordinates, then the
 * instruction, and runs it. The client's memory is pages of their own, so that the sanitizer
 * sees an access behind one.
 *
 * It may not crash, and a program that only reads has to do the same twice: the second time,
 * texels come out of the core's cache.
 */
#include <string.h>

#include "agx_isa.h"
#include "agx_packets.h"
#include "fuzz.h"
#include "gpu/core.h"
#include "gpu/stage.h"
#include "records.h"
#include "report.h"
#include "textures.h"
#include "uat.h"

#define CODE_VA		0x1100000000ULL
#define CODE_SIZE	1024
#define IN_VA		0x2000000000ULL
#define OUT_VA		0x2000100000ULL
#define IMAGE_VA	0x3000000000ULL
#define IMAGE_PAGES	24
#define LANES		VAGX_SIMD_WIDTH
#define WORDS		16
#define PAGE_WORDS	(VAGX_UAT_PAGE_SIZE / 4)
#define RUNS		3
#define TILE_SIDE	32

enum base {
	BASE_LINEAR, BASE_LEVELS, BASE_ARRAY, BASE_CUBE, BASE_3D, BASE_MULTISAMPLED, BASE_BC,
	BASE_ASTC, BASE_DEPTH, BASE_COMPRESSED, BASE_SRGB, BASE_INTEGER, BASE_SPARSE,
	BASES
};

struct field {
	const char *packet;
	unsigned int start, width;
};

static const struct field fields[] = {
#define AGX_FIELD(packet, field, start, width, type, modifier, argument, dflt)	\
	{ #packet, start, width },
#define AGX_ENUM_FIELD(packet, field, start, width, enumeration, dflt)		\
	{ #packet, start, width },
#include <agx/agx_packets.def>
};

#define FIELDS	(sizeof(fields) / sizeof(fields[0]))

/* Parts of an instruction's text */
static const char *const dims[] = {
	"1d", "1d_array", "2d", "2d_array", "2d_ms", "3d", "cube", "cube_array", "2d_ms_array",
};
static const char *const lods[][2] = {
	{ "0", "auto_lod" }, { "r16l", "lod_min" }, { "r16l", "auto_lod_bias" },
	{ "r8_r9", "lod_grad" }, { "r16l_r16h", "auto_lod_bias_min" },
};
static const char *const gathers[] = {
	"", ", gather_r", ", gather_g", ", gather_b", ", gather_a",
};
static const char *const offsets[] = { "", ", r17l", ", r17, shadow" };
static const char *const samplers[] = { "ss0", "r19l", "ss1" };
/* What a run executes */
static const char *const kinds[] = { "smpf", "smpi", "imgw", "imgwblk" };
#define PICK(array, n)	((array)[(n) % (sizeof(array) / sizeof((array)[0]))])

static struct vagx_core *core;
static struct vagx_tlb tlb;
static struct vagx_launch launch;
static uint8_t code[CODE_SIZE];
/* Whole pages, as cores keep translations of those */
static uint32_t in[PAGE_WORDS], out[PAGE_WORDS];
static uint8_t *image[IMAGE_PAGES];
static bool written[IMAGE_PAGES];
static uint8_t form[TEXTURE_PARTS];

/* In place of the MMU; the entries of the cache stay empty */
void *vagx_tlb_ptr_slow(struct vagx_tlb *t, uint64_t va, size_t len, enum vagx_access access,
			struct vagx_uat_fault *fault)
{
	uint64_t at = va - IMAGE_VA, page = at / VAGX_UAT_PAGE_SIZE;

	if (access == VAGX_EXEC && va - CODE_VA < CODE_SIZE && len <= CODE_SIZE - (va - CODE_VA))
		return code + (va - CODE_VA);
	if (va - IN_VA < sizeof(in) && len <= sizeof(in) - (va - IN_VA))
		return (uint8_t *)in + (va - IN_VA);
	if (va - OUT_VA < sizeof(out) && len <= sizeof(out) - (va - OUT_VA))
		return (uint8_t *)out + (va - OUT_VA);
	at %= VAGX_UAT_PAGE_SIZE;
	/* One page is missing */
	if (page < IMAGE_PAGES && page != IMAGE_PAGES - 3 && len <= VAGX_UAT_PAGE_SIZE - at) {
		written[page] |= access == VAGX_WRITE;
		return image[page] + at;
	}
	*fault = (struct vagx_uat_fault){
		.va = va, .slot = t->slot, .access = access, .reason = VAGX_FAULT_UNMAPPED,
	};
	return NULL;
}

/* Right descriptors */

static void base_texture(enum base base, struct agx_texture *t)
{
	*t = agx_texture_default();
	t->layout = base % 3 == 2 ? AGX_IMAGE_LAYOUT_TWIDDLED : AGX_IMAGE_LAYOUT_GPU;
	t->channels = AGX_CHANNELS_R8G8B8A8;
	t->type = AGX_TEXTURE_TYPE_UNORM;
	t->swizzle_g = AGX_CHANNEL_G;
	t->swizzle_b = AGX_CHANNEL_B;
	t->swizzle_a = AGX_CHANNEL_A;
	t->width = t->height = 37;
	t->depth = 1;
	t->address = IMAGE_VA;
	switch (base) {
	case BASE_LEVELS:
		t->mip_chain = true;
		t->last_level = 5;
		break;
	case BASE_ARRAY:
		t->dimension = AGX_IMAGE_DIMENSION_2D_ARRAY;
		t->depth = 3;
		t->page_aligned_layers = true;
		break;
	case BASE_CUBE:
		t->dimension = AGX_IMAGE_DIMENSION_CUBE;
		t->height = t->width = 16;
		t->depth = 1;
		t->mip_chain = true;
		t->last_level = 4;
		break;
	case BASE_3D:
		t->dimension = AGX_IMAGE_DIMENSION_3D;
		t->depth = 9;
		break;
	case BASE_MULTISAMPLED:
		t->dimension = AGX_IMAGE_DIMENSION_2D_MS;
		t->samples = AGX_IMAGE_SAMPLES_4;
		break;
	case BASE_BC:
		t->channels = AGX_CHANNELS_BC3;
		break;
	case BASE_ASTC:
		t->channels = AGX_CHANNELS_ASTC_12X12;
		t->type = AGX_TEXTURE_TYPE_FLOAT;
		break;
	case BASE_DEPTH:
		t->channels = AGX_CHANNELS_R32;
		t->type = AGX_TEXTURE_TYPE_FLOAT;
		break;
	case BASE_COMPRESSED:
		t->compressed = true;
		t->extended = true;
		break;
	case BASE_SRGB:
		t->srgb = true;
		break;
	case BASE_INTEGER:
		t->channels = AGX_CHANNELS_R16G16;
		t->type = AGX_TEXTURE_TYPE_SINT;
		break;
	case BASE_SPARSE:
		t->mode = AGX_IMAGE_MODE_SPARSE;
		break;
	default:
		break;
	}
}

static void base_pbe(enum base base, struct agx_pbe *p)
{
	struct agx_texture t;

	base_texture(base, &t);
	*p = agx_pbe_default();
	p->dimension = t.dimension;
	p->layout = t.layout;
	p->channels = t.channels;
	p->type = t.type;
	p->width = t.width;
	p->height = t.height;
	p->address = t.address;
	p->layers = t.depth;
	p->levels = t.mip_chain ? t.last_level + 1 : 1;
	p->mip_chain = t.mip_chain;
	p->compressed = t.compressed;
	p->extended = t.extended;
	p->mode = t.mode;
	p->page_aligned_layers = t.page_aligned_layers;
}

static void set_base(enum base base)
{
	struct agx_texture_linear linear;
	struct agx_sampler sampler = agx_sampler_default();
	struct agx_texture texture;
	struct agx_pbe pbe;
	uint64_t metadata = (IMAGE_VA + 8 * VAGX_UAT_PAGE_SIZE) >> 4;

	base_texture(base, &texture);
	base_pbe(base, &pbe);
	agx_packet_pack(AGX_PACKET_texture, launch.textures[1], &texture, NULL);
	agx_packet_pack(AGX_PACKET_pbe, launch.textures[2], &pbe, NULL);
	memcpy(launch.textures[1] + 16, &metadata, 8);
	memcpy(launch.textures[2] + 16, &metadata, 8);
	if (base == BASE_LINEAR) {
		/* AGX_IMAGE_LAYOUT_LINEAR, which is 0 */
		launch.textures[1][0] &= 0xcf;
		launch.textures[2][0] &= 0xcf;
		agx_packet_unpack(AGX_PACKET_texture_linear, launch.textures[1], &linear, NULL);
		linear.stride_less_16 = 37 * 4 + 12 - 16;
		agx_packet_pack(AGX_PACKET_texture_linear, launch.textures[1], &linear, NULL);
	}
	sampler.magnify = sampler.minify = base % 3 ? AGX_FILTER_LINEAR : AGX_FILTER_NEAREST;
	sampler.mip_filter = AGX_MIP_FILTER_LINEAR;
	sampler.compare_enable = base == BASE_DEPTH;
	agx_packet_pack(AGX_PACKET_sampler, launch.samplers[0], &sampler, NULL);
	sampler.wrap_s = sampler.wrap_t = AGX_WRAP_CLAMP_TO_BORDER;
	sampler.border_colour = AGX_BORDER_CUSTOM;
	sampler.maximum_anisotropy = 8;
	agx_packet_pack(AGX_PACKET_sampler, launch.samplers[1], &sampler, NULL);
}

/* Changes */

static void change_bits(uint8_t *bytes, unsigned int start, unsigned int width,
			const struct fuzz_record *r)
{
	uint64_t old = 0, value;
	unsigned int i;

	for (i = 0; i < width; i++)
		old |= (uint64_t)(bytes[(start + i) / 8] >> (start + i) % 8 & 1) << i;
	value = fuzz_value(r, old);
	for (i = 0; i < width; i++) {
		unsigned int bit = (start + i) % 8;
		uint8_t *byte = &bytes[(start + i) / 8];

		*byte = (uint8_t)((*byte & ~(1u << bit)) | (value >> i & 1) << bit);
	}
}

static void change_field(const char *packet, uint8_t *bytes, const struct fuzz_record *r)
{
	unsigned int count = 0, wanted, i;

	for (i = 0; i < FIELDS; i++)
		count += !strcmp(fields[i].packet, packet);
	wanted = r->field % count;
	for (i = 0; i < FIELDS; i++) {
		if (!strcmp(fields[i].packet, packet) && !wanted--)
			change_bits(bytes, fields[i].start, fields[i].width, r);
	}
}

static void change_coordinate(const struct fuzz_record *r)
{
	static const uint32_t special[] = {
		0, 0x3f800000, 0x3f000000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
		0x00000001, 0x4f000000, 0xcf000000, 0x447a0000, 0x3effffff, 0x80000000, 0x4b7fffff,
	};
	unsigned int lane, word = r->field % WORDS;

	for (lane = 0; lane < LANES; lane++) {
		uint32_t *at = &in[lane * WORDS + word];

		if (r->which < 2 * LANES && r->which % LANES != lane)
			continue;
		if (r->how & 32)
			*at = PICK(special, r->value + (r->how & 16 ? lane : 0));
		else
			*at = (uint32_t)fuzz_value(r, *at) + (r->how & 16 ? lane * r->extra : 0);
	}
}

static void change_memory(const struct fuzz_record *r)
{
	uint64_t at = (r->field + r->extra * 64ULL) % (IMAGE_PAGES * VAGX_UAT_PAGE_SIZE - 8);
	unsigned int page = (unsigned int)(at / VAGX_UAT_PAGE_SIZE);
	size_t offset = at % (VAGX_UAT_PAGE_SIZE - 8);
	uint64_t value;

	memcpy(&value, image[page] + offset, 8);
	value = fuzz_value(r, value);
	memcpy(image[page] + offset, &value, 8);
	written[page] = true;
}

/* Runs */

static bool assemble(void)
{
	const char *kind = PICK(kinds, form[TEXTURE_PART_KIND]), *dim = PICK(dims, form[TEXTURE_PART_DIM]);
	unsigned int more = form[TEXTURE_PART_MORE];
	struct agx_program program;
	char text[1024], what[192];

	if (form[TEXTURE_PART_KIND] % 4 < 2)
		snprintf(what, sizeof(what),
			 "%s r0_r1_r2_r3, ts1, %s, r4, %s%s%s%s, %s, %s, %s%s, a\nwait a\n", kind,
			 PICK(samplers, form[TEXTURE_PART_SAMPLER]), PICK(lods, form[TEXTURE_PART_LOD])[0],
			 PICK(offsets, form[TEXTURE_PART_OFFSET]), more & 4 ? ", query_lod" : "",
			 more & 1 ? ", sparse" : "", dim, more & 2 ? "xz" : "xyzw",
			 PICK(lods, form[TEXTURE_PART_LOD])[1], PICK(gathers, form[TEXTURE_PART_GATHER]));
	else if (form[TEXTURE_PART_KIND] % 4 == 2)
		snprintf(what, sizeof(what), "imgw %s, ts2, r4, 0, %s\n",
			 more & 1 ? "r8l_r8h_r9l_r9h" : "r8_r9_r10_r11", dim);
	else
		snprintf(what, sizeof(what), "imgwblk r12l, ts2, r4, 0, %s%s, %s\n",
			 more & 1 ? "explicit_coords, " : "", dim,
			 PICK(texture_formats, form[TEXTURE_PART_FORMAT]));
	snprintf(text, sizeof(text),
		 "mov r20, thread_in_grid_x\niadd r21, r20, r20\niadd r21, r21, r21\n"
		 "load r4_r5_r6_r7, du0, r21, lsl 2, i32, xyzw, a\niadd r21, r21, 1\n"
		 "load r16_r17_r18_r19, du0, r21, lsl 2, i32, xyzw, a\niadd r21, r21, 1\n"
		 "load r8_r9_r10_r11, du0, r21, lsl 2, i32, xyzw, a\niadd r21, r21, 1\n"
		 "load r12_r13_r14_r15, du0, r21, lsl 2, i32, xyzw, a\nwait a\n%s"
		 "store r0_r1_r2_r3, du4, r20, lsl 2, i32, xyzw, a\nwait a\nstop\n", what);
	if (agx_isa_assemble(text, "textures", &program, fuzz_null()))
		return false;
	FUZZ_CHECK(program.size <= CODE_SIZE);
	memset(code, 0, CODE_SIZE);
	memcpy(code, program.code, program.size);
	free(program.code);
	return true;
}

static int run_stage(struct vagx_uat_fault *fault)
{
	static uint8_t tile_memory[VAGX_TILE_BYTES + VAGX_TILE_SLACK];
	static const uint32_t group[3];
	struct vagx_tile tile = {
		.width = TILE_SIDE, .height = TILE_SIDE, .sample_positions = 0x88,
		.samples = 1u << form[TEXTURE_PART_FORMAT] / 64 % 3, .memory = tile_memory,
	};
	struct vagx_fragments fragments = { .exists = UINT32_MAX };
	unsigned int i;

	for (i = 0; i < LANES; i++) {
		fragments.x[i] = (uint16_t)i;
		fragments.input[i] = 1;
		fragments.live[i] = form[TEXTURE_PART_STAGE] & 2 ? i % 3 != 0 : 1;
	}
	launch.serial++;
	if (form[TEXTURE_PART_STAGE] & 1)
		return vagx_core_run_fragments(core, &launch, &tile, &fragments, fault);
	return vagx_core_run_groups(core, &launch, group, 1, fault);
}

static void run(void)
{
	static uint32_t first[PAGE_WORDS];
	struct vagx_uat_fault fault;
	int err;

	if (!assemble())
		return;
	memset(out, 0, sizeof(out));
	err = run_stage(&fault);
	FUZZ_CHECK(!err == !*vagx_core_error(core));
	/* What is written may be what is read */
	if (form[TEXTURE_PART_KIND] % 4 > 1)
		return;
	memcpy(first, out, sizeof(out));
	memset(out, 0, sizeof(out));
	FUZZ_CHECK(run_stage(&fault) == err);
	FUZZ_CHECK(!memcmp(first, out, sizeof(out)));
}

static void do_record(const struct fuzz_record *r, unsigned int *runs)
{
	unsigned int i = r->which % 2;

	switch ((enum texture_op)(r->op % TEXTURE_OP_COUNT)) {
	case TEXTURE_OP_TEXTURE:
		change_field(r->which & 1 ? "texture_linear" : "texture", launch.textures[1], r);
		break;
	case TEXTURE_OP_SAMPLER:
		change_field("sampler", launch.samplers[i], r);
		break;
	case TEXTURE_OP_COORDINATE:
		change_coordinate(r);
		break;
	case TEXTURE_OP_PBE:
		change_field(r->which & 1 ? "pbe_linear" : "pbe", launch.textures[2], r);
		break;
	case TEXTURE_OP_FORM:
		form[r->which % TEXTURE_PARTS] = (uint8_t)r->value;
		break;
	case TEXTURE_OP_RUN:
		if ((*runs)++ < RUNS)
			run();
		break;
	case TEXTURE_OP_TEXTURE_BITS:
		change_bits(launch.textures[1], r->field % 160, 1 + r->index % 32, r);
		break;
	case TEXTURE_OP_SAMPLER_BITS:
		change_bits(launch.samplers[i], r->field % 48, 1 + r->index % 16, r);
		break;
	case TEXTURE_OP_PBE_BITS:
		change_bits(launch.textures[2], r->field % 160, 1 + r->index % 32, r);
		break;
	case TEXTURE_OP_BORDER:
		launch.extended_samplers = r->how & 1;
		memcpy(launch.borders[i] + r->index % 2 * 8, &r->value, 8);
		break;
	case TEXTURE_OP_MEMORY:
		change_memory(r);
		break;
	case TEXTURE_OP_BASE:
		set_base(r->which % BASES);
		break;
	case TEXTURE_OP_COUNT:
		break;
	}
}

static const struct fuzz_record samples[] = {
	{ .which = BASE_LEVELS },
	{ .op = TEXTURE_OP_RUN }, { .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_LOD, .value = 3 },
	{ .op = TEXTURE_OP_COORDINATE, .field = 8, .which = 255, .how = 5, .value = 0x3d000000 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_SAMPLER, .value = 2 },
	{ .op = TEXTURE_OP_BORDER, .how = 1 },
	{ .op = TEXTURE_OP_RUN }, { .op = TEXTURE_OP_BASE, .which = BASE_3D },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_DIM, .value = 5 }, { .op = TEXTURE_OP_RUN },
};

static const struct fuzz_record loads[] = {
	{ .which = BASE_ASTC },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_KIND, .value = 1 }, { .op = TEXTURE_OP_RUN },
	{ .op = TEXTURE_OP_BASE, .which = BASE_MULTISAMPLED },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_DIM, .value = 4 }, { .op = TEXTURE_OP_RUN },
	{ .op = TEXTURE_OP_BASE, .which = BASE_COMPRESSED },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_DIM, .value = 2 }, { .op = TEXTURE_OP_RUN },
};

static const struct fuzz_record stores[] = {
	{ .which = BASE_ARRAY },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_KIND, .value = 2 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_DIM, .value = 3 }, { .op = TEXTURE_OP_RUN },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_KIND, .value = 3 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_FORMAT, .value = 4 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_STAGE, .value = 1 },
	{ .op = TEXTURE_OP_RUN }, { .op = TEXTURE_OP_BASE, .which = BASE_COMPRESSED },
	{ .op = TEXTURE_OP_RUN },
};

static const struct fuzz_record others[] = {
	{ .which = BASE_CUBE, .how = 1 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_DIM, .value = 6 }, { .op = TEXTURE_OP_RUN },
	{ .op = TEXTURE_OP_BASE, .which = BASE_DEPTH },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_DIM, .value = 2 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_OFFSET, .value = 2 }, { .op = TEXTURE_OP_RUN },
	{ .op = TEXTURE_OP_BASE, .which = BASE_SPARSE },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_GATHER, .value = 1 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_MORE, .value = 1 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_OFFSET, .value = 1 }, { .op = TEXTURE_OP_RUN },
};

/* Samplers by number: state registers, then the heap */
static const struct fuzz_record numbers[] = {
	{ .which = BASE_LINEAR, .index = 3 },
	{ .op = TEXTURE_OP_FORM, .which = TEXTURE_PART_SAMPLER, .value = 1 },
	{ .op = TEXTURE_OP_COORDINATE, .field = 7, .which = 255, .how = 3, .value = 1 },
	{ .op = TEXTURE_OP_RUN },
	{ .op = TEXTURE_OP_COORDINATE, .field = 7, .which = 255, .how = 3, .value = 29 },
	{ .op = TEXTURE_OP_RUN },
};

static const struct fuzz_seed seeds[] = {
	FUZZ_SEED(samples), FUZZ_SEED(loads), FUZZ_SEED(stores), FUZZ_SEED(others),
	FUZZ_SEED(numbers),
};

const struct fuzz_shape fuzz_shape = {
	.ops = TEXTURE_OP_COUNT, .favoured = TEXTURE_OP_FAVOURED, .seeds = seeds,
	.num_seeds = sizeof(seeds) / sizeof(seeds[0]),
};

/* Half of it is zeros, as memory is that nobody has written */
static void fill_page(unsigned int page)
{
	uint64_t state = page + 1;
	unsigned int i;

	for (i = 0; i < VAGX_UAT_PAGE_SIZE; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		image[page][i] = i % 512 < 256 ? (uint8_t)(state >> 56) : 0;
	}
	written[page] = false;
}

static void set_up(void)
{
	struct vagx_core_config config = { .tlb = &tlb, .programs = vagx_programs_new() };
	unsigned int i;

	for (i = 0; i < IMAGE_PAGES; i++) {
		image[i] = malloc(VAGX_UAT_PAGE_SIZE);
		FUZZ_CHECK(image[i]);
		written[i] = true;
	}
	core = vagx_core_new(&config);
	FUZZ_CHECK(core);
}

/* The first record: the descriptor to begin with, whether faults are the shader's, registers */
static void begin(const struct fuzz_record *r)
{
	uint64_t serial = launch.serial;
	unsigned int i;

	for (i = 0; i < IMAGE_PAGES; i++) {
		if (written[i])
			fill_page(i);
	}
	for (i = 0; i < LANES * WORDS; i++)
		in[i] = i % WORDS < 4 ? 0x3d000000 + (i << 16) / WORDS : 0;
	memset(&launch, 0, sizeof(launch));
	memset(form, 0, sizeof(form));
	form[TEXTURE_PART_DIM] = 2;
	launch.serial = serial;
	launch.code_va = CODE_VA;
	launch.sample_stride = 4u << r->how / 16 % 4;
	launch.tile_width = launch.tile_height = TILE_SIDE;
	launch.tile_samples = 1;
	launch.shared_size = 32768;
	launch.soft_faults = r->how & 1;
	launch.regs = r->index & 4 ? r->extra % 64 : 0;
	launch.sampler_heap = IN_VA;
	launch.sampler_count = 2;
	for (i = 0; i < 3; i++)
		launch.grid[i] = launch.local[i] = i ? 1 : LANES;
	for (i = 0; i < 4; i++) {
		launch.uniforms[i] = (uint16_t)(IN_VA >> 16 * i);
		launch.uniforms[8 + i] = (uint16_t)(OUT_VA >> 16 * i);
	}
	set_base(r->which % BASES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_record records[FUZZ_RECORDS];
	size_t count = fuzz_records(data, size, records), i;
	unsigned int runs = 0;

	if (!count)
		return 0;
	if (!core)
		set_up();
	begin(&records[0]);
	for (i = 1; i < count; i++)
		do_record(&records[i], &runs);
	return 0;
}
