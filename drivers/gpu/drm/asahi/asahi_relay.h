/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Relay: from the bottom half that reads events to the worker that handles failures.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_RELAY_H
#define ASAHI_RELAY_H

#include <linux/kfifo.h>
#include <linux/types.h>

#include "asahi_fw_channels.h"

struct asahi_rx_ring;

/** ASAHI_RELAY_EVENTS - events that can wait for the worker; a power of two */
#define ASAHI_RELAY_EVENTS 16

/**
 * struct asahi_relay - events that wait for the worker
 * @events: the events; the bottom half puts them in, the worker takes them out, so that no
 *	lock is needed
 */
struct asahi_relay {
	DECLARE_KFIFO(events, struct asahi_fw_event_msg, ASAHI_RELAY_EVENTS);
};

/**
 * typedef asahi_relay_stamps - stamps have changed
 * @priv: as for asahi_relay_read()
 * @mask: one bit for each event slot
 */
typedef void (*asahi_relay_stamps)(void *priv, const u32 mask[4]);

void asahi_relay_init(struct asahi_relay *relay);
int asahi_relay_read(struct asahi_relay *relay, struct asahi_rx_ring *ring,
		     asahi_relay_stamps stamps, void *priv, unsigned int *count);
bool asahi_relay_get(struct asahi_relay *relay, struct asahi_fw_event_msg *msg);
bool asahi_relay_empty(struct asahi_relay *relay);

#endif
