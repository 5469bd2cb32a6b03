/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Records of the target of vertex buffers, for it and for corpus_machine.c, which makes some of
 * captures.
 */
#ifndef VAGX_FUZZ_TVB_OPS_H
#define VAGX_FUZZ_TVB_OPS_H

/* Of a record's @op */
enum tvb_op {
	TVB_OP_HEAP,		/* word @field of the heap's metadata */
	TVB_OP_PAGE,		/* word @field of the header of page @which */
	TVB_OP_ENTRY,		/* of a tile */
	TVB_OP_CHUNK,		/* reference @field of chunk @which */
	TVB_OP_PRIMITIVE,	/* field @field of primitive @which */
	TVB_OP_DRAW,		/* word @field of draw @which */
	TVB_OP_VERTEX,		/* word @field of vertex @which */
	TVB_OP_FAVOURED,
	TVB_OP_REGISTER = TVB_OP_FAVOURED,
	TVB_OP_BYTES,		/* anywhere in region @which */
	TVB_OP_FRAGMENT,
	TVB_OP_WORK,		/* vertex work, once more */
	TVB_OP_HOLE,		/* a page of region @which is not there */
	TVB_OP_COUNT
};

#endif /* VAGX_FUZZ_TVB_OPS_H */
