// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Inputs of fuzzing targets, made of what programs have given to the GPU, and the driver to the
 * firmware:
 *
 *   fuzz-corpus CAPTURE DESCRIPTORS FOLDER
 *   fuzz-corpus COMMANDS FOLDER
 *
 * CAPTURE is what the shim writes for ASAHI_SHIM_CAPTURE, DESCRIPTORS what it writes for
 * ASAHI_SHIM_DESCRIPTORS, COMMANDS is tools/checks/golden-commands. FOLDER gets a folder for each target, with a file for each input, whose
 * name is a checksum. Streams are put together anew from the address of the targets' memory on:
 * packets with all that they lead to, and addresses in them changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agx_isa.h"
#include "agx_stream.h"
#include "corpus.h"
#include "fuzz.h"
#include "gpu/core.h"
#include "sanitizer/descriptors.h"
#include "textures.h"
#include "dump.h"

/* The largest input that tools/fuzz.sh lets libFuzzer have, and of a shader */
#define MAX_INPUT	4096
#define MAX_SHADER	1000
#define MAX_PACKETS	400
#define MAX_PIECES	400
#define ALIGN		64
/* Inputs of a target, and targets that have some */
#define MAX_INPUTS	1000
#define TARGETS		16

/* Memory that goes into an input, at an offset; a packet, or what one leads to */
struct piece {
	uint64_t va;
	size_t size;
	size_t offset;
};

/* One stream of a capture */
struct walk {
	const struct dump_stream *stream;
	struct agx_stream_packet packet[MAX_PACKETS];
	unsigned int packets;
	struct piece piece[MAX_PIECES];
	unsigned int pieces;
};

static const char *folder;
static unsigned int written;

static void __attribute__((noreturn)) give_up(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* Whether a target has enough inputs of this capture: some programs do the same for long */
static bool has_enough(const char *target)
{
	static struct {
		const char *target;
		unsigned int inputs;
	} counts[TARGETS];
	unsigned int i = 0;

	while (i < TARGETS - 1 && counts[i].target && strcmp(counts[i].target, target))
		i++;
	counts[i].target = target;
	return counts[i].inputs++ >= MAX_INPUTS;
}

/* Writes an input, unless there is one like it */
static void put_input(const char *target, const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0xcbf29ce484222325;
	char path[1024];
	FILE *file;
	size_t i;

	for (i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3;
	snprintf(path, sizeof(path), "%s/%s", folder, target);
	if (mkdir(path, 0777) && errno != EEXIST)
		give_up(path);
	snprintf(path, sizeof(path), "%s/%s/%016" PRIx64, folder, target, sum);
	if (!access(path, F_OK) || has_enough(target))
		return;
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		give_up(path);
	written++;
}

/* Streams */

static void add_piece(struct walk *w, uint64_t va, size_t size)
{
	if (w->pieces < MAX_PIECES)
		w->piece[w->pieces++] = (struct piece){ .va = va, .size = size };
}

/* What a packet leads to, besides other packets */
static void add_bound(struct walk *w, const struct agx_stream_packet *p)
{
	const union agx_packet *v = &p->values;

	if (p->id == AGX_PACKET_usc_uniform)
		add_piece(w, v->usc_uniform.buffer, 2 * (size_t)v->usc_uniform.size);
	if (p->id == AGX_PACKET_usc_uniform_high)
		add_piece(w, v->usc_uniform_high.buffer, 2 * (size_t)v->usc_uniform_high.size);
	if (p->id == AGX_PACKET_usc_texture)
		add_piece(w, v->usc_texture.buffer,
			  (size_t)v->usc_texture.count * VAGX_TEXTURE_BYTES);
	if (p->id == AGX_PACKET_usc_sampler)
		add_piece(w, v->usc_sampler.buffer,
			  (size_t)v->usc_sampler.count * VAGX_SAMPLER_BYTES);
}

static struct agx_stream_source source_of(const struct dump_stream *stream)
{
	return (struct agx_stream_source){
		.read = dump_read,
		.ctx = (void *)(uintptr_t)stream->memory,
		.max_packets = MAX_PACKETS,
		.records = true,
		.pipelines = true,
		.usc_base = stream->usc_base,
	};
}

static void collect(struct walk *w, enum agx_stream_kind kind, uint64_t va)
{
	const struct agx_stream_source source = source_of(w->stream);
	struct agx_stream s;

	w->packets = 0;
	w->pieces = 0;
	agx_stream_init(&s, kind, &source, va);
	while (w->packets < MAX_PACKETS && agx_stream_next(&s, &w->packet[w->packets]) > 0) {
		add_piece(w, w->packet[w->packets].va,
			  agx_packet_bytes(w->packet[w->packets].id));
		add_bound(w, &w->packet[w->packets]);
		w->packets++;
	}
}

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->va < y->va ? -1 : x->va > y->va;
}

/* Makes pieces of what is in a row, as words of a pipeline are */
static void merge_pieces(struct walk *w)
{
	unsigned int i, last = 0;

	qsort(w->piece, w->pieces, sizeof(w->piece[0]), compare_pieces);
	for (i = 1; i < w->pieces; i++) {
		struct piece *before = &w->piece[last], *next = &w->piece[i];
		uint64_t end = before->va + before->size;

		if (next->va > end + 4)
			w->piece[++last] = *next;
		else if (next->va + next->size > end)
			before->size = next->va + next->size - before->va;
	}
	w->pieces = w->pieces ? last + 1 : 0;
}

/* Places the pieces, that with the beginning first. Return: bytes of all, or 0. */
static size_t place_pieces(struct walk *w, uint64_t first)
{
	size_t used = 0;
	unsigned int i;

	for (i = 0; i < w->pieces; i++) {
		if (w->piece[i].va == first)
			used = w->piece[i].size;
	}
	for (i = 0; used && i < w->pieces; i++) {
		struct piece *piece = &w->piece[i];

		piece->offset = 0;
		if (piece->va == first)
			continue;
		used = (used + ALIGN - 1) / ALIGN * ALIGN + piece->va % ALIGN;
		piece->offset = used;
		used += piece->size;
	}
	return used;
}

/* Return: whether it is in a piece; @offset is where it is in the input then */
static bool find_offset(const struct walk *w, uint64_t va, uint64_t *offset)
{
	unsigned int i;

	for (i = 0; i < w->pieces; i++) {
		const struct piece *piece = &w->piece[i];

		if (va - piece->va < piece->size) {
			*offset = piece->offset + (va - piece->va);
			return true;
		}
	}
	return false;
}

static void move_address(const struct walk *w, uint64_t *address, bool in_usc)
{
	uint64_t base = in_usc ? w->stream->usc_base : 0, offset;

	if (find_offset(w, base + *address, &offset))
		*address = in_usc ? offset : FUZZ_VA + offset;
}

/* Changes the addresses in a packet. Those of USC words are offsets from a base. */
static void move_addresses(const struct walk *w, struct agx_stream_packet *p)
{
	union agx_packet *v = &p->values;

#define MOVE(packet, field, in_usc)						\
	do {									\
		if (p->id == AGX_PACKET_##packet) {				\
			uint64_t address = v->packet.field;			\
										\
			move_address(w, &address, in_usc);				\
			v->packet.field = address;				\
		}								\
	} while (0)
	MOVE(cdm_launch, pipeline, true);
	MOVE(vdm_pipeline, pipeline, true);
	MOVE(ppp_fragment_shader, pipeline, true);
	MOVE(cdm_stream_link, target, false);
	MOVE(vdm_stream_link, target, false);
	MOVE(vdm_ppp_state, address, false);
	MOVE(usc_uniform, buffer, false);
	MOVE(usc_uniform_high, buffer, false);
	MOVE(usc_texture, buffer, false);
	MOVE(usc_sampler, buffer, false);
#undef MOVE
}

/* Puts a stream together. Return: its bytes, cut where an input ends; 0 if there is none. */
static size_t put_together(struct walk *w, uint64_t first, uint8_t *out, size_t room)
{
	static uint8_t whole[1 << 20];
	unsigned int i;
	size_t size;

	merge_pieces(w);
	size = place_pieces(w, first);
	if (!size || size > sizeof(whole))
		return 0;
	memset(whole, 0, size);
	for (i = 0; i < w->pieces; i++) {
		const struct piece *piece = &w->piece[i];
		size_t n;

		for (n = 0; n < piece->size; n++)
			dump_read((void *)(uintptr_t)w->stream->memory, piece->va + n,
				  whole + piece->offset + n, 1);
	}
	for (i = 0; i < w->packets; i++) {
		struct agx_stream_packet *p = &w->packet[i];
		uint64_t offset;

		move_addresses(w, p);
		if (find_offset(w, p->va, &offset) && !p->status)
			agx_packet_pack(p->id, whole + offset, &p->values, NULL);
	}
	size = size < room ? size : room;
	memcpy(out, whole, size);
	return size;
}

static void put_stream(struct walk *w)
{
	const struct dump_stream *stream = w->stream;
	static uint8_t input[MAX_INPUT];
	size_t size;

	collect(w, stream->kind, stream->va);
	size = put_together(w, stream->va, input + 1, MAX_INPUT - 1);
	if (!size)
		return;
	/* records and pipelines are walked through, too */
	input[0] = (uint8_t)(stream->kind | 32 | 64);
	put_input("streams", input, size + 1);
	input[0] = 0;
	if (stream->kind == AGX_STREAM_cdm)
		put_input("cdm", input, size + 1);
	if (stream->kind == AGX_STREAM_vdm)
		put_input("vdm", input + 1, size);
	if (stream->kind == AGX_STREAM_usc)
		put_input("usc", input + 1, size);
}

/* Shaders */

/* The bytes of a shader that are an instruction's, which may be cut off */
static size_t read_code(const struct dump_stream *stream, uint64_t va, uint8_t *bytes)
{
	size_t size = 0;

	while (size < AGX_ISA_MAX_LENGTH &&
	       !dump_read((void *)(uintptr_t)stream->memory, va + size, bytes + size, 1))
		size++;
	return size;
}

/* As in the first byte of the target's inputs */
enum stage {
	STAGE_VERTICES,
	STAGE_FRAGMENTS,
	STAGE_GROUP,
	STAGE_PRESHADER,
};

/* In each mode of the compiler */
static void put_code(const uint8_t *code, size_t size, enum stage stage)
{
	uint8_t input[1 + MAX_SHADER];
	unsigned int mode;

	memcpy(input + 1, code, size);
	input[0] = 2;
	put_input("isa", input, size + 1);
	for (mode = 0; mode < 4; mode++) {
		input[0] = (uint8_t)(192 | stage << 2 | mode);
		put_input("shaders", input, size + 1);
	}
}

/* Puts a shader into inputs, up to a stop */
static void put_shader(const struct dump_stream *stream, uint64_t va, enum stage stage)
{
	uint8_t code[MAX_SHADER], bytes[AGX_ISA_MAX_LENGTH] = { 0 };
	struct agx_instr instr;
	size_t size = 0;
	int length;

	do {
		length = agx_isa_decode(bytes, read_code(stream, va, bytes), &instr);
		if (length <= 0)
			break;
		if (size + (size_t)length > MAX_SHADER) {
			put_code(code, size, stage);
			size = 0;
		}
		memcpy(code + size, bytes, (size_t)length);
		size += (size_t)length;
		va += (uint64_t)length;
	} while (instr.op != AGX_OP_STOP);
	if (size)
		put_code(code, size, stage);
}

/* Textures: descriptors, with the instructions that have used them */

void corpus_add(struct corpus_list *list, struct fuzz_record record)
{
	if (list->count < FUZZ_RECORDS)
		list->record[list->count++] = record;
}

void corpus_put(const char *target, const struct corpus_list *list)
{
	put_input(target, (const uint8_t *)list->record, list->count * sizeof(list->record[0]));
}

/* Sets @width bits from @start on by an operation, as the value says */
static void put_bits(struct corpus_list *list, enum texture_op op, unsigned int start, unsigned int width,
		     const uint8_t *bytes)
{
	uint64_t value = 0;

	memcpy(&value, bytes + start / 8, (start % 8 + width + 7) / 8);
	corpus_add(list, (struct fuzz_record){
		.op = op, .field = (uint16_t)start, .how = 5, .index = (uint8_t)(width - 1),
		.value = value >> start % 8,
	});
}

static void put_form(struct corpus_list *list, enum texture_part part, unsigned int value)
{
	corpus_add(list, (struct fuzz_record){ .op = TEXTURE_OP_FORM, .which = part, .value = value });
}

/* Bits 64 to 101 have the address, which stays that of the target's image */
static void put_descriptor(struct corpus_list *list, bool writes, const uint8_t *bytes)
{
	enum texture_op op = writes ? TEXTURE_OP_PBE_BITS : TEXTURE_OP_TEXTURE_BITS;
	unsigned int address = writes ? 64 : 66;

	put_bits(list, op, 0, 32, bytes);
	put_bits(list, op, 32, 32, bytes);
	if (!writes)
		put_bits(list, op, 64, 2, bytes);
	put_bits(list, op, address + 36, 128 - address - 36, bytes);
	/* layers of what is not compressed; the metadata's address else */
	put_bits(list, op, 128, 32, bytes);
}

static unsigned int lod_form(unsigned int lod)
{
	switch (lod) {
	case AGX_LOD_UNIFORM_MIN:
	case AGX_LOD_MIN:
		return 1;
	case AGX_LOD_UNIFORM_BIAS:
	case AGX_LOD_BIAS:
		return 2;
	case AGX_LOD_GRAD:
	case AGX_LOD_GRAD_MIN:
		return 3;
	case AGX_LOD_UNIFORM_BIAS_MIN:
	case AGX_LOD_BIAS_MIN:
		return 4;
	default:
		return 0;
	}
}

static void put_instruction(struct corpus_list *list, const struct agx_instr *instr)
{
	bool offset = instr->src[5].type != AGX_OPERAND_NONE;

	put_form(list, TEXTURE_PART_DIM, (unsigned int)instr->mod[AGX_MOD_DIM]);
	switch (instr->op) {
	case AGX_OP_IMAGE_WRITE:
	case AGX_OP_IMAGE_WRITE_BLOCK:
		put_form(list, TEXTURE_PART_KIND, instr->op == AGX_OP_IMAGE_WRITE ? 2 : 3);
		put_form(list, TEXTURE_PART_FORMAT,
			 texture_format_form((unsigned int)instr->mod[AGX_MOD_FORMAT]));
		return;
	default:
		put_form(list, TEXTURE_PART_KIND, instr->op == AGX_OP_SAMPLE_INT);
		put_form(list, TEXTURE_PART_LOD, lod_form((unsigned int)instr->mod[AGX_MOD_LOD]));
		put_form(list, TEXTURE_PART_GATHER,
			 ((unsigned int)instr->mod[AGX_MOD_GATHER] + 1) / 2);
		put_form(list, TEXTURE_PART_OFFSET, instr->mod[AGX_MOD_SHADOW] ? 2 : offset);
		put_form(list, TEXTURE_PART_MORE, (instr->mod[AGX_MOD_SPARSE] ? 1u : 0) |
			 (instr->mod[AGX_MOD_QUERY_LOD] ? 4u : 0));
	}
}

/* Texels side by side, where coordinates are integers */
static void put_coordinates(struct corpus_list *list)
{
	unsigned int word;

	for (word = 0; word < 3; word++)
		corpus_add(list, (struct fuzz_record){
			.op = TEXTURE_OP_COORDINATE, .which = 255, .field = (uint16_t)word,
			.how = 16 | 5, .extra = word < 2,
		});
}

static void put_texture(const struct agx_instr *instr, const struct descriptors_line *line)
{
	bool writes = instr->op == AGX_OP_IMAGE_WRITE || instr->op == AGX_OP_IMAGE_WRITE_BLOCK;
	struct corpus_list list = { .count = 1 };
	unsigned int i;

	put_descriptor(&list, writes, line->state);
	for (i = 0; !writes && i < 4; i++)
		put_bits(&list, TEXTURE_OP_SAMPLER_BITS, i < 3 ? 16 * i : 47, 16, line->sampler);
	put_instruction(&list, instr);
	put_form(&list, TEXTURE_PART_STAGE, instr->op == AGX_OP_IMAGE_WRITE_BLOCK);
	if (instr->op != AGX_OP_SAMPLE_FLOAT)
		put_coordinates(&list);
	corpus_add(&list, (struct fuzz_record){ .op = TEXTURE_OP_RUN });
	corpus_put("textures", &list);
}

static bool parse_bytes(const char *text, uint8_t *bytes, size_t size)
{
	unsigned int value;
	size_t i;

	if (strlen(text) != 2 * size)
		return false;
	for (i = 0; i < size; i++) {
		if (sscanf(text + 2 * i, "%2x", &value) != 1)
			return false;
		bytes[i] = (uint8_t)value;
	}
	return true;
}

/* "descriptor CODE STATE SAMPLER". Return: false if it is something else. */
static bool put_descriptor_line(const char *text)
{
	char code[2 * AGX_ISA_MAX_LENGTH + 1], state[2 * VAGX_TEXTURE_BYTES + 1];
	char sampler[2 * VAGX_SAMPLER_BYTES + 1];
	struct descriptors_line line = { .length = 0 };
	struct agx_instr instr;

	if (sscanf(text, "descriptor %24s %48s %16s", code, state, sampler) != 3 ||
	    !parse_bytes(code, line.code, sizeof(line.code)) ||
	    !parse_bytes(state, line.state, sizeof(line.state)) ||
	    !parse_bytes(sampler, line.sampler, sizeof(line.sampler)) ||
	    agx_isa_decode(line.code, sizeof(line.code), &instr) <= 0)
		return false;
	put_texture(&instr, &line);
	return true;
}

static void put_descriptors(char *text)
{
	char *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!put_descriptor_line(line)) {
			fprintf(stderr, "fuzz-corpus: not a descriptor: %s\n", line);
			exit(EXIT_FAILURE);
		}
	}
}

/* Fragment shaders are those with a word about fragments */
static enum stage stage_of(const struct walk *w, unsigned int word)
{
	if (w->stream->kind == AGX_STREAM_cdm)
		return STAGE_GROUP;
	for (; word < w->packets; word++) {
		if (w->packet[word].id == AGX_PACKET_usc_fragment_properties)
			return STAGE_FRAGMENTS;
		if (w->packet[word].id == AGX_PACKET_usc_preshader ||
		    w->packet[word].id == AGX_PACKET_usc_no_preshader)
			break;
	}
	return STAGE_VERTICES;
}

static void put_shaders(const struct walk *w)
{
	uint64_t base = w->stream->usc_base;
	unsigned int i;

	for (i = 0; i < w->packets; i++) {
		const union agx_packet *v = &w->packet[i].values;

		if (w->packet[i].id == AGX_PACKET_usc_shader)
			put_shader(w->stream, base + v->usc_shader.code, stage_of(w, i));
		if (w->packet[i].id == AGX_PACKET_usc_preshader)
			put_shader(w->stream, base + v->usc_preshader.code, STAGE_PRESHADER);
	}
}

static void put_recorded(void *ctx, const struct dump_stream *stream)
{
	static struct walk walk;

	(void)ctx;
	walk.stream = stream;
	collect(&walk, stream->kind, stream->va);
	put_shaders(&walk);
	put_stream(&walk);
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;
	size_t size = 0, n;

	if (!file)
		give_up(path);
	do {
		text = realloc(text, size + 65537);
		if (!text)
			give_up(path);
		n = fread(text + size, 1, 65536, file);
		size += n;
	} while (n);
	fclose(file);
	text[size] = '\0';
	return text;
}

static int put_capture(const char *capture, const char *descriptors)
{
	const struct dump_visitor visitor = { .stream = put_recorded };
	char *text = read_file(capture);

	if (dump_parse(text, &visitor)) {
		fprintf(stderr, "fuzz-corpus: %s: not a capture\n", capture);
		return EXIT_FAILURE;
	}
	corpus_put_machine(text);
	free(text);
	text = read_file(descriptors);
	put_descriptors(text);
	free(text);
	return EXIT_SUCCESS;
}

static int put_commands(const char *commands)
{
	char *text = read_file(commands);

	corpus_put_commands(text);
	free(text);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	int status;

	if (argc != 3 && argc != 4) {
		fputs("usage: fuzz-corpus CAPTURE DESCRIPTORS FOLDER\n"
		      "       fuzz-corpus COMMANDS FOLDER\n", stderr);
		return EXIT_FAILURE;
	}
	folder = argv[argc - 1];
	status = argc == 4 ? put_capture(argv[1], argv[2]) : put_commands(argv[1]);
	if (!status)
		printf("%u inputs\n", written);
	return status;
}
