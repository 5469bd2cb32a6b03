// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * The server's end of vfio-user (QEMU docs/interop/vfio-user.rst). A message is received in parts,
 * header before body, without waiting; once complete it is dispatched by its command, which checks
 * sizes, calls the owner's operation and answers. Framing that is wrong ends the connection, a
 * request that cannot be met is answered with an error.
 *
 * The MMIO thread alone, so there is no lock. The one wait is for a client that does not read its
 * answers, and is bounded.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "report.h"
#include "vfio_user.h"

enum command {
	CMD_VERSION = 1,
	CMD_DMA_MAP = 2,
	CMD_DMA_UNMAP = 3,
	CMD_DEVICE_GET_INFO = 4,
	CMD_DEVICE_GET_REGION_INFO = 5,
	CMD_DEVICE_GET_REGION_IO_FDS = 6,
	CMD_DEVICE_GET_IRQ_INFO = 7,
	CMD_DEVICE_SET_IRQS = 8,
	CMD_REGION_READ = 9,
	CMD_REGION_WRITE = 10,
	CMD_DEVICE_RESET = 13,
	CMD_REGION_WRITE_MULTI = 15,
};

#define FLAG_TYPE_MASK		0xfU
#define FLAG_TYPE_COMMAND	0U
#define FLAG_TYPE_REPLY		1U
#define FLAG_NO_REPLY		(1U << 4)
#define FLAG_ERROR		(1U << 5)
#define FLAGS_KNOWN		(FLAG_TYPE_MASK | FLAG_NO_REPLY | FLAG_ERROR)

struct header {
	uint16_t id;
	uint16_t command;
	uint32_t size;
	uint32_t flags;
	uint32_t error;
};

/*
 * What a message has in common with an ioctl of VFIO is <linux/vfio.h>'s: flags
 * and structures. Mappings are vfio-user's own, as memory comes with a file.
 */
#define DMA_MAP_FLAGS_KNOWN	(VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)

struct dma_map {
	uint32_t argsz;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

struct dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t address;
	uint64_t size;
};

/* vfio-user's ends where the ioctl's has capabilities by now */
#define DEVICE_INFO_SIZE	offsetof(struct vfio_device_info, cap_offset)

struct region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
};

struct write_one {
	struct region_access access;
	uint8_t data[8];
};

#define MULTI_MAX	200

#define MAX_BODY	(sizeof(struct region_access) + VAGX_VFU_MAX_DATA)

struct vagx_vfu {
	struct vagx_vfu_config config;
	int fd;
	bool negotiated;
	struct vagx_vfu_stats stats;

	/* The message that is being received */
	struct header header;
	size_t have;			/* bytes of header and body */
	int fds[VAGX_VFU_MAX_FDS];
	unsigned int num_fds;
	uint8_t body[MAX_BODY];

	uint8_t reply[MAX_BODY];
};

static const char *vfio_user_command_name(unsigned int command)
{
	switch (command) {
	case CMD_VERSION: return "VERSION";
	case CMD_DMA_MAP: return "DMA_MAP";
	case CMD_DMA_UNMAP: return "DMA_UNMAP";
	case CMD_DEVICE_GET_INFO: return "DEVICE_GET_INFO";
	case CMD_DEVICE_GET_REGION_INFO: return "DEVICE_GET_REGION_INFO";
	case CMD_DEVICE_GET_REGION_IO_FDS: return "DEVICE_GET_REGION_IO_FDS";
	case CMD_DEVICE_GET_IRQ_INFO: return "DEVICE_GET_IRQ_INFO";
	case CMD_DEVICE_SET_IRQS: return "DEVICE_SET_IRQS";
	case CMD_REGION_READ: return "REGION_READ";
	case CMD_REGION_WRITE: return "REGION_WRITE";
	case CMD_DEVICE_RESET: return "DEVICE_RESET";
	case CMD_REGION_WRITE_MULTI: return "REGION_WRITE_MULTI";
	}
	return "unknown command";
}

struct vagx_vfu *vagx_vfu_new(const struct vagx_vfu_config *config, int fd)
{
	struct vagx_vfu *vfu = calloc(1, sizeof(*vfu));
	int flags = fcntl(fd, F_GETFL);

	if (!vfu || flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK)) {
		int err = errno;

		free(vfu);
		close(fd);
		errno = err;
		return NULL;
	}
	vfu->config = *config;
	vfu->fd = fd;
	return vfu;
}

static void vfio_user_drop_fds(struct vagx_vfu *vfu)
{
	for (unsigned int i = 0; i < vfu->num_fds; i++) {
		if (vfu->fds[i] >= 0)
			close(vfu->fds[i]);
	}
	vfu->num_fds = 0;
}

void vagx_vfu_free(struct vagx_vfu *vfu)
{
	if (!vfu)
		return;

	vfio_user_drop_fds(vfu);
	close(vfu->fd);
	free(vfu);
}

int vagx_vfu_fd(const struct vagx_vfu *vfu)
{
	return vfu->fd;
}

void vagx_vfu_get_stats(const struct vagx_vfu *vfu,
			struct vagx_vfu_stats *stats)
{
	*stats = vfu->stats;
}

/* Logs what is wrong with a message. Return: -EPROTO, which ends the connection. */
static int vfio_user_malformed(struct vagx_vfu *vfu, const char *why)
{
	vagx_log(vfu->config.report, VAGX_LOG_ERROR,
		 "vfio-user: %s (%u), %u bytes: %s; closing the connection",
		 vfio_user_command_name(vfu->header.command), vfu->header.command,
		 vfu->header.size, why);
	return -EPROTO;
}

/*
 * The client asked and does not read the answer: that must not keep the
 * interrupts of the process waiting for ever.
 */
#define SEND_TIMEOUT_MS 10000

static int vfio_user_send_all(struct vagx_vfu *vfu, struct iovec *iov, int count)
{
	struct pollfd poll_fd = { .fd = vfu->fd, .events = POLLOUT };

	while (count) {
		struct msghdr msg = { .msg_iov = iov, .msg_iovlen = count };
		ssize_t sent = sendmsg(vfu->fd, &msg, MSG_NOSIGNAL);
		int ret;

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno != EAGAIN)
			return -errno;
		if (sent < 0) {
			ret = poll(&poll_fd, 1, SEND_TIMEOUT_MS);
			if (!ret) {
				vagx_log(vfu->config.report, VAGX_LOG_ERROR,
					 "vfio-user: the client does not read its replies; closing the connection");
				return -ETIMEDOUT;
			}
			continue;
		}
		while (count && (size_t)sent >= iov->iov_len) {
			sent -= iov->iov_len;
			iov++;
			count--;
		}
		if (count) {
			iov->iov_base = (uint8_t *)iov->iov_base + sent;
			iov->iov_len -= sent;
		}
	}
	return 0;
}

static int vfio_user_send_reply(struct vagx_vfu *vfu, const void *body, size_t len,
				int error)
{
	struct header header = {
		.id = vfu->header.id,
		.command = vfu->header.command,
		.size = sizeof(header) + len,
		.flags = FLAG_TYPE_REPLY | (error ? FLAG_ERROR : 0),
		.error = error,
	};
	struct iovec iov[2] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
		{ .iov_base = (void *)body, .iov_len = len },
	};

	if (vfu->header.flags & FLAG_NO_REPLY)
		return 0;
	return vfio_user_send_all(vfu, iov, len ? 2 : 1);
}

/* Answers a request that is well formed but cannot be met with an error */
static int vfio_user_refuse(struct vagx_vfu *vfu, int error, const char *why)
{
	vagx_log(vfu->config.report, VAGX_LOG_WARNING,
		 "vfio-user: %s refused: %s: %s",
		 vfio_user_command_name(vfu->header.command), why, strerror(error));
	return vfio_user_send_reply(vfu, NULL, 0, error);
}

static int vfio_user_finish(struct vagx_vfu *vfu, int ret, const void *body, size_t len)
{
	if (ret < 0)
		return vfio_user_refuse(vfu, -ret, "the device says");
	return vfio_user_send_reply(vfu, body, len, 0);
}

static int vfio_user_do_version(struct vagx_vfu *vfu, size_t len)
{
	static const char capabilities[] =
		"{\"capabilities\":{\"max_msg_fds\":%d,\"max_data_xfer_size\":%d,"
		"\"write_multiple\":true}}";
	uint16_t version[2];
	int used;

	if (len < sizeof(version))
		return vfio_user_malformed(vfu, "no version inside");
	memcpy(version, vfu->body, sizeof(version));
	if (len > sizeof(version) && vfu->body[len - 1])
		return vfio_user_malformed(vfu, "capabilities without an end");
	if (version[0])
		return vfio_user_malformed(vfu, "a major version other than 0");
	if (vfu->negotiated)
		return vfio_user_malformed(vfu, "negotiated already");

	vagx_log(vfu->config.report, VAGX_LOG_DEBUG,
		 "vfio-user: client has version %u.%u %s", version[0],
		 version[1], len > sizeof(version) ?
			(const char *)vfu->body + sizeof(version) : "");
	vfu->negotiated = true;
	memset(vfu->reply, 0, sizeof(version));
	used = snprintf((char *)vfu->reply + sizeof(version),
			sizeof(vfu->reply) - sizeof(version), capabilities,
			VAGX_VFU_MAX_FDS, VAGX_VFU_MAX_DATA);
	return vfio_user_send_reply(vfu, vfu->reply, sizeof(version) + used + 1, 0);
}

static int vfio_user_do_dma_map(struct vagx_vfu *vfu, size_t len)
{
	struct dma_map map;
	int ret;

	if (len != sizeof(map))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&map, vfu->body, sizeof(map));
	if (vfu->num_fds > 1)
		return vfio_user_malformed(vfu, "more than one descriptor");
	if (map.flags & ~DMA_MAP_FLAGS_KNOWN || !(map.flags & VFIO_DMA_MAP_FLAG_READ))
		return vfio_user_refuse(vfu, EINVAL, "unknown flags");

	ret = vfu->config.ops->dma_map(vfu->config.ctx, map.address, map.size,
				       map.flags & VFIO_DMA_MAP_FLAG_WRITE,
				       vfu->num_fds ? vfu->fds[0] : -1,
				       map.offset);
	return vfio_user_finish(vfu, ret, NULL, 0);
}

static int vfio_user_do_dma_unmap(struct vagx_vfu *vfu, size_t len)
{
	struct dma_unmap unmap;
	int ret;

	/* A dirty bitmap may follow; nobody tracks dirty pages here */
	if (len < sizeof(unmap))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&unmap, vfu->body, sizeof(unmap));
	if (unmap.flags & ~VFIO_DMA_UNMAP_FLAG_ALL)
		return vfio_user_refuse(vfu, EINVAL, "unknown flags");

	if (unmap.flags & VFIO_DMA_UNMAP_FLAG_ALL)
		ret = vfu->config.ops->dma_unmap_all(vfu->config.ctx);
	else
		ret = vfu->config.ops->dma_unmap(vfu->config.ctx,
						 unmap.address, unmap.size);
	return vfio_user_finish(vfu, ret, &unmap, sizeof(unmap));
}

static int vfio_user_do_device_info(struct vagx_vfu *vfu, size_t len)
{
	struct vfio_device_info info;

	if (len < DEVICE_INFO_SIZE)
		return vfio_user_malformed(vfu, "wrong size");
	info.argsz = DEVICE_INFO_SIZE;
	info.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI;
	info.num_regions = vfu->config.num_regions;
	info.num_irqs = vfu->config.num_irqs;
	return vfio_user_send_reply(vfu, &info, DEVICE_INFO_SIZE, 0);
}

static int vfio_user_do_region_info(struct vagx_vfu *vfu, size_t len)
{
	const struct vagx_vfu_region *region;
	struct vfio_region_info info;

	if (len < sizeof(info))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&info, vfu->body, sizeof(info));
	if (info.index >= vfu->config.num_regions)
		return vfio_user_refuse(vfu, EINVAL, "no such region");

	region = &vfu->config.regions[info.index];
	info.argsz = sizeof(info);
	info.flags = (region->readable ? VFIO_REGION_INFO_FLAG_READ : 0) |
		     (region->writable ? VFIO_REGION_INFO_FLAG_WRITE : 0);
	info.cap_offset = 0;
	info.size = region->size;
	info.offset = 0;
	return vfio_user_send_reply(vfu, &info, sizeof(info), 0);
}

static int vfio_user_do_irq_info(struct vagx_vfu *vfu, size_t len)
{
	const struct vagx_vfu_irq *irq;
	struct vfio_irq_info info;

	if (len < sizeof(info))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&info, vfu->body, sizeof(info));
	if (info.index >= vfu->config.num_irqs)
		return vfio_user_refuse(vfu, EINVAL, "no such interrupt");

	irq = &vfu->config.irqs[info.index];
	info.argsz = sizeof(info);
	info.flags = irq->eventfd ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE : 0;
	info.count = irq->count;
	return vfio_user_send_reply(vfu, &info, sizeof(info), 0);
}

static int vfio_user_set_targets(struct vagx_vfu *vfu, const struct vfio_irq_set *set)
{
	for (uint32_t i = 0; i < set->count; i++) {
		int fd = -1;
		int ret;

		if (vfu->num_fds) {
			fd = vfu->fds[i];
			vfu->fds[i] = -1;
		}
		ret = vfu->config.ops->set_irq(vfu->config.ctx, set->index,
					       set->start + i, fd);
		if (ret)
			return ret;
	}
	return 0;
}

static int vfio_user_trigger(struct vagx_vfu *vfu, const struct vfio_irq_set *set,
			     const uint8_t *wanted)
{
	for (uint32_t i = 0; i < set->count; i++) {
		int ret;

		if (wanted && !wanted[i])
			continue;
		ret = vfu->config.ops->trigger_irq(vfu->config.ctx, set->index,
						   set->start + i);
		if (ret)
			return ret;
	}
	return 0;
}

static int vfio_user_disable_irqs(struct vagx_vfu *vfu, const struct vfio_irq_set *set)
{
	uint32_t count = vfu->config.irqs[set->index].count;

	for (uint32_t i = 0; i < count; i++) {
		int ret = vfu->config.ops->set_irq(vfu->config.ctx, set->index,
						   i, -1);

		if (ret)
			return ret;
	}
	return 0;
}

static int vfio_user_do_set_irqs(struct vagx_vfu *vfu, size_t len)
{
	struct vfio_irq_set set;
	size_t extra = len - sizeof(set);
	uint32_t count;

	if (len < sizeof(set))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&set, vfu->body, sizeof(set));
	if (set.index >= vfu->config.num_irqs)
		return vfio_user_refuse(vfu, EINVAL, "no such interrupt");
	count = vfu->config.irqs[set.index].count;
	if (set.start > count || set.count > count - set.start)
		return vfio_user_refuse(vfu, EINVAL, "no such vectors");
	if (!(set.flags & VFIO_IRQ_SET_ACTION_TRIGGER))
		return vfio_user_refuse(vfu, EINVAL, "neither masks nor unmasks");

	switch (set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_EVENTFD:
		if (vfu->num_fds && vfu->num_fds != set.count)
			return vfio_user_malformed(vfu, "descriptors do not match the vectors");
		return vfio_user_finish(vfu, vfio_user_set_targets(vfu, &set), NULL, 0);
	case VFIO_IRQ_SET_DATA_BOOL:
		if (extra < set.count)
			return vfio_user_malformed(vfu, "fewer values than vectors");
		return vfio_user_finish(vfu, vfio_user_trigger(vfu, &set, vfu->body + sizeof(set)),
					NULL, 0);
	case VFIO_IRQ_SET_DATA_NONE:
		if (!set.count)
			return vfio_user_finish(vfu, vfio_user_disable_irqs(vfu, &set), NULL, 0);
		return vfio_user_finish(vfu, vfio_user_trigger(vfu, &set, NULL), NULL, 0);
	}
	return vfio_user_refuse(vfu, EINVAL, "unknown data type");
}

/* Return: NULL, or what is wrong with the access */
static const char *vfio_user_check_access(const struct vagx_vfu *vfu,
					  const struct region_access *access, bool write)
{
	const struct vagx_vfu_region *region;

	if (access->region >= vfu->config.num_regions)
		return "no such region";
	region = &vfu->config.regions[access->region];
	if (access->offset > region->size ||
	    access->count > region->size - access->offset)
		return "outside the region";
	if (write ? !region->writable : !region->readable)
		return "no access to this region";
	return NULL;
}

static int vfio_user_do_region_read(struct vagx_vfu *vfu, size_t len)
{
	struct region_access access;
	const char *wrong;
	int ret;

	if (len != sizeof(access))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&access, vfu->body, sizeof(access));
	if (access.count > VAGX_VFU_MAX_DATA)
		return vfio_user_malformed(vfu, "more data than was agreed");
	wrong = vfio_user_check_access(vfu, &access, false);
	if (wrong)
		return vfio_user_refuse(vfu, EINVAL, wrong);

	vfu->stats.reads++;
	memcpy(vfu->reply, &access, sizeof(access));
	memset(vfu->reply + sizeof(access), 0, access.count);
	ret = vfu->config.ops->region_read(vfu->config.ctx, access.region,
					   access.offset,
					   vfu->reply + sizeof(access),
					   access.count);
	return vfio_user_finish(vfu, ret, vfu->reply, sizeof(access) + access.count);
}

static int vfio_user_do_region_write(struct vagx_vfu *vfu, size_t len)
{
	struct region_access access;
	const char *wrong;
	int ret;

	if (len < sizeof(access))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&access, vfu->body, sizeof(access));
	if (access.count != len - sizeof(access))
		return vfio_user_malformed(vfu, "count and data differ");
	wrong = vfio_user_check_access(vfu, &access, true);
	if (wrong)
		return vfio_user_refuse(vfu, EINVAL, wrong);

	vfu->stats.writes++;
	if (vfu->header.flags & FLAG_NO_REPLY)
		vfu->stats.posted++;
	ret = vfu->config.ops->region_write(vfu->config.ctx, access.region,
					    access.offset,
					    vfu->body + sizeof(access),
					    access.count);
	return vfio_user_finish(vfu, ret, &access, sizeof(access));
}

static int vfio_user_do_write_multi(struct vagx_vfu *vfu, size_t len)
{
	struct write_one one;
	uint64_t count;

	if (len < sizeof(count))
		return vfio_user_malformed(vfu, "wrong size");
	memcpy(&count, vfu->body, sizeof(count));
	if (count > MULTI_MAX || len != sizeof(count) + count * sizeof(one))
		return vfio_user_malformed(vfu, "count and data differ");

	vfu->stats.batches++;
	for (uint64_t i = 0; i < count; i++) {
		const char *wrong;
		int ret;

		memcpy(&one, vfu->body + sizeof(count) + i * sizeof(one),
		       sizeof(one));
		if (one.access.count > sizeof(one.data))
			return vfio_user_malformed(vfu, "more than 8 bytes in one write");
		wrong = vfio_user_check_access(vfu, &one.access, true);
		if (wrong)
			return vfio_user_refuse(vfu, EINVAL, wrong);
		vfu->stats.writes++;
		ret = vfu->config.ops->region_write(vfu->config.ctx,
						    one.access.region,
						    one.access.offset,
						    one.data,
						    one.access.count);
		if (ret)
			return vfio_user_refuse(vfu, -ret, "the device says");
	}
	return vfio_user_send_reply(vfu, &count, sizeof(count), 0);
}

static int vfio_user_dispatch(struct vagx_vfu *vfu)
{
	size_t len = vfu->header.size - sizeof(vfu->header);

	if (!vfu->negotiated && vfu->header.command != CMD_VERSION)
		return vfio_user_malformed(vfu, "before the version was agreed");
	if (vfu->num_fds && vfu->header.command != CMD_DMA_MAP &&
	    vfu->header.command != CMD_DEVICE_SET_IRQS)
		return vfio_user_malformed(vfu, "descriptors where none belong");

	switch (vfu->header.command) {
	case CMD_VERSION:
		return vfio_user_do_version(vfu, len);
	case CMD_DMA_MAP:
		return vfio_user_do_dma_map(vfu, len);
	case CMD_DMA_UNMAP:
		return vfio_user_do_dma_unmap(vfu, len);
	case CMD_DEVICE_GET_INFO:
		return vfio_user_do_device_info(vfu, len);
	case CMD_DEVICE_GET_REGION_INFO:
		return vfio_user_do_region_info(vfu, len);
	case CMD_DEVICE_GET_IRQ_INFO:
		return vfio_user_do_irq_info(vfu, len);
	case CMD_DEVICE_SET_IRQS:
		return vfio_user_do_set_irqs(vfu, len);
	case CMD_REGION_READ:
		return vfio_user_do_region_read(vfu, len);
	case CMD_REGION_WRITE:
		return vfio_user_do_region_write(vfu, len);
	case CMD_REGION_WRITE_MULTI:
		return vfio_user_do_write_multi(vfu, len);
	case CMD_DEVICE_RESET:
		return vfio_user_finish(vfu, vfu->config.ops->reset(vfu->config.ctx),
					NULL, 0);
	}
	return vfio_user_refuse(vfu, ENOTSUP, "not implemented");
}

static int vfio_user_check_header(struct vagx_vfu *vfu)
{
	const struct header *header = &vfu->header;

	if (header->size < sizeof(*header) ||
	    header->size - sizeof(*header) > MAX_BODY)
		return vfio_user_malformed(vfu, "impossible size");
	if (header->flags & ~FLAGS_KNOWN)
		return vfio_user_malformed(vfu, "unknown flags");
	if ((header->flags & FLAG_TYPE_MASK) != FLAG_TYPE_COMMAND)
		return vfio_user_malformed(vfu, "not a command");
	if (header->flags & FLAG_ERROR)
		return vfio_user_malformed(vfu, "a command with an error");
	return 0;
}

/* Return: 0, or -EPROTO when they are more than a message may have */
static int vfio_user_take_fds(struct vagx_vfu *vfu, struct msghdr *msg)
{
	bool too_many = msg->msg_flags & MSG_CTRUNC;
	struct cmsghdr *cmsg;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		const uint8_t *data = CMSG_DATA(cmsg);

		if (cmsg->cmsg_level != SOL_SOCKET ||
		    cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, data + i * sizeof(fd), sizeof(fd));
			if (vfu->num_fds < VAGX_VFU_MAX_FDS) {
				vfu->fds[vfu->num_fds++] = fd;
			} else {
				close(fd);
				too_many = true;
			}
		}
	}
	return too_many ? vfio_user_malformed(vfu, "too many descriptors") : 0;
}

/*
 * Receive up to @len bytes, and no byte of what follows: a message's
 * descriptors arrive with its bytes.
 *
 * Return: number of bytes, 0 at the end, or a negative errno.
 */
static ssize_t vfio_user_receive(struct vagx_vfu *vfu, void *buf, size_t len)
{
	union {
		char data[CMSG_SPACE(sizeof(int) * VAGX_VFU_MAX_FDS)];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.data,
		.msg_controllen = sizeof(control.data),
	};
	ssize_t got;
	int ret;

	do {
		got = recvmsg(vfu->fd, &msg, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	ret = vfio_user_take_fds(vfu, &msg);
	return ret ? ret : got;
}

/* Return: 1 when a message is complete, 0 at the end, or a negative errno */
static int vfio_user_receive_message(struct vagx_vfu *vfu)
{
	const size_t header_size = sizeof(vfu->header);

	while (vfu->have < header_size || vfu->have < vfu->header.size) {
		uint8_t *to = (uint8_t *)&vfu->header + vfu->have;
		size_t want = header_size - vfu->have;
		ssize_t got;
		int ret;

		if (vfu->have >= header_size) {
			to = vfu->body + vfu->have - header_size;
			want = vfu->header.size - vfu->have;
		}
		got = vfio_user_receive(vfu, to, want);
		if (got <= 0 && vfu->have && got != -EAGAIN)
			vagx_log(vfu->config.report, VAGX_LOG_ERROR,
				 "vfio-user: the connection ended inside a message");
		if (!got)
			return vfu->have ? -EPROTO : 0;
		if (got < 0)
			return got;
		vfu->have += got;
		if (vfu->have != header_size)
			continue;
		ret = vfio_user_check_header(vfu);
		if (ret)
			return ret;
	}
	return 1;
}

/*
 * A client that never stops sending must not keep the other events of the
 * thread waiting.
 */
#define MESSAGES_AT_ONCE 64

int vagx_vfu_process(struct vagx_vfu *vfu)
{
	for (unsigned int i = 0; i < MESSAGES_AT_ONCE; i++) {
		int ret = vfio_user_receive_message(vfu);

		if (ret == -EAGAIN)
			return 1;
		if (ret <= 0)
			return ret;
		if (vagx_log_enabled(vfu->config.report, VAGX_LOG_TRACE))
			vagx_log(vfu->config.report, VAGX_LOG_TRACE,
				 "vfio-user: %s, %u bytes, %u descriptors",
				 vfio_user_command_name(vfu->header.command),
				 vfu->header.size, vfu->num_fds);
		ret = vfio_user_dispatch(vfu);
		vfio_user_drop_fds(vfu);
		vfu->have = 0;
		if (ret)
			return ret;
	}
	return 1;
}
