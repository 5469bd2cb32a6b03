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
