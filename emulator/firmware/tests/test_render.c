// SPDX-License-Identifier: MIT
// Copyright (C) 2026 The asahi driver authors
/*
 * Rendering: what the firmware does with the commands of a render and with
 * vertex buffers, and each of its rules about them, broken once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rig_render.h"

#define WIDTH	200
#define HEIGHT	100

static void change(struct rig_ptr at, enum fw_field_id field)
{
	put(at, field, get(at, field) ^ 0x40);
}

static void draw(struct rig *rig, struct rig_renderer *renderer, unsigned int width,
		 unsigned int height)
{
	struct rig_render render;

	rig_render_new(rig, renderer, &render, width, height);
	rig_render_submit(rig, renderer, &render);
	assert_true(rig_render_wait(rig, renderer, &render));
}

/* What happens when all is right */

static void test_render(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render[3];

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	for (unsigned int i = 0; i < 3; i++) {
		rig_render_new(rig, &renderer, &render[i], WIDTH, HEIGHT);
		rig_render_submit(rig, &renderer, &render[i]);
	}
	assert_true(rig_render_wait(rig, &renderer, &render[2]));
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_not_equal(get(render[i].scene, FW_BufferThing_unk_2c), 0);
		assert_int_equal(get(render[i].scene, FW_BufferThing_unk_0),
				 get(render[i].scene, FW_BufferThing_unk_2c));
		assert_int_equal(get(render[i].fragment.command, FW_RunFragment_tvb_overflow_count),
				 0);
		assert_true(get(render[i].fragment.command, FW_RunFragment_ts1) >=
			    get(render[i].vertex.command, FW_RunVertex_ts1));
	}
	assert_int_equal(get(renderer.buffer.misc, FW_BufferMisc_gpu_0),
			 get(render[2].scene, FW_BufferThing_unk_2c));
	assert_int_equal(get(renderer.buffer.misc, FW_BufferMisc_cpu_flag), 0);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* Two clients render side by side, each with a buffer of its own */
static void test_two(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer[2];
	struct rig_render render[2][4];

	rig_boot(rig);
	for (unsigned int i = 0; i < 2; i++)
		rig_renderer_new(rig, &renderer[i], 10 + 2 * i, 8);
	for (unsigned int n = 0; n < 4; n++) {
		for (unsigned int i = 0; i < 2; i++) {
			rig_render_new(rig, &renderer[i], &render[i][n], WIDTH, HEIGHT);
			rig_render_submit(rig, &renderer[i], &render[i][n]);
		}
	}
	for (unsigned int i = 0; i < 2; i++)
		assert_true(rig_render_wait(rig, &renderer[i], &render[i][3]));
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* The driver names its own place and its client's, which gets nanoseconds */
static void test_timestamps(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render;
	struct rig_ptr ticks, user;
	uint64_t *time;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
	ticks = rig_alloc(rig, RIG_SHARED, 0x20);
	user = rig_alloc(rig, RIG_TIMESTAMP, 0x20);
	for (unsigned int i = 0; i < 2; i++) {
		static const enum fw_field_id at[] = { FW_TimestampPointers_start_addr,
						       FW_TimestampPointers_end_addr };
		struct rig_ptr vertex = render.vertex.command, fragment = render.fragment.command;

		put(sub(vertex, FW_RunVertex_ts_pointers, FW_S_TimestampPointers, 0), at[i],
		    ticks.va + 8 * i);
		put(sub(fragment, FW_RunFragment_ts_pointers, FW_S_TimestampPointers, 0), at[i],
		    ticks.va + 16 + 8 * i);
		put(sub(vertex, FW_RunVertex_user_ts_pointers, FW_S_TimestampPointers, 0), at[i],
		    user.va + 8 * i);
		put(sub(fragment, FW_RunFragment_user_ts_pointers, FW_S_TimestampPointers, 0),
		    at[i], user.va + 16 + 8 * i);
	}
	rig_render_submit(rig, &renderer, &render);
	assert_true(rig_render_wait(rig, &renderer, &render));
	time = (uint64_t *)ticks.host;
	assert_true(time[0] && time[0] <= time[1] && time[1] <= time[2] && time[2] <= time[3]);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(((uint64_t *)user.host)[i],
				 (unsigned __int128)time[i] * 1000000000 /
					 vagx_clock_frequency(rig->clock));
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* The units are told what the two commands say */
static void test_registers_told(void **state)
{
	static const struct rig_options options = { .exec = true };
	struct rig *rig = rig_new_with(&options);
	struct rig_renderer renderer;
	struct rig_render render;
	struct rig_units units;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	rig->units.vertex_pages = 5;
	rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
	rig_render_submit(rig, &renderer, &render);
	assert_true(rig_render_wait(rig, &renderer, &render));
	units = rig_units_of(rig);
	assert_int_equal(units.last_vertex.vdm_base, RIG_VERTEX_BASE);
	assert_int_equal(units.last_vertex.geometry.width, WIDTH);
	assert_int_equal(units.last_vertex.geometry.height, HEIGHT);
	assert_int_equal(units.last_vertex.geometry.utile_height, 32);
	assert_int_equal(units.last_vertex.tvb.tpc, render.tails.va);
	assert_int_equal(units.last_vertex.tvb.heap_meta, render.heapmeta.va);
	assert_int_equal(units.last_vertex.shaders.sampler_count, 3);
	assert_int_equal(units.last_vertex.ppp_control, 0x202);
	assert_int_equal(units.last_fragment.geometry.width, WIDTH);
	assert_int_equal(units.last_fragment.geometry.samples, 1);
	assert_int_equal(units.last_fragment.tvb.tilemap, render.tilemap.va);
	assert_int_equal(units.last_fragment.end_of_tile.usc, 0x4004);
	assert_int_equal(units.last_fragment.isp_bgobjvals, 0x75a);
	assert_int_equal(units.last_fragment.sample_size, 8);
	assert_int_equal(units.final, 1);
	assert_int_equal(get(render.scene, FW_BufferThing_unk_2c), 5);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* The units run out of pages: fragment units draw in between, and give them back */
static void test_partial_units(void **state)
{
	static const struct rig_options options = { .exec = true, .tvb_pages = 3 };
	struct rig *rig = rig_new_with(&options);
	struct rig_renderer renderer;
	struct rig_render render;
	struct rig_units units;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	rig->units.vertex_pages = 10;
	rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
	rig_render_submit(rig, &renderer, &render);
	assert_true(rig_render_wait(rig, &renderer, &render));
	units = rig_units_of(rig);
	assert_int_equal(units.partial, 3);
	assert_int_equal(units.final, 1);
	assert_int_equal(get(render.fragment.command, FW_RunFragment_tvb_overflow_count), 3);
	assert_int_equal(get(render.scene, FW_BufferThing_unk_2c), 10);
	assert_int_equal(get(render.scene, FW_BufferThing_unk_0), 1);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/*
 * Either half faults: the other one's stamp is not pending, and the buffer's
 * pages are there again for the next render.
 */
static void test_fault(void **state)
{
	static const uint64_t bases[] = { RIG_VERTEX_BASE, RIG_FRAGMENT_BASE };
	static const struct rig_options options = { .exec = true, .tvb_pages = 3 };

	for (unsigned int pipe = 0; pipe < 2; pipe++) {
		struct rig *rig = rig_new_with(&options);
		struct rig_renderer renderer;
		struct rig_render render;
		struct rig_ptr event;

		rig_boot(rig);
		rig_renderer_new(rig, &renderer, 10, 8);
		rig->units.vertex_pages = 2;
		rig->units.faults = bases[pipe];
		rig->units.unit = 0xa7 + pipe;
		rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
		rig_render_submit(rig, &renderer, &render);
		do {
			event = rig_wait_event(rig);
		} while (get(event, FW_EventMsg_msg_type) != 0);
		assert_int_equal(rig->fault_unit, 0xa7 + pipe);
		assert_true(rig_is_pending(rig, 10 + pipe, 0x100));
		assert_false(rig_is_pending(rig, 10 + !pipe, 0x100));
		rig->units.faults = 0;
		rig_resume(rig);
		assert_true(rig_render_wait(rig, &renderer, &render));
		rig->units.pages = 0;
		for (unsigned int i = 0; i < 3; i++)
			draw(rig, &renderer, WIDTH, HEIGHT);
		assert_int_equal(rig_findings(rig), 0);
		rig_free(rig);
	}
}

/* With two pages a render of many draws in several passes, and says so */
static void test_partial(void **state)
{
	static const struct rig_options options = { .tvb_pages = 2 };
	struct rig *rig = rig_new_with(&options);
	struct rig_renderer renderer;
	struct rig_render render;
	unsigned int overflows, total, pass;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	rig_render_new(rig, &renderer, &render, 640, 640);
	rig_render_submit(rig, &renderer, &render);
	assert_true(rig_render_wait(rig, &renderer, &render));
	overflows = get(render.fragment.command, FW_RunFragment_tvb_overflow_count);
	total = get(render.scene, FW_BufferThing_unk_2c);
	pass = get(render.scene, FW_BufferThing_unk_0);
	assert_true(overflows > 0);
	assert_true(total > pass && pass <= 2);
	assert_int_equal(total, 2 * overflows + pass);
	assert_int_equal(get(renderer.buffer.misc, FW_BufferMisc_gpu_0), total);
	assert_int_equal(get(renderer.buffer.misc, FW_BufferMisc_gpu_8), overflows);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* More renders than pages: they wait for each other */
static void test_shared_pages(void **state)
{
	static const struct rig_options options = { .tvb_pages = 1 };
	struct rig *rig = rig_new_with(&options);
	struct rig_renderer renderer;
	struct rig_render render[6];

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	for (unsigned int i = 0; i < 6; i++) {
		rig_render_new(rig, &renderer, &render[i], 300, 300);
		rig_render_submit(rig, &renderer, &render[i]);
	}
	assert_true(rig_render_wait(rig, &renderer, &render[5]));
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

static void acknowledge(struct rig *rig, struct rig_ptr event)
{
	struct rig_ptr msg = rig_control(rig, 0x0e);

	put(msg, FW_DcGrowTvbAck_unk_4, 1);
	put(msg, FW_DcGrowTvbAck_bm_id, get(event, FW_EventGrowTvb_bm_id));
	put(msg, FW_DcGrowTvbAck_vm_id, get(event, FW_EventGrowTvb_vm_id));
	put(msg, FW_DcGrowTvbAck_counter, get(event, FW_EventGrowTvb_counter));
	rig_control_send(rig);
}

static struct rig_ptr wait_grow(struct rig *rig)
{
	struct rig_ptr event;

	do {
		event = rig_wait_event(rig);
	} while (get(event, FW_EventMsg_msg_type) != 7);
	return event;
}

/* The driver is asked, and grows the buffer in time: no pass is needed */
static void test_grow(void **state)
{
	static const struct rig_options options = { .tvb_grow = true };
	struct rig *rig = rig_new_with(&options);
	struct rig_renderer renderer;
	struct rig_render render;
	struct rig_ptr event;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 1);
	rig_render_new(rig, &renderer, &render, 640, 640);
	rig_render_submit(rig, &renderer, &render);
	event = wait_grow(rig);
	assert_int_equal(get(event, FW_EventGrowTvb_bm_id), 10);
	assert_int_equal(get(event, FW_EventGrowTvb_vm_id), RIG_CONTEXT);
	rig_buffer_grow(rig, &renderer.buffer, 11, false);
	acknowledge(rig, event);
	assert_true(rig_render_wait(rig, &renderer, &render));
	assert_int_equal(get(render.fragment.command, FW_RunFragment_tvb_overflow_count), 0);
	assert_true(get(render.scene, FW_BufferThing_unk_2c) > 4);
	/* The buffer was too small for that size to begin with */
	assert_int_equal(rig_findings(rig),
			 vagx_report_count(rig->report, VAGX_RULE_FW_BUFFER_SMALL));
	rig_free(rig);
}

/* The driver cannot help: then it is drawn in passes */
static void test_grow_in_vain(void **state)
{
	static const struct rig_options options = { .tvb_grow = true };
	struct rig *rig = rig_new_with(&options);
	struct rig_renderer renderer;
	struct rig_render render;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 1);
	rig_render_new(rig, &renderer, &render, 500, 500);
	rig_render_submit(rig, &renderer, &render);
	acknowledge(rig, wait_grow(rig));
	assert_true(rig_render_wait(rig, &renderer, &render));
	assert_int_equal(get(render.fragment.command, FW_RunFragment_tvb_overflow_count), 1);
	assert_int_equal(vagx_report_count(rig->report, VAGX_RULE_FW_GROW_ACK), 0);
	rig_free(rig);
}

/* What is kept from the firmware on purpose does not come back by growing */
static void test_grow_bounded(void **state)
{
	static const struct rig_options options = { .tvb_grow = true, .tvb_pages = 4 };
	struct rig *rig = rig_new_with(&options);
	struct rig_renderer renderer;
	struct rig_render render;
	struct rig_ptr event;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	rig_render_new(rig, &renderer, &render, 500, 500);
	rig_render_submit(rig, &renderer, &render);
	event = wait_grow(rig);
	rig_buffer_grow(rig, &renderer.buffer, 18, false);
	acknowledge(rig, event);
	assert_true(rig_render_wait(rig, &renderer, &render));
	assert_int_equal(get(render.fragment.command, FW_RunFragment_tvb_overflow_count), 1);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* A request that nobody needs is answered like any other */
static void test_grow_asked(void **state)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_GROW, .word = { RIG_CONTEXT, 10 } };
	struct rig *rig = rig_new();
	struct rig_renderer renderer;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	draw(rig, &renderer, WIDTH, HEIGHT);
	assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
	rig_buffer_grow(rig, &renderer.buffer, 18, true);
	acknowledge(rig, wait_grow(rig));
	assert_true(rig_wait_control(rig));
	draw(rig, &renderer, WIDTH, HEIGHT);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* An InitBuffer was in the ring when the firmware asked, and got more than it tells of */
static void test_grow_before_init(void **state)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_GROW, .word = { RIG_CONTEXT, 10 } };
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	draw(rig, &renderer, WIDTH, HEIGHT);
	assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
	rig_buffer_grow(rig, &renderer.buffer, 18, false);
	acknowledge(rig, wait_grow(rig));
	assert_true(rig_wait_control(rig));

	rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
	render.first = true;
	rig_render_init(rig, &renderer, &render);
	put(render.init, FW_InitBuffer_unk_10, 8);
	rig_render_submit(rig, &renderer, &render);
	assert_true(rig_render_wait(rig, &renderer, &render));
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* A buffer grows while scenes live, and the next render tells the firmware */
static void test_init_again(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render[2];

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	rig_render_new(rig, &renderer, &render[0], WIDTH, HEIGHT);
	rig_render_submit(rig, &renderer, &render[0]);
	rig_buffer_grow(rig, &renderer.buffer, 12, false);
	rig_render_new(rig, &renderer, &render[1], WIDTH, HEIGHT);
	render[1].first = true;
	rig_render_init(rig, &renderer, &render[1]);
	rig_render_submit(rig, &renderer, &render[1]);
	assert_true(rig_render_wait(rig, &renderer, &render[1]));
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* Whoever is on the units is pending, by its own slot; a timeout names it */
static void test_hang(void **state)
{
	static const struct rig_options options = { .timeout_ms = RIG_TIMEOUT_MS };
	static const char *const names[] = { "vertex", "fragment" };

	for (unsigned int pipe = 0; pipe < 2; pipe++) {
		struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_HANG, .pipe = pipe };
		struct rig *rig = rig_new_with(&options);
		struct rig_renderer renderer;
		struct rig_render render;
		struct rig_ptr event;

		print_message("# %s\n", names[pipe]);
		rig_boot(rig);
		assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
		rig_renderer_new(rig, &renderer, 10, 8);
		rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
		rig_render_submit(rig, &renderer, &render);
		do {
			event = rig_wait_event(rig);
		} while (get(event, FW_EventMsg_msg_type) != 4);
		assert_int_equal(get(event, FW_EventTimeout_stamp_index), 10 + pipe);
		assert_true(rig_is_pending(rig, 10 + pipe, 0x100));
		rig_resume(rig);
		assert_true(rig_render_wait(rig, &renderer, &render));
		draw(rig, &renderer, WIDTH, HEIGHT);
		assert_int_equal(rig_findings(rig), 0);
		rig_free(rig);
	}
}

/* A channel error on either half leaves the other half and later renders alone */
static void test_channel_error(void **state)
{
	for (unsigned int pipe = 0; pipe < 2; pipe++) {
		struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_CHANNEL_ERROR,
						  .pipe = pipe,
						  .value = 1 };
		struct rig *rig = rig_new();
		struct rig_renderer renderer;
		struct rig_render render;
		struct rig_ptr event, msg;

		rig_boot(rig);
		assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
		rig_renderer_new(rig, &renderer, 10, 8);
		rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
		rig_render_submit(rig, &renderer, &render);
		do {
			event = rig_wait_event(rig);
		} while (get(event, FW_EventMsg_msg_type) != 8);
		msg = rig_control(rig, 0x0f);
		put(msg, FW_DcRecoverChannel_pipe_type, pipe);
		put(msg, FW_DcRecoverChannel_work_queue,
		    pipe ? renderer.fragment.info.va : renderer.vertex.info.va);
		put(msg, FW_DcRecoverChannel_event_value, 0x100);
		rig_control_send(rig);
		assert_true(rig_render_wait(rig, &renderer, &render));
		draw(rig, &renderer, WIDTH, HEIGHT);
		assert_int_equal(rig_findings(rig), 0);
		rig_free(rig);
	}
}

static void destroy(struct rig *rig, struct rig_queue *queue)
{
	struct rig_ptr msg = rig_control(rig, 0x18);

	put(msg, FW_DcDestroyContext_context_addr, queue->context.va);
	put(msg, FW_DcDestroyContext_ctx_0, 0xff);
	put(msg, FW_DcDestroyContext_ctx_1, 0xff);
	rig_control_send(rig);
	assert_true(rig_wait_control(rig));
}

/* After its context has been destroyed a buffer's memory is the driver's again */
static void test_destroy(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer, next;
	char left[128];

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	draw(rig, &renderer, WIDTH, HEIGHT);
	assert_int_equal(vagx_fw_at_rest(rig->fw, true, left, sizeof(left)), 2);
	assert_string_equal(left, "2 queues are known; vertex buffer 10 is known");
	destroy(rig, &renderer.vertex);
	destroy(rig, &renderer.fragment);
	assert_int_equal(vagx_fw_at_rest(rig->fw, true, left, sizeof(left)), 0);
	memset(renderer.buffer.info.host, 0, 0x80);
	rig_renderer_new(rig, &next, 10, 8);
	draw(rig, &next, WIDTH, HEIGHT);
	assert_int_equal(rig_findings(rig), 0);
	rig_free(rig);
}

/* All that the driver has written can be read, by its names */
static void test_dump(void **state)
{
	static const char *const lines[] = {
		"\nvertex:RunMsg.new_queue 0x1\n",
		"\nfragment:QueueInfo.gpu_context_addr -> GpuContextData\n",
		"\nInitBuffer.unk_10 0x8\n",
		"\nBufferInfo.block_ctl_addr -> BufferBlockControl\n",
		"\nBufferThing.unkptr_18 0x16",
		"\nRunVertex.buffer_mgr_slot 0xa\n",
		"\nRunVertex.struct_2.unk_8 0x1e3ce508\n",
		"\nRunVertex.struct_2.unk_b0 0 * 6\n",
		"\nRunVertex.tiling_params.x_max 0xc7\n",
		"\nRunVertex.job_meta.stamp_addr -> stamp\n",
		"\nRunVertex:StartVertex.struct3_addr -> RunVertex.unk_480\n",
		"\nBarrier.wait_value 0x100\n",
		"\nRunFragment.struct_2.clear_pipeline.address 0\n",
		"\nRunFragment.struct_3.unk_120 0 * 37\n",
		"\nRunFragment:FinalizeFragment.restart_branch_offset -",
	};
	struct rig_options options = { 0 };
	struct rig_renderer renderer;
	struct rig *rig;
	char *text;
	size_t size;

	options.dump = open_memstream(&text, &size);
	assert_non_null(options.dump);
	rig = rig_new_with(&options);
	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	draw(rig, &renderer, WIDTH, HEIGHT);
	rig_free(rig);
	fclose(options.dump);
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!strstr(text, lines[i]))
			fail_msg("there is no line %s", lines[i] + 1);
	}
	free(text);
}

/* What m1n1 does, which draws on machines with it (proxyclient agx/render.py, agx/context.py) */

#define M1N1_VERTEX_STAMP	0x7a000000
#define M1N1_FRAGMENT_STAMP	0x3d000000

static void put_stamp(struct rig *rig, struct rig_queue *queue, uint32_t value)
{
	memcpy(rig->stamps.host + 4 * queue->slot, &value, sizeof(value));
	memcpy(rig->fw_stamps.host + 4 * queue->slot, &value, sizeof(value));
	queue->stamp = value;
}

/* Stamps that tell the queues apart, one notifier for both, and memory at the end of its pages */
static void renderer_as_m1n1(struct rig *rig, struct rig_renderer *renderer)
{
	rig_renderer_new(rig, renderer, 10, 16);
	put_stamp(rig, &renderer->vertex, M1N1_VERTEX_STAMP);
	put_stamp(rig, &renderer->fragment, M1N1_FRAGMENT_STAMP);
	renderer->vertex.notifier = renderer->fragment.notifier;
	renderer->vertex.threshold = renderer->fragment.threshold;
	renderer->at_page_ends = true;
}

struct m1n1_times {
	enum fw_field_id user;
	struct rig_command *command;
	size_t start;		/* bytes of the starting operation, behind which a time follows */
};

/* A client's times in other memory than the Rust driver's, and no pointer that is updated */
static void times_as_m1n1(struct rig *rig, const struct m1n1_times *times)
{
	struct rig_ptr place = rig_alloc(rig, RIG_SHARED, 0x20);
	struct rig_ptr user = sub(times->command->command, times->user, FW_S_TimestampPointers, 0);
	size_t time = fw_structs[FW_S_Timestamp].size[RIG_ABI];
	uint8_t *first = times->command->sequence.host + times->start;

	put(user, FW_TimestampPointers_start_addr, place.va);
	put(user, FW_TimestampPointers_end_addr, place.va + 8);
	put((struct rig_ptr){ .host = first }, FW_Timestamp_unk_addr, 0xdeadbeef);
	put((struct rig_ptr){ .host = first + time + 4 }, FW_Timestamp_unk_addr, 0xdeadbeef);
}

static void render_as_m1n1(struct rig *rig, struct rig_renderer *renderer,
			   struct rig_render *render)
{
	const struct m1n1_times times[] = {
		{ FW_RunVertex_user_ts_pointers, &render->vertex,
		  fw_structs[FW_S_StartVertex].size[RIG_ABI] },
		{ FW_RunFragment_user_ts_pointers, &render->fragment,
		  fw_structs[FW_S_StartFragment].size[RIG_ABI] },
	};
	struct rig_ptr vertex, fragment, two;

	rig_render_new(rig, renderer, render, WIDTH, HEIGHT);
	vertex = render->vertex.command;
	fragment = render->fragment.command;
	put(vertex, FW_RunVertex_stamp_value, render->vertex.stamp);
	put(sub(vertex, FW_RunVertex_job_meta, FW_S_JobMeta, 0), FW_JobMeta_queue_cmd_count, 0);
	put(render->vertex.sequence, FW_StartVertex_unk_48, 0);
	put(sub(fragment, FW_RunFragment_job_meta, FW_S_JobMeta, 0), FW_JobMeta_queue_cmd_count, 0);
	put(render->fragment.sequence, FW_StartFragment_queue_cmd_count,
	    (render->fragment.stamp - 0x100) >> 8);
	two = sub(fragment, FW_RunFragment_struct_2, FW_S_FragmentStruct2, 0);
	put(two, FW_FragmentStruct2_unk_e8, get(two, FW_FragmentStruct2_unk_e8) / 4);
	times_as_m1n1(rig, &times[0]);
	times_as_m1n1(rig, &times[1]);
}

/* Nothing counts the two submissions in Globals */
static void submit_as_m1n1(struct rig *rig, struct rig_renderer *renderer,
			   struct rig_render *render)
{
	__atomic_fetch_add((uint32_t *)renderer->buffer.counter.host, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add((uint32_t *)renderer->fragment.threshold.host, 2, __ATOMIC_SEQ_CST);
	rig_push(rig, &renderer->fragment, render->barrier.va);
	rig_push(rig, &renderer->fragment, render->fragment.command.va);
	if (render->first)
		rig_push(rig, &renderer->vertex, render->init.va);
	rig_push(rig, &renderer->vertex, render->vertex.command.va);
	rig_announce(rig, &renderer->fragment, 0);
	rig_announce(rig, &renderer->vertex, 0);
}

/* Each of these rules is broken, and only warns; no other one is */
static void assert_only_hints(struct rig *rig)
{
	static const enum vagx_rule hints[] = {
		VAGX_RULE_FW_COMMAND_SEQUENCE,
		VAGX_RULE_FW_RENDER_ALIGNMENT,
		VAGX_RULE_FW_RUN_PENDING,
		VAGX_RULE_FW_SCENE_STAMP,
	};
	uint64_t hinted = 0;

	for (unsigned int i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		assert_int_not_equal(vagx_report_count(rig->report, hints[i]), 0);
		hinted += vagx_report_count(rig->report, hints[i]);
	}
	assert_int_equal(vagx_report_total(rig->report, VAGX_SEVERITY_WARNING), hinted);
	assert_int_equal(vagx_report_total(rig->report, VAGX_SEVERITY_VIOLATION), 0);
	assert_false(vagx_report_failed(rig->report));
}

static void test_as_m1n1(void **state)
{
	static const char *const socs[] = { "t8103", "t6000", "t6001", "t6002", "t8112" };

	for (unsigned int i = 0; i < sizeof(socs) / sizeof(socs[0]); i++) {
		const struct rig_options options = { .soc = socs[i], .as_m1n1 = true };
		struct rig *rig = rig_new_with(&options);
		struct rig_renderer renderer;
		struct rig_render render[3];

		print_message("# %s\n", socs[i]);
		rig_boot(rig);
		assert_int_equal(rig_findings(rig), 0);
		renderer_as_m1n1(rig, &renderer);
		for (unsigned int n = 0; n < 3; n++) {
			render_as_m1n1(rig, &renderer, &render[n]);
			submit_as_m1n1(rig, &renderer, &render[n]);
			assert_true(rig_render_wait(rig, &renderer, &render[n]));
			assert_int_equal(render[n].vertex.stamp, M1N1_VERTEX_STAMP + 0x100 * (n + 1));
			assert_int_not_equal(get(render[n].scene, FW_BufferThing_unk_2c), 0);
		}
		assert_only_hints(rig);
		rig_free(rig);
	}
}

/* The rules */

struct changed {
	struct rig *rig;
	struct rig_renderer renderer;
	struct rig_render render;
};

struct provocation {
	enum vagx_rule rule;
	const char *name;
	void (*change)(struct changed *changed);
	const enum vagx_rule *also;
	bool may_crash;		/* at the end of the render */
};

static struct rig_ptr tiling_of(struct changed *c)
{
	return sub(c->render.vertex.command, FW_RunVertex_tiling_params, FW_S_TilingParameters, 0);
}

static struct rig_ptr params_of(struct changed *c)
{
	return sub(c->render.vertex.command, FW_RunVertex_struct_2, FW_S_TaStruct2, 0);
}

static struct rig_ptr one_of(struct changed *c)
{
	return sub(c->render.fragment.command, FW_RunFragment_struct_1, FW_S_FragmentStruct1, 0);
}

static struct rig_ptr two_of(struct changed *c)
{
	return sub(c->render.fragment.command, FW_RunFragment_struct_2, FW_S_FragmentStruct2, 0);
}

static struct rig_ptr finalize_of(struct rig_command *command)
{
	return (struct rig_ptr){ .host = command->sequence.host + command->finalize };
}

static uint32_t *words(struct rig_ptr at)
{
	return (uint32_t *)at.host;
}

#define CHANGE(name) static void change_##name(struct changed *c)

CHANGE(init_slot) { put(c->render.init, FW_InitBuffer_buffer_mgr_slot, 127); }
CHANGE(init_context) { put(c->render.init, FW_InitBuffer_context_id, 64); }
CHANGE(init_blocks) { put(c->render.init, FW_InitBuffer_unk_10, 0); }
CHANGE(init_kernel) { put(c->render.init, FW_InitBuffer_context_id, 0); }
CHANGE(init_many) { put(c->render.init, FW_InitBuffer_unk_10, 0x10000000); }
CHANGE(init_nothing) { put(c->render.init, FW_InitBuffer_buffer_mgr_addr, 0); }
CHANGE(init_stamp) { put(c->render.init, FW_InitBuffer_stamp_value, 0x300); }
CHANGE(info_block_size) { put(c->renderer.buffer.info, FW_BufferInfo_block_size, 0x8000); }
CHANGE(info_last_page) { put(c->renderer.buffer.info, FW_BufferInfo_last_page, 32); }
CHANGE(info_pages)
{
	put(c->renderer.buffer.info, FW_BufferInfo_page_count, 31);
	put(c->renderer.buffer.info, FW_BufferInfo_last_page, 30);
}


CHANGE(info_list_size) { put(c->renderer.buffer.info, FW_BufferInfo_page_list_size, 0x40); }
CHANGE(info_no_blocks)
{
	put(c->renderer.buffer.info, FW_BufferInfo_block_count, 0);
	put(c->renderer.buffer.info, FW_BufferInfo_page_count, 0);
	put(c->renderer.buffer.info, FW_BufferInfo_last_page, UINT32_MAX);
}

CHANGE(info_blocks)
{
	put(c->renderer.buffer.info, FW_BufferInfo_block_count, 9);
	put(c->renderer.buffer.info, FW_BufferInfo_page_count, 36);
	put(c->renderer.buffer.info, FW_BufferInfo_last_page, 35);
}

CHANGE(info_30) { put(c->renderer.buffer.info, FW_BufferInfo_unk_30, 0); }
CHANGE(info_38) { put(c->renderer.buffer.info, FW_BufferInfo_unk_38, 1); }
CHANGE(info_84) { put(c->renderer.buffer.info, FW_BufferInfo_unk_84, 0); }
CHANGE(control_total_many) { put(c->renderer.buffer.control, FW_BufferBlockControl_total, 0x10000000); }
CHANGE(control_write_many) { put(c->renderer.buffer.control, FW_BufferBlockControl_wptr, 0x10000000); }
CHANGE(info_word) { put(c->renderer.buffer.info, FW_BufferInfo_unk_80, 0); }
CHANGE(control_total) { put(c->renderer.buffer.control, FW_BufferBlockControl_total, 7); }
CHANGE(control_wptr) { put(c->renderer.buffer.control, FW_BufferBlockControl_wptr, 0); }
CHANGE(list_block) { words(c->renderer.buffer.list)[6] += 4; }
CHANGE(list_page) { words(c->renderer.buffer.pages)[5] += 1; }
CHANGE(command_fixed) { change(params_of(c), FW_TaStruct2_unk_80); }
CHANGE(fragment_fixed) { change(two_of(c), FW_FragmentStruct2_unk_140); }
CHANGE(fragment_busy) { put(c->render.fragment.command, FW_RunFragment_busy_flag, 1); }
CHANGE(tiling_screen) { change(tiling_of(c), FW_TilingParameters_tile_count); }
CHANGE(tiling_region) { change(tiling_of(c), FW_TilingParameters_size1); }
CHANGE(tiling_mtile) { change(tiling_of(c), FW_TilingParameters_x_blocks); }
CHANGE(tiling_tails) { change(tiling_of(c), FW_TilingParameters_size3); }
CHANGE(tiling_size) { put(tiling_of(c), FW_TilingParameters_x_max, 0xffff); }
CHANGE(tiling_height) { put(tiling_of(c), FW_TilingParameters_y_max, 0xffff); }
CHANGE(tiling_many_layers) { put(tiling_of(c), FW_TilingParameters_unk_28, 0x8fff); }
CHANGE(tiling_utile_width) { put(params_of(c), FW_TaStruct2_unk_48, 0x4000); }
CHANGE(tiling_utile_wide) { put(params_of(c), FW_TaStruct2_unk_48, 0x7000); }
CHANGE(tiling_no_height) { put(params_of(c), FW_TaStruct2_unk_48, 0x2000); }
CHANGE(tiling_high) { put(params_of(c), FW_TaStruct2_unk_48, 0x9000); }
CHANGE(tiling_samples) { put(params_of(c), FW_TaStruct2_unk_48, 0xa003); }
CHANGE(tiling_bits) { put(params_of(c), FW_TaStruct2_unk_48, 0xa004); }
CHANGE(drawn_no_width) { put(two_of(c), FW_FragmentStruct2_aux_fb_width, 0); }
CHANGE(drawn_no_height) { put(two_of(c), FW_FragmentStruct2_aux_fb_height, 0); }
CHANGE(drawn_width) { put(two_of(c), FW_FragmentStruct2_aux_fb_width, 16385); }
CHANGE(drawn_height) { put(two_of(c), FW_FragmentStruct2_aux_fb_height, 16385); }
CHANGE(tiling_layers) { put(tiling_of(c), FW_TilingParameters_unk_28, 0x1234); }
CHANGE(tiling_utiles) { put(params_of(c), FW_TaStruct2_unk_48, 0x5001); }
CHANGE(fragment_tiles) { change(one_of(c), FW_FragmentStruct1_tile_counts); }
CHANGE(fragment_stride) { change(two_of(c), FW_FragmentStruct2_unk_e8); }
CHANGE(fragment_empty) { put(c->render.fragment.command, FW_RunFragment_unk_30, 1); }
CHANGE(fragment_samples) { put(c->render.fragment.command, FW_RunFragment_unk_48, 4); }
CHANGE(memory_tails) { put(c->render.vertex.command, FW_RunVertex_tvb_size, 0x40); }
CHANGE(memory_heap) { put(params_of(c), FW_TaStruct2_tvb_heapmeta_addr, 0x1800000000); }
CHANGE(memory_user) { put(c->render.scene, FW_BufferThing_unkptr_18, 0x1800000000); }
CHANGE(memory_aux) { put(two_of(c), FW_FragmentStruct2_aux_fb_ptr, 0x1800000000); }
CHANGE(scene_none) { put(c->render.vertex.command, FW_RunVertex_buf_thing_addr, 0); }
CHANGE(scene_word) { put(c->render.scene, FW_BufferThing_unk_0, 1); }
CHANGE(scene_no_statistics) { put(c->render.scene, FW_BufferThing_bm_misc_addr, 0); }
CHANGE(scene_no_user) { put(c->render.scene, FW_BufferThing_unkptr_18, 0); }
CHANGE(scene_pages) { put(c->render.scene, FW_BufferThing_unk_2c, 1); }
/* Still where they can be written, or the firmware crashes at the end of the render */
CHANGE(scene_statistics)
{
	put(c->render.scene, FW_BufferThing_bm_misc_addr,
	    get(c->render.scene, FW_BufferThing_bm_misc_addr) + 2);
}

CHANGE(pair_stamp) { put(c->render.vertex.command, FW_RunVertex_stamp_value, 0x300); }
CHANGE(pair_slot) { put(c->render.vertex.command, FW_RunVertex_ev_3d, 10); }
CHANGE(pair_generation) { put(c->render.fragment.sequence, FW_StartFragment_submission_id, 4); }
CHANGE(pair_width) { put(two_of(c), FW_FragmentStruct2_aux_fb_width, WIDTH - 1); }
CHANGE(pair_height) { put(two_of(c), FW_FragmentStruct2_aux_fb_height, HEIGHT - 1); }
CHANGE(pair_info) { change(c->render.fragment.command, FW_RunFragment_buffer_mgr_addr); }
CHANGE(pair_buffer) { change(c->render.fragment.sequence, FW_StartFragment_buffer_mgr_slot); }
CHANGE(pair_tilemap)
{
	put(two_of(c), FW_FragmentStruct2_tvb_tilemap, c->render.tilemap.va + 0x8000);
}

CHANGE(start_vertex) { change(c->render.vertex.sequence, FW_StartVertex_buf_thing_addr); }
CHANGE(start_fragment) { change(c->render.fragment.sequence, FW_StartFragment_workitem_ptr); }
CHANGE(vertex_sequence) { change(c->render.vertex.sequence, FW_StartVertex_unk_48); }
CHANGE(vertex_generation) { change(c->render.vertex.sequence, FW_StartVertex_submission_id); }
CHANGE(fragment_sequence)
{
	change(c->render.fragment.sequence, FW_StartFragment_queue_cmd_count);
}

CHANGE(start_slot) { change(c->render.vertex.sequence, FW_StartVertex_buffer_mgr_slot); }
CHANGE(finalize_value) { change(finalize_of(&c->render.vertex), FW_FinalizeVertex_stamp_value); }
CHANGE(attachments) { put(c->render.vertex.sequence, FW_StartVertex_num_attachments, 17); }
CHANGE(fragment_attachments) { put(c->render.fragment.sequence, FW_StartFragment_num_attachments, 1); }

CHANGE(restart)
{
	put(finalize_of(&c->render.fragment), FW_FinalizeFragment_restart_branch_offset, -4);
}

/* Both lists agree, but the page is another one's, or nobody's */
CHANGE(list_twice)
{
	uint32_t *pages = words(c->renderer.buffer.pages), *list = words(c->renderer.buffer.list);

	list[2] = list[0];
	memcpy(&pages[4], &pages[0], 16);
}

static void unmap_half_of_page(struct changed *c, unsigned int index)
{
	uint64_t va = (uint64_t)words(c->renderer.buffer.pages)[index] * RIG_BUFFER_PAGE;

	*rig_pte(c->rig, c->rig->user_root, va + AGX_PAGE_SIZE) = 0;
}

CHANGE(list_unmapped) { unmap_half_of_page(c, 9); }
CHANGE(list_first_unmapped) { unmap_half_of_page(c, 0); }
CHANGE(list_last_unmapped) { unmap_half_of_page(c, 4 * c->renderer.buffer.blocks - 1); }

CHANGE(list_outside)
{
	for (unsigned int i = 0; i < 4; i++)
		words(c->renderer.buffer.pages)[i] = 0xffffff + i;
	words(c->renderer.buffer.list)[0] = 0xffffff;
}

CHANGE(list_below)
{
	for (unsigned int i = 0; i < 4; i++)
		words(c->renderer.buffer.pages)[i] = i;
	words(c->renderer.buffer.list)[0] = 0;
}

CHANGE(list_odd)
{
	put(c->renderer.buffer.info, FW_BufferInfo_page_list_addr, c->renderer.buffer.pages.va + 2);
}

CHANGE(list_for_gpu_only)
{
	uint64_t *pte = rig_pte(c->rig, c->rig->user_root, c->renderer.buffer.pages.va);

	*pte = (*pte & ~AGX_PTE_PROT_MASK) | AGX_PROT_GPU_SHARED_RW;
}

static void make_cached(struct changed *c, uint64_t va)
{
	*rig_pte(c->rig, c->rig->root, va) &= ~AGX_PTE_ATTR_MASK;
}

CHANGE(cached_control) { make_cached(c, c->renderer.buffer.control.va); }
CHANGE(cached_counter) { make_cached(c, c->renderer.buffer.counter.va); }
CHANGE(cached_statistics) { make_cached(c, get(c->render.scene, FW_BufferThing_bm_misc_addr)); }
CHANGE(cached_scene) { make_cached(c, c->render.scene.va); }

CHANGE(no_init) { c->render.first = false; }
CHANGE(other_slot) { put(c->render.vertex.command, FW_RunVertex_buffer_mgr_slot, 11); }
CHANGE(not_counted) { put(c->renderer.buffer.counter, FW_BufferCounter_count, UINT32_MAX); }

/* Fragment work that is announced and waits for nothing, of a scene that no vertex work fills */
CHANGE(no_vertex)
{
	put(c->render.fragment.command, FW_RunFragment_buf_thing_addr,
	    rig_alloc(c->rig, RIG_SHARED, 0x100).va);
}

CHANGE(small)
{
	put(c->render.init, FW_InitBuffer_unk_10, 4);
	put(c->renderer.buffer.info, FW_BufferInfo_block_count, 4);
	put(c->renderer.buffer.info, FW_BufferInfo_page_count, 16);
	put(c->renderer.buffer.info, FW_BufferInfo_last_page, 15);
}

CHANGE(unaligned)
{
	put(params_of(c), FW_TaStruct2_tvb_tilemap, c->render.tilemap.va + 0x100);
	put(two_of(c), FW_FragmentStruct2_tvb_tilemap, c->render.tilemap.va + 0x100);
}

/* The tilemap ends where the next page is not the scene's any more */
CHANGE(memory_tilemap)
{
	*rig_pte(c->rig, c->rig->user_root, c->render.tilemap.va) = 0;
}

static void run_changed(struct changed *c, const struct provocation *provocation)
{
	rig_boot(c->rig);
	rig_renderer_new(c->rig, &c->renderer, 10, 8);
	rig_render_new(c->rig, &c->renderer, &c->render, WIDTH, HEIGHT);
	provocation->change(c);
	rig_render_submit(c->rig, &c->renderer, &c->render);
}

/* What cannot be left out when this is provoked */
#define ALSO(...) .also = (const enum vagx_rule[]){ __VA_ARGS__, VAGX_KEPT }
#define PROVOKE(rule_, name_, ...) \
	{ .rule = VAGX_RULE_##rule_, .name = #name_, .change = change_##name_, __VA_ARGS__ }
#define CLAUSE(rule_, clause, name_, ...)                                \
	{ .rule = VAGX_CLAUSE_##rule_##_##clause, .name = #name_, \
	  .change = change_##name_, __VA_ARGS__ }

static const struct provocation provocations[] = {
	CLAUSE(FW_BUFFER_INIT, slot, init_slot),
	CLAUSE(FW_BUFFER_INIT, context, init_context),
	CLAUSE(FW_BUFFER_INIT, kernel, init_kernel),
	CLAUSE(FW_BUFFER_INIT, blocks, init_many),
	CLAUSE(FW_BUFFER_INIT, no_blocks, init_blocks),
	CLAUSE(FW_BUFFER_INIT, info, init_nothing),
	CLAUSE(FW_BUFFER_INIT, stamp, init_stamp),
	CLAUSE(FW_BUFFER_INFO, block_size, info_block_size),
	CLAUSE(FW_BUFFER_INFO, last_page, info_last_page),
	CLAUSE(FW_BUFFER_INFO, pages, info_pages),
	CLAUSE(FW_BUFFER_INFO, page_list, info_list_size),
	CLAUSE(FW_BUFFER_INFO, 80, info_word),
	CLAUSE(FW_BUFFER_INFO, no_blocks, info_no_blocks),
	CLAUSE(FW_BUFFER_INFO, blocks, info_blocks),
	CLAUSE(FW_BUFFER_INFO, 30, info_30),
	CLAUSE(FW_BUFFER_INFO, 38, info_38),
	CLAUSE(FW_BUFFER_INFO, 84, info_84),
	CLAUSE(FW_BUFFER_SHARED, control, cached_control),
	CLAUSE(FW_BUFFER_SHARED, counter, cached_counter),
	CLAUSE(FW_BUFFER_SHARED, statistics, cached_statistics),
	CLAUSE(FW_BUFFER_SHARED, scene, cached_scene),
	CLAUSE(FW_BUFFER_BLOCKS, total, control_total),
	CLAUSE(FW_BUFFER_BLOCKS, write, control_wptr),
	CLAUSE(FW_BUFFER_BLOCKS, total_many, control_total_many),
	CLAUSE(FW_BUFFER_BLOCKS, write_many, control_write_many),
	CLAUSE(FW_BUFFER_LIST, agree, list_block),
	CLAUSE(FW_BUFFER_LIST, agree, list_page),
	CLAUSE(FW_BUFFER_LIST, twice, list_twice),
	CLAUSE(FW_BUFFER_LIST, page, list_unmapped),
	CLAUSE(FW_BUFFER_LIST, page, list_first_unmapped),
	CLAUSE(FW_BUFFER_LIST, page, list_last_unmapped),
	CLAUSE(FW_BUFFER_LIST, high, list_outside),
	CLAUSE(FW_BUFFER_LIST, low, list_below),
	CLAUSE(FW_BUFFER_LIST, alignment, list_odd),
	CLAUSE(FW_BUFFER_LIST, unmapped, list_for_gpu_only),
	PROVOKE(FW_BUFFER_SLOT, no_init),
	PROVOKE(FW_BUFFER_SLOT, other_slot),
	PROVOKE(FW_BUFFER_COUNTER, not_counted),
	PROVOKE(FW_BUFFER_SMALL, small),
	CLAUSE(FW_SCENE, pages, scene_pages),
	CLAUSE(FW_SCENE, none, scene_none),
	CLAUSE(FW_SCENE, word, scene_word),
	CLAUSE(FW_SCENE, statistics, scene_no_statistics, ALSO(VAGX_CLAUSE_FW_UNMAPPED_access),
	       .may_crash = true),
	CLAUSE(FW_SCENE, user_buffer, scene_no_user, ALSO(VAGX_CLAUSE_FW_RENDER_MEMORY_mapped)),
	CLAUSE(FW_SCENE, alignment, scene_statistics),
	CLAUSE(FW_SCENE_PAIR, generation, pair_generation, ALSO(VAGX_RULE_FW_MSEQ_FIELD)),
	CLAUSE(FW_SCENE_PAIR, width, pair_width),
	CLAUSE(FW_SCENE_PAIR, height, pair_height),
	CLAUSE(FW_SCENE_PAIR, info, pair_info, ALSO(VAGX_RULE_FW_MSEQ_POINTER)),
	CLAUSE(FW_SCENE_PAIR, slot, pair_buffer),
	CLAUSE(FW_SCENE_PAIR, tilemap, pair_tilemap),
	PROVOKE(FW_SCENE_STAMP, pair_stamp),
	CLAUSE(FW_SCENE_PAIR, event_slot, pair_slot, ALSO(VAGX_RULE_FW_SCENE_FRAGMENT)),
	PROVOKE(FW_SCENE_FRAGMENT, pair_slot, ALSO(VAGX_CLAUSE_FW_SCENE_PAIR_event_slot)),
	CLAUSE(FW_SCENE_ORDER, none, no_vertex,
	       ALSO(VAGX_RULE_FW_SCENE_FRAGMENT, VAGX_RULE_FW_MSEQ_POINTER)),
	CLAUSE(FW_RENDER_TILING, word, tiling_screen),
	CLAUSE(FW_RENDER_TILING, word, tiling_region),
	CLAUSE(FW_RENDER_TILING, word, tiling_mtile),
	CLAUSE(FW_RENDER_TILING, word, tiling_tails),
	CLAUSE(FW_RENDER_TILING, width, tiling_size),
	CLAUSE(FW_RENDER_TILING, height, tiling_height),
	CLAUSE(FW_RENDER_TILING, layers, tiling_many_layers),
	CLAUSE(FW_RENDER_TILING, utile_width, tiling_utile_width),
	CLAUSE(FW_RENDER_TILING, utile_width, tiling_utile_wide),
	CLAUSE(FW_RENDER_TILING, utile_height, tiling_no_height),
	CLAUSE(FW_RENDER_TILING, samples, tiling_samples),
	CLAUSE(FW_RENDER_TILING, utile_bits, tiling_bits),
	CLAUSE(FW_RENDER_TILING, no_width, drawn_no_width),
	CLAUSE(FW_RENDER_TILING, no_height, drawn_no_height),
	CLAUSE(FW_RENDER_TILING, drawn_width, drawn_width),
	CLAUSE(FW_RENDER_TILING, drawn_height, drawn_height),
	CLAUSE(FW_RENDER_TILING, layer_flags, tiling_layers),
	CLAUSE(FW_RENDER_TILING, word, tiling_utiles, ALSO(VAGX_CLAUSE_FW_RENDER_MEMORY_tails)),
	CLAUSE(FW_RENDER_TILING, utile_height, tiling_high),
	CLAUSE(FW_RENDER_TILING, word, fragment_tiles),
	CLAUSE(FW_RENDER_TILING, word, fragment_stride),
	CLAUSE(FW_RENDER_TILING, word, fragment_empty),
	CLAUSE(FW_RENDER_TILING, word, fragment_samples),
	CLAUSE(FW_RENDER_MEMORY, tails, memory_tails),
	CLAUSE(FW_RENDER_MEMORY, mapped, memory_tilemap),
	CLAUSE(FW_RENDER_MEMORY, mapped, memory_heap),
	CLAUSE(FW_RENDER_MEMORY, mapped, memory_user),
	CLAUSE(FW_RENDER_MEMORY, mapped, memory_aux),
	PROVOKE(FW_RENDER_ALIGNMENT, unaligned),
	PROVOKE(FW_COMMAND_INFO, command_fixed),
	PROVOKE(FW_COMMAND_INFO, fragment_fixed),
	PROVOKE(FW_COMMAND_INFO, fragment_busy),
	PROVOKE(FW_MSEQ_POINTER, start_vertex),
	PROVOKE(FW_MSEQ_POINTER, start_fragment),
	PROVOKE(FW_COMMAND_SEQUENCE, vertex_sequence),
	PROVOKE(FW_MSEQ_FIELD, vertex_generation, ALSO(VAGX_CLAUSE_FW_SCENE_PAIR_generation)),
	PROVOKE(FW_COMMAND_SEQUENCE, fragment_sequence),
	PROVOKE(FW_MSEQ_FIELD, start_slot),
	PROVOKE(FW_MSEQ_FIELD, finalize_value),
	CLAUSE(FW_MSEQ_ATTACHMENT, count, attachments),
	CLAUSE(FW_MSEQ_ATTACHMENT, address, fragment_attachments),
	PROVOKE(FW_MSEQ_RESTART, restart),
};

#define PROVOCATIONS (sizeof(provocations) / sizeof(provocations[0]))

static void test_provocation(void **state)
{
	const struct provocation *provocation = *state;
	struct changed c = { .rig = rig_new() };

	run_changed(&c, provocation);
	rig_saw(c.rig, provocation->rule, provocation->also);
	assert_true(provocation->may_crash || !vagx_fw_is_crashed(c.rig->fw));
	rig_free(c.rig);
}

/* Those that take more than one change of one command */

static void hold(struct rig *rig, bool on)
{
	struct vagx_fw_injection what = { .kind = VAGX_FW_INJECT_HOLD_STAMPS, .value = on };

	assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
}

static bool is_started(struct rig *rig, const void *arg)
{
	const struct rig_render *render = arg;
	struct rig_ptr meta = sub(render->vertex.command, FW_RunVertex_job_meta, FW_S_JobMeta, 0);

	return rig_is_pending(rig, get(meta, FW_JobMeta_stamp_slot), render->vertex.stamp);
}

static bool has_pages(struct rig *rig, const void *arg)
{
	return get(((const struct rig_render *)arg)->scene, FW_BufferThing_unk_2c);
}

/* A render whose scene lives: its vertex work is done, its fragment work waits */
static void begin(struct rig *rig, struct rig_renderer *renderer, struct rig_render *render)
{
	rig_boot(rig);
	hold(rig, true);
	rig_renderer_new(rig, renderer, 10, 8);
	rig_render_new(rig, renderer, render, WIDTH, HEIGHT);
	rig_render_submit(rig, renderer, render);
	assert_true(rig_wait(rig, has_pages, render));
}

/* An answer with a count of halts that was true before the request, or never */
static void test_grow_halts(void **state)
{
	static const struct {
		enum vagx_rule clause;
		uint64_t halts;
	} answers[] = {
		{ VAGX_CLAUSE_FW_GROW_HALTS_old, 2 },
		{ VAGX_CLAUSE_FW_GROW_HALTS_ahead, 4 },
	};

	for (unsigned int i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct vagx_fw_injection what = {
			.kind = VAGX_FW_INJECT_GROW,
			.word = { RIG_CONTEXT, 10 },
		};
		struct rig *rig = rig_new();
		struct rig_ptr msg;

		rig_boot(rig);
		put(rig->status, FW_FwStatus_halt_count, 3);
		assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
		msg = rig_control(rig, 0x0e);
		put(msg, FW_DcGrowTvbAck_bm_id, 10);
		put(msg, FW_DcGrowTvbAck_vm_id, RIG_CONTEXT);
		put(msg, FW_DcGrowTvbAck_counter, 1);
		put(msg, FW_DcGrowTvbAck_halt_count, answers[i].halts);
		rig_control_send(rig);
		rig_saw(rig, answers[i].clause, NULL);
		rig_free(rig);
	}
}

/* What a buffer's Info was is in the firmware's cache when it is written */
static const enum vagx_rule written[] = { VAGX_RULE_FW_CACHED_STALE, VAGX_KEPT };

/* Fragment work begins while vertex work hangs: its barrier waits for compute */
static void test_early(void **state)
{
	struct vagx_fw_injection hang = { .kind = VAGX_FW_INJECT_HANG, .pipe = 0 };
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_command command;
	struct rig_render render;
	struct rig_queue queue;

	rig_boot(rig);
	assert_int_equal(vagx_fw_inject(rig->fw, &hang), 0);
	rig_renderer_new(rig, &renderer, 10, 8);
	rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
	render.barrier = rig_barrier_new(rig, 7, 0x100);
	rig_render_submit(rig, &renderer, &render);
	assert_true(rig_wait(rig, is_started, &render));
	rig_queue_new(rig, &queue, 2, 7);
	rig_compute_new(rig, &queue, &command);
	rig_submit(rig, &queue, command.command.va);
	rig_saw(rig, VAGX_CLAUSE_FW_SCENE_ORDER_early, NULL);
	rig_free(rig);
}

/* Two fragment commands of one scene */
static void test_drawn_twice(void **state)
{
	/* The second has the first one's sequence */
	static const enum vagx_rule copied[] = {
		VAGX_RULE_FW_CACHED_REUSE, VAGX_RULE_FW_COMMAND_SEQUENCE,
		VAGX_RULE_FW_MSEQ_POINTER, VAGX_RULE_FW_MSEQ_FIELD, VAGX_KEPT,
	};
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_command again;
	struct rig_render render;

	begin(rig, &renderer, &render);
	again = render.fragment;
	again.command = rig_alloc(rig, RIG_GPU_RO, fw_structs[FW_S_RunFragment].size[RIG_ABI]);
	memcpy(again.command.host, render.fragment.command.host,
	       fw_structs[FW_S_RunFragment].size[RIG_ABI]);
	put(sub(again.command, FW_RunFragment_job_meta, FW_S_JobMeta, 0), FW_JobMeta_stamp_value,
	    render.fragment.stamp + 0x100);
	put(sub(again.command, FW_RunFragment_job_meta, FW_S_JobMeta, 0),
	    FW_JobMeta_queue_cmd_count, 1);
	rig_submit(rig, &renderer.fragment, again.command.va);
	hold(rig, false);
	rig_saw(rig, VAGX_CLAUSE_FW_SCENE_REUSED_fragment, copied);
	rig_free(rig);
}

/* A context is destroyed while a scene of it lives, whose queues are not busy */
static void test_destroyed_alive(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render;
	const enum vagx_rule busy[] = { VAGX_CLAUSE_FW_DC_CONTEXT_busy, VAGX_KEPT };

	begin(rig, &renderer, &render);
	destroy(rig, &renderer.vertex);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_BUSY_context, busy);
	rig_free(rig);
}

/* A page of the buffer goes before vertex work stores to it */
static void test_mark_unmapped(void **state)
{
	static const enum vagx_rule lost[] = { VAGX_CLAUSE_FW_BUFFER_MARK_read, VAGX_KEPT };
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	draw(rig, &renderer, WIDTH, HEIGHT);
	for (unsigned int i = 0; i < 32; i++)
		*rig_pte(rig, rig->user_root,
			 words(renderer.buffer.pages)[i] * RIG_BUFFER_PAGE) = 0;
	rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
	rig_render_submit(rig, &renderer, &render);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_MARK_write, lost);
	rig_free(rig);
}

static void test_reused(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render, other;

	begin(rig, &renderer, &render);
	rig_render_new(rig, &renderer, &other, WIDTH, HEIGHT);
	put(other.vertex.command, FW_RunVertex_buf_thing_addr, render.scene.va);
	rig_render_submit(rig, &renderer, &other);
	rig_saw(rig, VAGX_CLAUSE_FW_SCENE_REUSED_vertex, NULL);
	rig_free(rig);
}

static void test_busy(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer, other;
	struct rig_render render, another;

	begin(rig, &renderer, &render);
	rig_renderer_new(rig, &other, 12, 8);
	other.buffer.slot = 10;
	rig_render_new(rig, &other, &another, WIDTH, HEIGHT);
	rig_render_submit(rig, &other, &another);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_BUSY_slot, NULL);
	rig_free(rig);
}

static void test_live_info(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render;

	begin(rig, &renderer, &render);
	rig_buffer_grow(rig, &renderer.buffer, 9, true);
	hold(rig, false);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_LIVE_info, written);
	rig_free(rig);
}

/* The page list turns round while a render has pages */
static void test_live_list(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render, other;
	uint32_t *pages, *list, block[4];

	begin(rig, &renderer, &render);
	pages = words(renderer.buffer.pages);
	list = words(renderer.buffer.list);
	memcpy(block, pages, sizeof(block));
	memcpy(pages, pages + 4, sizeof(block));
	memcpy(pages + 4, block, sizeof(block));
	list[0] = pages[0];
	list[2] = pages[4];
	rig_render_new(rig, &renderer, &other, WIDTH, HEIGHT);
	other.first = true;
	rig_render_submit(rig, &renderer, &other);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_LIVE_pages, NULL);
	rig_free(rig);
}

/* Somebody else's data in the pages between the two halves */
static void test_mark(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render;

	begin(rig, &renderer, &render);
	for (unsigned int i = 0; i < 32; i++) {
		uint64_t va = words(renderer.buffer.pages)[i] * RIG_BUFFER_PAGE;
		uint64_t pa = *rig_pte(rig, rig->user_root, va) & AGX_TTBR_ADDR_MASK;

		memset(rig->ram + (pa - RIG_RAM_BASE), 0, 8);
	}
	hold(rig, false);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_MARK_read, NULL);
	rig_free(rig);
}

/* A page of the buffer goes away before the context is destroyed */
static void test_trimmed_early(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 8);
	draw(rig, &renderer, WIDTH, HEIGHT);
	*rig_pte(rig, rig->user_root, words(renderer.buffer.pages)[31] * RIG_BUFFER_PAGE) = 0;
	destroy(rig, &renderer.vertex);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_FREED_pages, NULL);
	rig_free(rig);
}

/* InitBuffer says that a buffer has become smaller */
static void test_trimmed_alive(void **state)
{
	struct rig *rig = rig_new();
	struct rig_renderer renderer;
	struct rig_render render;

	rig_boot(rig);
	rig_renderer_new(rig, &renderer, 10, 16);
	draw(rig, &renderer, WIDTH, HEIGHT);
	renderer.buffer.blocks = 8;
	rig_buffer_grow(rig, &renderer.buffer, 8, true);
	rig_render_new(rig, &renderer, &render, WIDTH, HEIGHT);
	render.first = true;
	rig_render_init(rig, &renderer, &render);
	rig_render_submit(rig, &renderer, &render);
	rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_BLOCKS_fewer, NULL);
	rig_free(rig);
}

/* Info's memory gets another use before the context is destroyed, or the slot taken over */
static void test_freed(void **state)
{
	for (unsigned int way = 0; way < 2; way++) {
		struct rig *rig = rig_new();
		struct rig_renderer renderer, other;

		rig_boot(rig);
		rig_renderer_new(rig, &renderer, 10, 8);
		draw(rig, &renderer, WIDTH, HEIGHT);
		memset(renderer.buffer.info.host, 0x55, 0x80);
		if (way) {
			struct rig_render render;

			rig_renderer_new(rig, &other, 12, 8);
			other.buffer.slot = 10;
			rig_render_new(rig, &other, &render, WIDTH, HEIGHT);
			rig_render_submit(rig, &other, &render);
		} else {
			destroy(rig, &renderer.vertex);
		}
		rig_saw(rig, VAGX_CLAUSE_FW_BUFFER_FREED_info, written);
		rig_free(rig);
	}
}

/* An answer to a request that differs in one word, and to none */
static void test_grow_ack(void **state)
{
	static const struct {
		enum vagx_rule clause;
		uint32_t slot, context, counter;
	} answers[] = {
		{ VAGX_CLAUSE_FW_GROW_ACK_request, 7, 8, 9 },
		{ VAGX_CLAUSE_FW_GROW_ACK_slot, 11, RIG_CONTEXT, 1 },
		{ VAGX_CLAUSE_FW_GROW_ACK_context, 10, RIG_CONTEXT + 1, 1 },
		{ VAGX_CLAUSE_FW_GROW_ACK_counter, 10, RIG_CONTEXT, 2 },
	};

	for (unsigned int i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct vagx_fw_injection what = {
			.kind = VAGX_FW_INJECT_GROW,
			.word = { RIG_CONTEXT, 10 },
		};
		struct rig *rig = rig_new();
		struct rig_ptr msg;

		rig_boot(rig);
		assert_int_equal(vagx_fw_inject(rig->fw, &what), 0);
		msg = rig_control(rig, 0x0e);
		put(msg, FW_DcGrowTvbAck_bm_id, answers[i].slot);
		put(msg, FW_DcGrowTvbAck_vm_id, answers[i].context);
		put(msg, FW_DcGrowTvbAck_counter, answers[i].counter);
		rig_control_send(rig);
		rig_saw(rig, answers[i].clause, NULL);
		rig_free(rig);
	}
}

/* test_rules.c and test_registers.c provoke the others */
static bool is_provoked_here(const char *id)
{
	static const char *const starts[] = { "FW_BUFFER_", "FW_GROW_", "FW_RENDER_", "FW_SCENE" };

	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!strncmp(id, starts[i], strlen(starts[i])))
			return true;
	}
	return false;
}

/* A clause that no test has seen by itself may be one that nothing looks at */
static void test_all_provoked(void **state)
{
	rig_assert_seen(is_provoked_here);
}

int main(void)
{
	static const struct CMUnitTest whole[] = {
		cmocka_unit_test(test_render),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_timestamps),
		cmocka_unit_test(test_registers_told),
		cmocka_unit_test(test_partial_units),
		cmocka_unit_test(test_fault),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_shared_pages),
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_grow_in_vain),
		cmocka_unit_test(test_grow_bounded),
		cmocka_unit_test(test_grow_asked),
		cmocka_unit_test(test_grow_before_init),
		cmocka_unit_test(test_init_again),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_channel_error),
		cmocka_unit_test(test_destroy),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_as_m1n1),
		cmocka_unit_test(test_reused),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_live_info),
		cmocka_unit_test(test_live_list),
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_trimmed_early),
		cmocka_unit_test(test_trimmed_alive),
		cmocka_unit_test(test_freed),
		cmocka_unit_test(test_grow_ack),
		cmocka_unit_test(test_grow_halts),
		cmocka_unit_test(test_early),
		cmocka_unit_test(test_drawn_twice),
		cmocka_unit_test(test_destroyed_alive),
		cmocka_unit_test(test_mark_unmapped),
		cmocka_unit_test(test_all_provoked),
	};
	struct CMUnitTest tests[PROVOCATIONS + sizeof(whole) / sizeof(whole[0])] = { 0 };
	char names[PROVOCATIONS][96];

	for (unsigned int i = 0; i < PROVOCATIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "%s by %s",
			 vagx_rule_info(provocations[i].rule)->id, provocations[i].name);
		tests[i].name = names[i];
		tests[i].test_func = test_provocation;
		tests[i].initial_state = (void *)&provocations[i];
	}
	memcpy(tests + PROVOCATIONS, whole, sizeof(whole));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
