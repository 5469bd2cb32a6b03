// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * State of primitive processing: stores and unpacks packets by the table PPP_STATE(). Functions
 * have no state.
 */
#include <string.h>

#include "gpu/ppp.h"

void ppp_set(struct ppp_words *words, enum agx_packet_id id, const uint8_t *bytes,
	     unsigned int *viewport)
{
	switch (id) {
	case AGX_PACKET_ppp_header:
	case AGX_PACKET_ppp_viewport_control:
		*viewport = 0;
		break;
	case AGX_PACKET_ppp_region_clip:
		if (*viewport < PPP_VIEWPORTS)
			memcpy(words->region[(*viewport)++], bytes, sizeof(words->region[0]));
		break;
	case AGX_PACKET_ppp_viewport:
		if (*viewport < PPP_VIEWPORTS)
			memcpy(words->viewport[(*viewport)++], bytes, sizeof(words->viewport[0]));
		break;
#define PPP_ROW(packet, count)						\
	case AGX_PACKET_ppp_##packet:					\
		memcpy(words->packet, bytes, sizeof(words->packet));	\
		break;
	PPP_STATE(PPP_ROW)
#undef PPP_ROW
	default:
		break;
	}
}

void ppp_unpack(struct ppp_state *state, const struct ppp_words *words)
{
	unsigned int i;

#define PPP_ROW(packet, count)						\
	agx_packet_unpack(AGX_PACKET_ppp_##packet, words->packet, &state->packet, NULL);
	PPP_STATE(PPP_ROW)
#undef PPP_ROW
	for (i = 0; i < PPP_VIEWPORTS; i++) {
		agx_packet_unpack(AGX_PACKET_ppp_viewport, words->viewport[i],
				  &state->viewport[i], NULL);
		agx_packet_unpack(AGX_PACKET_ppp_region_clip, words->region[i],
				  &state->region[i], NULL);
	}
}

/* Unpacks a packet, unless it is the one that @unpacked has */
static void ppp_update_packet(enum agx_packet_id id, const uint32_t *words, uint32_t *unpacked,
			      size_t bytes, void *values)
{
	if (!memcmp(words, unpacked, bytes))
		return;
	memcpy(unpacked, words, bytes);
	agx_packet_unpack(id, words, values, NULL);
}

void ppp_update(struct ppp_state *state, struct ppp_words *unpacked, const struct ppp_words *words)
{
	unsigned int i;

#define PPP_ROW(packet, count)									\
	ppp_update_packet(AGX_PACKET_ppp_##packet, words->packet, unpacked->packet,		\
			  sizeof(words->packet), &state->packet);
	PPP_STATE(PPP_ROW)
#undef PPP_ROW
	if (!memcmp(words->viewport, unpacked->viewport, sizeof(words->viewport)) &&
	    !memcmp(words->region, unpacked->region, sizeof(words->region)))
		return;
	for (i = 0; i < PPP_VIEWPORTS; i++) {
		ppp_update_packet(AGX_PACKET_ppp_viewport, words->viewport[i],
				  unpacked->viewport[i], sizeof(words->viewport[i]),
				  &state->viewport[i]);
		ppp_update_packet(AGX_PACKET_ppp_region_clip, words->region[i],
				  unpacked->region[i], sizeof(words->region[i]),
				  &state->region[i]);
	}
}
