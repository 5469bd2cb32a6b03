// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * State of draws: unpacks what vertex work has stored in the scene, and loads what it leads to in
 * the client's memory: scissors, depth bias, bindings. Draws that differ in nothing but their
 * shaders share a state, which is found by what was stored: applications draw many times with
 * the same state, and Mesa gives each draw USC words of its own. The first core that needs a
 * state unpacks it without the job's lock, and others that need it wait.
 */
#include <stdlib.h>
#include <string.h>

#include "gpu/fragment.h"

/* Four chains of multiplications, which a processor computes side by side */
static uint64_t fragment_state_hash(const struct scene_draw *key)
{
	const uint64_t odd = 0x9e3779b97f4a7c15ULL;
	const uint8_t *bytes = (const uint8_t *)key;
	uint64_t chain[4] = { 1, 2, 3, 4 }, word;
	size_t i, left = sizeof(*key) % sizeof(word);

	for (i = 0; i + sizeof(word) <= sizeof(*key); i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		chain[i / sizeof(word) % 4] = (chain[i / sizeof(word) % 4] ^ word) * odd;
	}
	word = 0;
	memcpy(&word, bytes + sizeof(*key) - left, left);
	word ^= chain[0] ^ chain[1] >> 7 ^ chain[2] >> 13 ^ chain[3] >> 19;
	return word * odd >> 20;
}

static int fragment_state_load_bindings(struct fragment_worker *w, struct fragment_state *state)
{
	const struct agx_ppp_fragment_shader *fs = &state->ppp.fragment_shader;
	uint64_t va = w->job->registers->shaders.usc_base + fs->cf_bindings;
	uint8_t bytes[4 + 4 * FRAGMENT_MAX_BINDINGS];
	struct agx_cf_header header;
	unsigned int i;
	int err;

	state->num_bindings = fs->cf_binding_count;
	if (!state->num_bindings)
		return 0;
	err = fragment_read_client(w, va, bytes, 4 + 4 * state->num_bindings,
					VAGX_GPU_UNIT_ISP);
	if (err)
		return err;
	agx_packet_unpack(AGX_PACKET_cf_header, bytes, &header, NULL);
	state->num_planes = header.coefficients;
	for (i = 0; i < state->num_bindings; i++) {
		struct agx_cf_binding *b = &state->bindings[i];

		agx_packet_unpack(AGX_PACKET_cf_binding, bytes + 4 + 4 * i, b, NULL);
		if (b->coefficient + b->components > state->num_planes)
			return fragment_unsupported(w, va + 4 + 4 * i, "CF Binding",
							 "behind the last one");
		if (b->source > AGX_CF_SOURCE_PRIMITIVE_ID)
			return fragment_unsupported(w, va + 4 + 4 * i, "CF Binding", "source");
	}
	return 0;
}

/* Loads the scissor of each viewport; without a scissor test it is the whole image */
static int fragment_state_load_scissors(struct fragment_worker *w, struct fragment_state *state)
{
	const struct ppp_state *s = &state->ppp;
	const struct vagx_render_geometry *g = &w->job->registers->geometry;
	bool enabled = s->fragment_control.scissor_enable || s->fragment_control_2.scissor_enable;
	uint64_t va = w->job->registers->scissor_base + 16ULL * s->depth_bias_scissor.scissor;
	unsigned int i, count = s->output_select.viewport ? PPP_VIEWPORTS : 1;
	uint8_t bytes[16];
	int err;

	for (i = 0; i < PPP_VIEWPORTS; i++) {
		state->scissor[i] = (struct agx_scissor){
			.max_x = g->width,
			.max_y = g->height,
			.max_z = 1,
		};
		if (!enabled || i >= count)
			continue;
		err = fragment_read_client(w, va + 16 * i, bytes, sizeof(bytes),
						VAGX_GPU_UNIT_ISP);
		if (err && i)
			break;
		if (err)
			return err;
		agx_packet_unpack(AGX_PACKET_scissor, bytes, &state->scissor[i], NULL);
	}
	return 0;
}

static int fragment_state_load_bias(struct fragment_worker *w, struct fragment_state *state)
{
	const struct ppp_state *s = &state->ppp;
	uint8_t bytes[12];
	int err;

	if (!s->fragment_control.depth_bias_enable && !s->fragment_control_2.depth_bias_enable)
		return 0;
	err = fragment_read_client(
		w, w->job->registers->depth_bias_base + 12ULL * s->depth_bias_scissor.depth_bias,
		bytes, sizeof(bytes), VAGX_GPU_UNIT_ISP);
	if (!err)
		agx_packet_unpack(AGX_PACKET_depth_bias, bytes, &state->bias, NULL);
	return err;
}

static int fragment_state_load(struct fragment_worker *w, struct fragment_state *state, uint64_t va)
{
	const struct ppp_state *s = &state->ppp;
	int err;

	state->uvs_words = state->key.uvs_words;
	if (state->uvs_words > VAGX_MAX_UVS_WORDS)
		state->uvs_words = VAGX_MAX_UVS_WORDS;
	ppp_unpack(&state->ppp, &state->key.ppp);
	state->face[false] = zs_unpack_face(s, false);
	state->face[true] = zs_unpack_face(s, true);
	if (s->fragment_control.sample_mask_after_zs || s->fragment_control_2.sample_mask_after_zs)
		return fragment_unsupported(w, va, "PPP Fragment control",
					    "sample mask after depth");
	state->shades = !s->fragment_control.tag_write_disable &&
			!s->fragment_control_2.tag_write_disable && s->fragment_shader.pipeline;
	err = fragment_state_load_scissors(w, state);
	if (!err)
		err = fragment_state_load_bias(w, state);
	return err || !state->shades ? err : fragment_state_load_bindings(w, state);
}

static struct fragment_state *fragment_state_find(struct fragment_job *f, uint64_t hash,
						  const struct scene_draw *key)
{
	struct fragment_entry *e = f->draws.state[hash % FRAGMENT_STATE_BUCKETS];

	while (e) {
		struct fragment_state *state = (struct fragment_state *)e;

		if (e->hash == hash && !memcmp(&state->key, key, sizeof(*key)))
			return state;
		e = e->next;
	}
	return NULL;
}

struct fragment_state *fragment_get_state(struct fragment_worker *w, uint64_t va,
					  const struct scene_draw *stored,
					  struct fragment_state *last)
{
	struct fragment_job *f = w->job;
	struct fragment_state *state = last;
	uint64_t hash;
	int err;

	if (!last || memcmp(&last->key, stored, sizeof(*stored))) {
		hash = fragment_state_hash(stored);
		state = fragment_state_find(f, hash, stored);
	}
	if (state) {
		fragment_entry_use(f, &state->entry);
		return state;
	}
	state = calloc(1, sizeof(*state));
	if (!state)
		return NULL;
	state->key = *stored;
	fragment_entry_add(&f->draws.state[hash % FRAGMENT_STATE_BUCKETS], &state->entry, hash);
	pthread_mutex_unlock(&f->lock);
	err = fragment_state_load(w, state, va);
	fragment_entry_loaded(w, &state->entry, err);
	return state;
}

void fragment_put_state(struct fragment_job *f, struct fragment_state *state)
{
	if (--state->entry.users)
		return;
	fragment_entry_remove(&f->draws.state[state->entry.hash % FRAGMENT_STATE_BUCKETS],
			      &state->entry);
	free(state);
}
