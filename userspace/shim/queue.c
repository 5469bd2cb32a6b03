// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * Queues and their jobs.
 *
 * A job is one SUBMIT. A queue is a list of jobs in the order of submission, the first of
 * which runs or waits for its in-fences; the others wait for it. There is no scheduler
 * thread: after each ioctl, and after each job that ends, the thread that made the change
 * goes through all queues and hands each job that is ready to the backend, until none is.
 * Without a backend a job ends as soon as it is ready.
 *
 * When a job fails, the jobs behind it in its queue at that moment are cancelled: when it is
 * their turn they end with ECANCELED, and do not run. Later ones run.
 *
 * Queues and jobs are protected by shim_lock. The backend is called without it and may call
 * asahi_shim_job_done() at once or later from any thread; queue_running, which each thread
 * has for itself, turns that recursion into the loop of shim_queue_run_all(). A queue has a
 * reference for its ID, if it has one, and one for each of its jobs.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/capability.h>

#include "shim.h"

/* The driver's limit */
#define MAX_QUEUES	1024

static struct shim_queue *queue_queues;
static struct asahi_shim_backend queue_backend;

/* This thread is in the loop of shim_queue_run_all(), which will find jobs that are ready. */
static _Thread_local bool queue_running;

void shim_queue_put(struct shim_queue *queue)
{
	struct shim_queue **link = &queue_queues;

	if (--queue->refs)
		return;
	while (*link != queue)
		link = &(*link)->next;
	*link = queue->next;
	shim_vm_put(queue->vm);
	free(queue);
}

unsigned int shim_queue_count(unsigned int *jobs)
{
	const struct shim_queue *queue;
	const struct shim_job *job;
	unsigned int count = 0;

	*jobs = 0;
	for (queue = queue_queues; queue; queue = queue->next) {
		count++;
		for (job = queue->jobs; job; job = job->next)
			++*jobs;
	}
	return count;
}

/* Return: whether the process has CAP_SYS_NICE, which high priorities need. */
static bool queue_may_nice(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	return !syscall(SYS_capget, &header, data) &&
	       (data[0].effective & (1u << CAP_SYS_NICE));
}

int shim_queue_create(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct drm_asahi_queue_create *args = &all->queue_create;
	static uint64_t last_id;
	struct shim_queue *queue;
	struct shim_vm *vm;

	if (args->flags || args->priority > DRM_ASAHI_PRIORITY_REALTIME)
		return EINVAL;
	if (args->priority >= DRM_ASAHI_PRIORITY_HIGH)
		return queue_may_nice() ? EOPNOTSUPP : EPERM;
	vm = shim_table_get(&file->vms, args->vm_id);
	if (!vm)
		return ENOENT;
	if (file->queues.used == MAX_QUEUES)
		return ENOSPC;
	queue = shim_alloc(sizeof(*queue));
	*queue = (struct shim_queue){
		.refs = 1,
		.id = ++last_id,
		.vm = shim_vm_get(vm),
		.usc_exec_base = args->usc_exec_base,
		.next = queue_queues,
	};
	queue_queues = queue;
	args->queue_id = shim_table_add(&file->queues, queue, MAX_QUEUES);
	return 0;
}

int shim_queue_destroy(struct shim_file *file, union asahi_shim_args *all, struct shim_call *call)
{
	struct shim_queue *queue;

	if (all->queue_destroy.pad)
		return EINVAL;
	queue = shim_table_remove(&file->queues, all->queue_destroy.queue_id);
	if (!queue)
		return ENOENT;
	shim_queue_close(queue, shim_now_ns() + INT64_C(1000000000));
	return 0;
}

/* Jobs */

static void queue_job_free(struct shim_job *job)
{
	size_t i;

	for (i = 0; i < job->base.num_mappings; i++)
		shim_bo_put(job->bos[i]);
	for (i = 0; i < job->num_in; i++)
		shim_fence_put(job->in[i]);
	shim_fence_put(job->done);
	free(job->times);
	free(job->bos);
	free((void *)job->base.mappings);
	free((void *)job->base.commands);
	free(job->cmdbuf);
	free(job->in);
	free(job);
}

/*
 * Writes the times of all commands if @write is set, the start and the end of their job in
 * nanoseconds, and gives the references to their memory back.
 */
static void queue_job_put_times(struct shim_job *job, bool write)
{
	uint64_t end_ns = shim_now_ns();
	size_t i;

	for (i = 0; i < job->base.num_commands * SHIM_COMMAND_TIMES; i++) {
		shim_time_put(&job->times[i].start, write, job->runs ? job->start_ns : end_ns);
		shim_time_put(&job->times[i].end, write, end_ns);
	}
}

/*
 * Takes the first job off a queue and signals its fence with @error, 0 or negative. Frees the
 * job, and the queue if this was its last reference.
 */
static void queue_retire(struct shim_queue *queue, int error)
{
	struct shim_job *job = queue->jobs;

	queue->jobs = job->next;
	queue_job_put_times(job, !error);
	shim_fence_signal(job->done, error);
	queue_job_free(job);
	shim_queue_put(queue);
}

/* Marks all jobs that are in a queue now; the one that runs goes on. */
static void queue_cancel_waiting(struct shim_queue *queue)
{
	struct shim_job *job;

	for (job = queue->jobs; job; job = job->next)
		job->cancelled = true;
}

static bool queue_job_is_ready(struct shim_job *job)
{
	uint32_t i;

	for (i = 0; i < job->num_in; i++)
		if (!shim_fence_is_signaled(job->in[i]))
			return false;
	return true;
}

/* Copies the address space's bindings into the job, with a reference to each buffer. */
static void queue_job_look(struct shim_job *job)
{
	const struct shim_binding *binding;
	struct asahi_shim_mapping *mappings;
	size_t n = 0;

	for (binding = job->queue->vm->bindings; binding; binding = binding->next)
		n++;
	mappings = shim_alloc(n * sizeof(*mappings));
	job->bos = shim_alloc(n * sizeof(*job->bos));
	job->base.mappings = mappings;
	job->base.num_mappings = n;
	n = 0;
	for (binding = job->queue->vm->bindings; binding; binding = binding->next) {
		shim_binding_describe(binding, &mappings[n]);
		job->bos[n++] = shim_bo_get(binding->bo);
	}
}

/*
 * Finds a job that is ready, in any queue, and marks it as running. Jobs that are cancelled
 * or have no backend end on the way. Return: the job for the backend, or NULL.
 */
static struct shim_job *queue_take_ready(void)
{
	struct shim_queue *queue = queue_queues;

	while (queue) {
		struct shim_job *job = queue->jobs;

		if (!job || job->runs || !queue_job_is_ready(job)) {
			queue = queue->next;
			continue;
		}
		if (!job->cancelled && queue_backend.submit) {
			job->runs = true;
			job->start_ns = shim_now_ns();
			queue_job_look(job);
			return job;
		}
		queue_retire(queue, job->cancelled ? -ECANCELED : 0);
		/* The queue may be freed, and jobs of others may have become ready. */
		queue = queue_queues;
	}
	return NULL;
}

void shim_queue_run_all(void)
{
	struct asahi_shim_backend chosen;
	struct shim_job *job;

	if (queue_running)
		return;
	queue_running = true;
	pthread_mutex_lock(&shim_lock);
	while ((job = queue_take_ready())) {
		chosen = queue_backend;
		pthread_mutex_unlock(&shim_lock);
		chosen.submit(chosen.priv, &job->base);
		pthread_mutex_lock(&shim_lock);
	}
	pthread_mutex_unlock(&shim_lock);
	queue_running = false;
}

void asahi_shim_job_done(struct asahi_shim_job *base, int error)
{
	struct shim_job *job = (struct shim_job *)base;

	pthread_mutex_lock(&shim_lock);
	if (error)
		queue_cancel_waiting(job->queue);
	queue_retire(job->queue, error);
	pthread_mutex_unlock(&shim_lock);
	shim_queue_run_all();
}

void asahi_shim_set_backend(const struct asahi_shim_backend *chosen)
{
	pthread_mutex_lock(&shim_lock);
	queue_backend = chosen ? *chosen : (struct asahi_shim_backend){ NULL, NULL };
	pthread_mutex_unlock(&shim_lock);
}

void shim_queue_close(struct shim_queue *queue, int64_t deadline_ns)
{
	while (queue->jobs && !shim_wait_change(deadline_ns))
		;
	/* A job that still runs stays; those behind it are cancelled when it has ended. */
	if (queue->jobs && queue->jobs->runs)
		queue_cancel_waiting(queue);
	while (queue->jobs && !queue->jobs->runs)
		queue_retire(queue, -ESRCH);
	shim_queue_put(queue);
}

bool shim_queue_has_backend(void)
{
	bool has;

	pthread_mutex_lock(&shim_lock);
	has = queue_backend.submit;
	pthread_mutex_unlock(&shim_lock);
	return has;
}

void shim_queue_forget(void)
{
	queue_queues = NULL;
	queue_backend = (struct asahi_shim_backend){ NULL, NULL };
	queue_running = false;
}
