// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The SoC whose GPU vagx is, from the environment, and the parameters that clients are told.
 */
#include <stdlib.h>
#include <string.h>

#include <agx/agx_regs.h>

#include "asahi_shim.h"
#include "shim.h"
#include "vagx_soc.h"

static char vagx_soc_variant(const struct vagx_gpu_id *id)
{
	switch (id->variant) {
	case AGX_ID_VARIANT_G:
		return 'G';
	case AGX_ID_VARIANT_S:
		return 'S';
	default:
		return id->clusters > 4 ? 'D' : 'C';
	}
}

static void vagx_soc_fill(struct drm_asahi_params_global *params, const struct vagx_soc *soc)
{
	const struct vagx_gpu_id *id = &soc->id;
	unsigned int i;

	params->gpu_generation = id->generation == AGX_ID_GENERATION_G13 ? 13 : 14;
	params->gpu_variant = vagx_soc_variant(id);
	params->gpu_revision = id->revision;
	params->chip_id = soc->chip_id;
	params->num_dies = id->dies;
	params->num_clusters_total = id->clusters;
	params->num_cores_per_cluster = id->cores;
	for (i = 0; i < id->clusters; i++)
		params->core_masks[i] = (1u << id->cores) - 1;
}

const struct vagx_soc *shim_vagx_soc(void)
{
	const char *name = getenv("ASAHI_SHIM_SOC");
	const struct vagx_soc *soc;
	unsigned int i;

	soc = vagx_soc_find(name && *name ? name : "t8103");
	if (soc) {
		vagx_soc_fill(asahi_shim_params(), soc);
		return soc;
	}
	fprintf(stderr, "asahi_shim: ASAHI_SHIM_SOC=%s: there are", name);
	for (i = 0; vagx_soc_at(i); i++)
		fprintf(stderr, " %s", vagx_soc_at(i)->name);
	fputc('\n', stderr);
	return NULL;
}
