// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * CPU mappings of buffer objects.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/huge_mm.h>
#include <linux/mm.h>

#include <drm/drm_gem.h>
#include <drm/drm_vma_manager.h>

#include "asahi_gem.h"
#include "asahi_gem_priv.h"

/**
 * DOC: CPU mappings
 *
 * Mapping an object takes no memory. The first access to a page of it gets memory for all
 * of it, and each first access to a page maps that one, or 32 MiB where the object has
 * them in one piece. An object that loses its memory loses these mappings; the next
 * access begins again.
 *
 * An access to an object whose reservation nobody holds and that has memory is served at
 * once. Otherwise it waits without mmap_lock, for others need that too, and is repeated.
 * When it is repeated already it waits with the lock held.
 *
 * New memory is zeroed through the CPU's caches, and what was swapped out comes back
 * through them. A write-combined mapping sees what is behind them: whatever was there
 * before, until the zeroes arrive, which then overwrite what has been written meanwhile.
 * It is the DMA mapping that writes the caches back, so it comes first. For a device that
 * is coherent it does not; there all mappings are cached, which loses nothing. Nor is
 * there one for memory that an object gets after its device is gone: that is mapped
 * cached, whatever was asked for.
 *
 * A page of a mapping is writable from the first access on. With pfn_mkwrite the
 * kernel would make it read-only until the first write, and KVM, which maps such
 * memory into a guest, fails with EFAULT on a page like that. So nothing notes which
 * pages are written: all pages count as dirty when they are let go.
 */

/* A mapping that was cut begins anywhere in its object. */
static pgoff_t asahi_gem_fault_page(const struct vm_fault *vmf, struct drm_gem_object *obj)
{
	return vmf->pgoff - drm_vma_node_start(&obj->vma_node);
}

static vm_fault_t asahi_gem_insert_page(struct vm_fault *vmf, struct asahi_gem *gem,
					struct page *page)
{
	struct vm_area_struct *vma = vmf->vma;
	pgprot_t prot = vma->vm_page_prot;

	if (!gem->clean)
		prot = vm_get_page_prot(vma->vm_flags);

	return vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(page), prot);
}

/* All that one entry of the level above the last maps, where memory and addresses fit. */
static vm_fault_t asahi_gem_insert_huge(struct vm_fault *vmf, struct asahi_gem *gem,
					struct page *page)
{
#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
	struct vm_area_struct *vma = vmf->vma;
	unsigned long start = ALIGN_DOWN(vmf->address, PMD_SIZE);
	unsigned long before = (vmf->address - start) >> PAGE_SHIFT;
	unsigned long pfn = page_to_pfn(page);

	if (start >= vma->vm_start && vma->vm_end - start >= PMD_SIZE && gem->clean &&
	    folio_test_pmd_mappable(page_folio(page)) && pfn % HPAGE_PMD_NR == before)
		return vmf_insert_pfn_pmd(vmf, pfn - before, vmf->flags & FAULT_FLAG_WRITE);
#endif
	return VM_FAULT_FALLBACK;
}

static vm_fault_t asahi_gem_insert(struct vm_fault *vmf, struct asahi_gem *gem,
				   unsigned int order)
{
	struct page *page;

	dma_resv_assert_held(gem->base.resv);

	page = gem->pages[asahi_gem_fault_page(vmf, &gem->base)];
	return order ? asahi_gem_insert_huge(vmf, gem, page) :
		       asahi_gem_insert_page(vmf, gem, page);
}

/* Only if nothing has to be waited for, VM_FAULT_RETRY otherwise. */
static vm_fault_t asahi_gem_fault_now(struct vm_fault *vmf, struct asahi_gem *gem,
				      unsigned int order)
{
	vm_fault_t fault = VM_FAULT_RETRY;

	if (!dma_resv_trylock(gem->base.resv))
		return VM_FAULT_RETRY;

	if (gem->pages)
		fault = asahi_gem_insert(vmf, gem, order);
	dma_resv_unlock(gem->base.resv);
	return fault;
}

/* Whatever comes of it, the access is repeated, and finds out. */
static vm_fault_t asahi_gem_fault_unlocked(struct vm_fault *vmf, struct asahi_gem *gem)
{
	if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
		return VM_FAULT_RETRY;

	/* The mapping has a reference, and may go with the lock. */
	drm_gem_object_get(&gem->base);
	release_fault_lock(vmf);

	if (!dma_resv_lock_interruptible(gem->base.resv, NULL)) {
		asahi_gem_populate(gem);
		dma_resv_unlock(gem->base.resv);
	}

	drm_gem_object_put(&gem->base);
	return VM_FAULT_RETRY;
}

/*
 * Not interruptible: the kernel's own accesses would be repeated for ever. So would one
 * without memory, for the kernel makes nobody let go of any for it.
 */
static vm_fault_t asahi_gem_fault_locked(struct vm_fault *vmf, struct asahi_gem *gem,
					 unsigned int order)
{
	vm_fault_t fault;
	int ret;

	dma_resv_lock(gem->base.resv, NULL);
	ret = asahi_gem_populate(gem);
	fault = ret ? VM_FAULT_SIGBUS : asahi_gem_insert(vmf, gem, order);
	dma_resv_unlock(gem->base.resv);
	return fault;
}

static vm_fault_t asahi_gem_any_fault(struct vm_fault *vmf, unsigned int order)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct asahi_gem *gem = to_asahi_gem(obj);
	vm_fault_t fault;

	if (order && order != PMD_ORDER)
		return VM_FAULT_FALLBACK;

	if (asahi_gem_fault_page(vmf, obj) >= obj->size >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;

	fault = asahi_gem_fault_now(vmf, gem, order);
	if (fault != VM_FAULT_RETRY)
		return fault;

	if (fault_flag_allow_retry_first(vmf->flags))
		return asahi_gem_fault_unlocked(vmf, gem);

	return asahi_gem_fault_locked(vmf, gem, order);
}

static vm_fault_t asahi_gem_fault(struct vm_fault *vmf)
{
	return asahi_gem_any_fault(vmf, 0);
}

#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
static vm_fault_t asahi_gem_huge_fault(struct vm_fault *vmf, unsigned int order)
{
	return asahi_gem_any_fault(vmf, order);
}
#endif

/* Without pfn_mkwrite: see "CPU mappings". */
const struct vm_operations_struct asahi_gem_vm_ops = {
	.fault = asahi_gem_fault,
#ifdef CONFIG_ARCH_SUPPORTS_PMD_PFNMAP
	.huge_fault = asahi_gem_huge_fault,
#endif
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

/* The exporter's affair; its mapping has no reference to the object. */
static int asahi_gem_mmap_imported(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	int ret;

	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	ret = dma_buf_mmap(obj->import_attach->dmabuf, vma, 0);
	if (!ret)
		drm_gem_object_put(obj);

	return ret;
}

/**
 * asahi_gem_mmap() - &drm_gem_object_funcs.mmap
 * @obj: object, of which the mapping has a reference
 * @vma: the mapping; its offset is that of @obj in the device's file
 *
 * Takes no memory for the object. Process context, with mmap_lock held.
 *
 * Return: 0; -EINVAL for private mappings; an exporter's error.
 */
int asahi_gem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	if (drm_gem_is_imported(obj))
		return asahi_gem_mmap_imported(obj, vma);

	if (vma_is_cow_mapping(vma))
		return -EINVAL;

	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = vma_get_page_prot(vma);
	if (to_asahi_gem(obj)->map_wc)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);

	return 0;
}
