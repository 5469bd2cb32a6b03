/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Lists of buffer objects that may lose their memory.
 *
 * Copyright (C) 2026 The asahi driver authors
 */
#ifndef ASAHI_LRU_H
#define ASAHI_LRU_H

struct asahi_device;
struct asahi_gem;
struct asahi_vm;
struct drm_gem_object;

int asahi_lru_module_init(void);
void asahi_lru_module_exit(void);

int asahi_lru_init(struct asahi_device *adev);
void asahi_lru_fini(struct asahi_device *adev);

struct asahi_vm *asahi_lru_alloc_vm(struct asahi_device *adev);
void asahi_lru_free_vm(struct asahi_vm *vm);
void asahi_lru_init_vm(struct asahi_vm *vm);
void asahi_lru_fini_vm(struct asahi_vm *vm);

struct asahi_gem *asahi_lru_alloc_gem(struct asahi_device *adev);
void asahi_lru_free_gem(struct asahi_gem *gem);
void asahi_lru_remove(struct asahi_gem *gem);
void asahi_lru_place_listed(struct asahi_gem *gem);
void asahi_lru_place_locked(struct asahi_gem *gem);
void asahi_lru_place(struct drm_gem_object *obj);

#endif
