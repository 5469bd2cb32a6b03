// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Relay: from the bottom half that reads events to the worker that handles failures.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/array_size.h>
#include <linux/export.h>
#include <linux/kfifo.h>
#include <linux/string.h>

#include <asm/byteorder.h>

#include <kunit/visibility.h>

#include "asahi_fw_channels.h"
#include "asahi_relay.h"
#include "asahi_ring.h"

/**
 * DOC: Relay
 *
 * The firmware tells of stamps and of failures in one ring. Stamps are looked at in a bottom
 * half, where fences signal. A failure is handled in a worker, since that waits for the
 * firmware. So the bottom half is the only reader of the ring while it is enabled, and relays
 * to the worker what is no stamp.
 *
 * **Order.** Stamps that the firmware has told of before a failure are looked at before the
 * worker learns of the failure. Stamps that it tells of later may be looked at while the worker
 * handles it. The worker marks the jobs that are lost with the lock of their timeline, and their
 * stamps change only when it has told the firmware to go on.
 *
 * **Nothing is lost.** When there is no room for an event, the bottom half leaves it in the ring,
 * with all that is behind it. The worker makes room, and has the bottom half run again after
 * that.
 */

/**
 * asahi_relay_init() - begin with a relay in which nothing waits
 * @relay: relay
 *
 * Any context.
 */
void asahi_relay_init(struct asahi_relay *relay)
{
	INIT_KFIFO(relay->events);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_relay_init);

/**
 * struct asahi_relay_news - stamps that the firmware has told of
 * @mask: one bit for each event slot
 * @any: there is one
 */
struct asahi_relay_news {
	u32 mask[4];
	bool any;
};

static void asahi_relay_gather(struct asahi_relay_news *news, const struct asahi_fw_event_msg *msg)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(news->mask); i++)
		news->mask[i] |= le32_to_cpu(msg->flag.firing[i]);
	news->any = true;
}

static void asahi_relay_tell(struct asahi_relay_news *news, asahi_relay_stamps stamps, void *priv)
{
	if (news->any)
		stamps(priv, news->mask);
	*news = (struct asahi_relay_news) {};
}

/**
 * asahi_relay_read() - read events, and relay what are no stamps
 * @relay: relay
 * @ring: ring of events, of which the caller is the only reader
 * @stamps: is called once for all stamps that come without another event in between
 * @priv: for @stamps
 * @count: gets the number of events that were read, as many as the ring has at most
 *
 * Any context, one caller at a time.
 *
 * Return: 1 if there may be more; 0 if there is none, or if the worker has to make room for it
 * first; -EIO if the firmware's pointer is outside the ring.
 */
int asahi_relay_read(struct asahi_relay *relay, struct asahi_rx_ring *ring,
		     asahi_relay_stamps stamps, void *priv, unsigned int *count)
{
	struct asahi_relay_news news = {};
	struct asahi_fw_event_msg msg;
	int ret = 1;

	for (*count = 0; *count < ring->count; (*count)++) {
		ret = asahi_rx_ring_peek(ring, &msg);
		if (ret <= 0)
			break;

		if (msg.type == cpu_to_le32(ASAHI_FW_EVENT_FLAG)) {
			asahi_relay_gather(&news, &msg);
		} else {
			asahi_relay_tell(&news, stamps, priv);
			ret = kfifo_put(&relay->events, msg);
			if (!ret)
				break;
		}
		asahi_rx_ring_pop(ring);
	}
	asahi_relay_tell(&news, stamps, priv);

	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_relay_read);

/**
 * asahi_relay_get() - take an event out
 * @relay: relay
 * @msg: gets the event
 *
 * For the worker only, which has to have the ring read again after it has taken some.
 *
 * Return: whether there was one.
 */
bool asahi_relay_get(struct asahi_relay *relay, struct asahi_fw_event_msg *msg)
{
	return kfifo_get(&relay->events, msg);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_relay_get);

/**
 * asahi_relay_empty() - does no event wait for the worker?
 * @relay: relay
 *
 * May be wrong about what happens meanwhile. Any context.
 *
 * Return: true if none does.
 */
bool asahi_relay_empty(struct asahi_relay *relay)
{
	/* Both ends move without a lock. The bottom half looks after it has put one in. */
	return data_race(kfifo_is_empty(&relay->events));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_relay_empty);
