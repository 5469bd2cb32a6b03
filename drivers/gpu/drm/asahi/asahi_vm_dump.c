// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * GPU address spaces: looking into them, for core dumps and fdinfo.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <kunit/visibility.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_print.h>

#include <agx/agx_uat.h>

#include "asahi_aspace.h"
#include "asahi_device.h"
#include "asahi_drv.h"
#include "asahi_gem.h"
#include "asahi_heap.h"
#include "asahi_pgtable.h"
#include "asahi_vm.h"
#include "asahi_vm_dump.h"
#include "asahi_vm_priv.h"

static void asahi_vm_print_mapping(const struct asahi_vm *vm, const struct drm_gpuva *va,
				   struct drm_printer *p)
{
	const struct asahi_vma *vma = container_of(va, struct asahi_vma, base);

	drm_printf(p, "  %#011llx..%#011llx ", va->va.addr, va->va.addr + va->va.range);
	if (va == &vm->base.kernel_alloc_node) {
		drm_puts(p, "kernel\n");
		return;
	}

	drm_printf(p, "%c%c offset %#llx%s size %#zx%s%s\n",
		   vma->prot != ASAHI_PROT_GPU_SHARED_WO ? 'r' : '-',
		   vma->prot != ASAHI_PROT_GPU_SHARED_RO ? 'w' : '-',
		   va->gem.offset, vma->single ? " repeated" : "", va->gem.obj->size,
		   drm_gem_is_imported(va->gem.obj) ? " imported" : "",
		   READ_ONCE(va->vm_bo->evicted) ? " evicted" : "");
}

/**
 * asahi_vm_print() - print the mappings of an address space
 * @vm: address space
 * @p: where to; must not allocate
 *
 * Process context.
 */
void asahi_vm_print(struct asahi_vm *vm, struct drm_printer *p)
{
	struct drm_gpuva *va;

	guard(mutex)(&vm->lock);

	drm_gpuvm_for_each_va(va, &vm->base)
		asahi_vm_print_mapping(vm, va, p);
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_print);

static const char *asahi_vm_entry_kind(unsigned int level, u64 entry)
{
	if ((entry & AGX_PTE_TYPE_MASK) == AGX_PTE_TYPE)
		return "";

	return level == 2 && (entry & AGX_PTE_TYPE_MASK) == AGX_PTE_BLOCK ? " block" : " invalid";
}

/**
 * asahi_vm_print_walk() - print how the GPU's MMU translates an address
 * @vm: address space
 * @addr: address
 * @p: where to; must not allocate
 *
 * One line for each level down to the first entry that leads to no table. Process
 * context.
 */
void asahi_vm_print_walk(struct asahi_vm *vm, u64 addr, struct drm_printer *p)
{
	struct asahi_pt_walk walk;

	if (addr >> AGX_UAT_IAS) {
		drm_puts(p, "  not in the address space\n");
		return;
	}

	scoped_guard(mutex, &vm->as.lock)
		asahi_pgtable_walk(&vm->as.pgt, addr, &walk);

	for (unsigned int i = 0; i < walk.levels; i++)
		drm_printf(p, "  level %u index %u: %#018llx%s\n", i + 1, walk.index[i],
			   walk.entry[i], asahi_vm_entry_kind(i + 1, walk.entry[i]));
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_print_walk);

/* Up to the end of a page. */
static size_t asahi_vm_read_page(struct asahi_vm *vm, u64 addr, void *buf, size_t len)
{
	struct drm_gpuva *va = drm_gpuva_find_first(&vm->base, addr, 1);
	u64 offset;

	lockdep_assert_held(&vm->lock);

	if (!va || va == &vm->base.kernel_alloc_node)
		return 0;

	offset = addr - va->va.addr;
	if (to_asahi_vma(va)->single)
		offset &= AGX_PAGE_MASK;

	return asahi_gem_read(va->gem.obj, va->gem.offset + offset, buf, len);
}

/**
 * asahi_vm_read() - read memory as the GPU sees it
 * @vm: address space
 * @addr: first byte; any number
 * @buf: where the copy goes
 * @len: bytes
 *
 * Whether the GPU may read there does not matter. What is not an object's memory
 * is not read, nor is that of imported objects. GPU and clients may be writing
 * it. Process context; allocates.
 *
 * Return: bytes up to the first that could not be read.
 */
size_t asahi_vm_read(struct asahi_vm *vm, u64 addr, void *buf, size_t len)
{
	size_t done = 0, part;

	guard(mutex)(&vm->lock);

	while (done < len) {
		part = asahi_vm_read_page(vm, addr + done, buf + done, len - done);
		if (!part)
			break;
		done += part;
	}

	return done;
}
EXPORT_SYMBOL_IF_KUNIT(asahi_vm_read);

/**
 * asahi_vm_memory() - how much the kernel holds for a file's address spaces
 * @afile: file
 * @memory: where the sums go
 *
 * Counts those that only queues and their jobs keep as well. Takes no lock that is held
 * while a client's mappings change. Process context, may sleep.
 */
void asahi_vm_memory(struct asahi_file *afile, struct asahi_vm_memory *memory)
{
	struct asahi_vm_list *list = &afile->adev->vms;
	struct asahi_vm *vm;

	memset(memory, 0, sizeof(*memory));
	guard(mutex)(&list->lock);

	list_for_each_entry(vm, &list->live, link) {
		if (vm->owner != afile->drm_file->client_id)
			continue;
		memory->tables += asahi_aspace_table_bytes(&vm->as);
		memory->heaps += asahi_heap_size(vm->heap_gpu) + asahi_heap_size(vm->heap_priv);
		memory->used += asahi_heap_used(vm->heap_gpu) + asahi_heap_used(vm->heap_priv);
	}
}

static int asahi_vm_show_gpuvas(struct seq_file *m, void *unused)
{
	struct drm_debugfs_entry *entry = m->private;
	struct asahi_vm_list *list = &to_asahi_device(entry->dev)->vms;
	struct asahi_vm *vm;

	guard(mutex)(&list->lock);

	list_for_each_entry(vm, &list->live, link) {
		guard(mutex)(&vm->lock);

		seq_printf(m, "client %llu\n", vm->owner);
		drm_debugfs_gpuva_info(m, &vm->base);
	}

	return 0;
}

static const struct drm_debugfs_info asahi_vm_debugfs[] = {
	DRM_DEBUGFS_GPUVA_INFO(asahi_vm_show_gpuvas, NULL),
};

/**
 * asahi_vm_debugfs_init() - list all address spaces in debugfs
 * @adev: device that is not registered yet
 *
 * The file "gpuvas" of the device lists what is mapped where. Process context,
 * probe only.
 */
void asahi_vm_debugfs_init(struct asahi_device *adev)
{
	drm_debugfs_add_files(&adev->drm, asahi_vm_debugfs, ARRAY_SIZE(asahi_vm_debugfs));
}
