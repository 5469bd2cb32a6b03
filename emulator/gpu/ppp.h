/* SPDX-License-Identifier: MIT */
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * State of primitive processing (PPP): packets as a stream has them, in which form vertex work
 * also stores them for fragment work, and unpacked.
 */
#ifndef VAGX_PPP_H
#define VAGX_PPP_H

#include <stdbool.h>
#include <stdint.h>

#include "agx_packets.h"

/** PPP_VIEWPORTS - most viewports, and regions */
#define PPP_VIEWPORTS	16

/** PPP_STATE - ROW(packet, words) for each packet that is kept, without ppp_ */
#define PPP_STATE(ROW)		\
	ROW(fragment_control, 1)	\
	ROW(fragment_control_2, 1)	\
	ROW(front_face, 1)		\
	ROW(front_face_2, 1)		\
	ROW(front_stencil, 1)		\
	ROW(back_face, 1)		\
	ROW(back_face_2, 1)		\
	ROW(back_stencil, 1)		\
	ROW(depth_bias_scissor, 1)	\
	ROW(w_clamp, 1)			\
	ROW(output_select, 1)		\
	ROW(varying_counts_32, 1)	\
	ROW(varying_counts_16, 1)	\
	ROW(cull, 1)			\
	ROW(cull_2, 1)			\
	ROW(fragment_shader, 4)		\
	ROW(occlusion_query, 1)		\
	ROW(output_size, 1)

/** struct ppp_words - the packets' bytes */
struct ppp_words {
#define PPP_ROW(packet, words) uint32_t packet[words];
	PPP_STATE(PPP_ROW)
#undef PPP_ROW
	uint32_t viewport[PPP_VIEWPORTS][6];
	uint32_t region[PPP_VIEWPORTS][2];
};

/** struct ppp_state - the packets' values */
struct ppp_state {
#define PPP_ROW(packet, words) struct agx_ppp_##packet packet;
	PPP_STATE(PPP_ROW)
#undef PPP_ROW
	struct agx_ppp_viewport viewport[PPP_VIEWPORTS];
	struct agx_ppp_region_clip region[PPP_VIEWPORTS];
};

/**
 * ppp_set() - store a packet's bytes
 * @words: state
 * @id: packet
 * @bytes: its bytes
 * @viewport: index of the record's next region or viewport; regions come first
 */
void ppp_set(struct ppp_words *words, enum agx_packet_id id, const uint8_t *bytes,
	     unsigned int *viewport);

/** ppp_unpack() - unpack all packets; the words may be anything */
void ppp_unpack(struct ppp_state *state, const struct ppp_words *words);

/**
 * ppp_update() - unpack the packets that have changed
 * @state: unpacked before
 * @unpacked: the words that it was unpacked from; becomes @words
 * @words: as for ppp_unpack()
 */
void ppp_update(struct ppp_state *state, struct ppp_words *unpacked, const struct ppp_words *words);

#endif /* VAGX_PPP_H */
