/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Records of the target of textures: what they do, for the target and for corpus.c, which makes
 * some of captures.
 */
#ifndef VAGX_FUZZ_TEXTURES_H
#define VAGX_FUZZ_TEXTURES_H

/* Of a record's @op */
enum texture_op {
	TEXTURE_OP_TEXTURE,		/* field @field */
	TEXTURE_OP_SAMPLER,
	TEXTURE_OP_COORDINATE,		/* word @field of lane @which, or of all */
	TEXTURE_OP_PBE,
	TEXTURE_OP_FORM,		/* part @which of the instruction */
	TEXTURE_OP_RUN,
	TEXTURE_OP_FAVOURED,
	TEXTURE_OP_TEXTURE_BITS = TEXTURE_OP_FAVOURED,
	TEXTURE_OP_SAMPLER_BITS,
	TEXTURE_OP_PBE_BITS,
	TEXTURE_OP_BORDER,
	TEXTURE_OP_MEMORY,
	TEXTURE_OP_BASE,		/* another right descriptor */
	TEXTURE_OP_COUNT
};

/* Parts of an instruction, by TEXTURE_OP_FORM */
enum texture_part {
	TEXTURE_PART_KIND, TEXTURE_PART_DIM, TEXTURE_PART_LOD, TEXTURE_PART_GATHER,
	TEXTURE_PART_OFFSET, TEXTURE_PART_SAMPLER, TEXTURE_PART_FORMAT, TEXTURE_PART_MORE,
	TEXTURE_PART_STAGE, TEXTURE_PARTS
};

/* Values of TEXTURE_PART_FORMAT: names of formats, in the order of their numbers */
static const char *const texture_formats[] = {
	"i8", "i16", "i32", "f16", "u8norm", "s8norm", "u16norm", "s16norm", "rgb10a2", "srgba8",
	"rg11b10f", "rgb9e5",
};

/** texture_format_form() - the value of TEXTURE_PART_FORMAT for an AGX_FORMAT_* */
static inline unsigned int texture_format_form(unsigned int format)
{
	static const unsigned char numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13 };
	unsigned int form = sizeof(texture_formats) / sizeof(texture_formats[0]);

	while (form && numbers[form - 1] != format)
		form--;
	return form ? form - 1 : 0;
}

#endif /* VAGX_FUZZ_TEXTURES_H */
