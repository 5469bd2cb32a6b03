// SPDX-License-Identifier: MIT
/*
 * Copyright (C) 2026 The asahi driver authors
 *
 * The shim's life in a process: when it starts, forks, descriptors that a program closes or
 * passes on, sandboxes. Each case runs in a process of its own, this program executed anew with
 * the case's name. With ASAHI_SHIM_BACKEND=vagx it is the emulator that has to live through it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "shim_test.h"

#define SECOND	INT64_C(1000000000)

/* Ends the process of a case. */
#define NEED(what)							\
	do {								\
		if (!(what)) {						\
			fprintf(stderr, "%s:%d: %s (errno %d)\n",	\
				__func__, __LINE__, #what, errno);	\
			_exit(1);					\
		}							\
	} while (0)

static bool is_vagx(void)
{
	const char *backend = getenv("ASAHI_SHIM_BACKEND");

	return backend && !strcmp(backend, "vagx");
}

static int open_gpu(void)
{
	return open(ASAHI_SHIM_NODE, O_RDWR | O_CLOEXEC);
}

static int sync_file_status(int fd)
{
	struct sync_file_info info = { .num_fences = 0 };

	NEED(!call(fd, SYNC_IOC_FILE_INFO, &info));
	return info.status;
}

static bool readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLIN);
}

static uint32_t start_job(int fd)
{
	uint32_t queue = new_queue(fd, new_vm(fd)), done = new_syncobj(fd);

	NEED(!submit(fd, queue, 0, 0, done, 0));
	return done;
}

/* A job comes to its end; with vagx it is executed, and there is nothing at its stream. */
static bool job_ends(int fd, uint32_t done)
{
	int file, status;

	if (drmSyncobjWait(fd, &done, 1, now_ns() + 30 * SECOND, 0, NULL) ||
	    drmSyncobjExportSyncFile(fd, done, &file))
		return false;
	status = sync_file_status(file);
	close(file);
	return status == (is_vagx() ? -EIO : 1);
}

static bool works(int fd)
{
	return fd >= 0 && job_ends(fd, start_job(fd));
}

/*
 * The sanitizer of GCC before 15 does not unlock its allocator in a child of fork(), if
 * another thread of the parent held the lock. So the sanitized build forks when the
 * emulator's threads sleep. The plain build forks at any moment, in the lane programs.
 */
static pid_t fork_used(void)
{
#ifdef __SANITIZE_ADDRESS__
	usleep(100 * 1000);
#endif
	return fork();
}

/* Waits for a child that has no reason to take long. */
static bool ends_well(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static unsigned int count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int n = 0;

	NEED(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void list_folder(void)
{
	count_entries("/dev/dri");
}

static bool has_mapping(const char *name)
{
	FILE *file = fopen("/proc/self/maps", "r");
	bool found = false;
	char line[512];

	NEED(file);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, name) != NULL;
	fclose(file);
	return found;
}

/* The beginning */

static void case_starts_nothing(void)
{
	unsigned int files = count_entries("/proc/self/fd");
	struct sigaction before, after;
	struct stat st;
	int fd;

	NEED(!stat(ASAHI_SHIM_NODE, &st) && !access("/sys/dev/char/226:128", R_OK));
	NEED(count_entries("/proc/self/task") == 1);
	NEED(count_entries("/proc/self/fd") == files);
	NEED(!has_mapping("asahi-shim-"));
	NEED(!sigaction(SIGBUS, NULL, &before));

	fd = open_gpu();
	NEED(works(fd));
	NEED(has_mapping("asahi-shim-"));
	NEED(count_entries("/proc/self/task") > 1 || !is_vagx());
	NEED(!sigaction(SIGBUS, NULL, &after) && after.sa_handler == before.sa_handler);
}

static void refuses_within(int resource, rlim_t limit)
{
	struct rlimit old, small;

	NEED(!getrlimit(resource, &old));
	small = (struct rlimit){ limit, old.rlim_max };
	NEED(!setrlimit(resource, &small));
	errno = 0;
	NEED(open_gpu() == -1 && errno == ENOMEM);
	errno = 0;
	NEED(open_gpu() == -1 && errno == ENOMEM);
	NEED(!setrlimit(resource, &old));
	NEED(works(open_gpu()));
}

static void case_address_limit(void)
{
	if (is_vagx())
		refuses_within(RLIMIT_AS, INT64_C(16) << 30);
}

static void case_file_limit(void)
{
	refuses_within(RLIMIT_FSIZE, 1 << 20);
}

/* Forks */

static void case_fork_before(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(!works(open_gpu()));
	NEED(works(open_gpu()));
	NEED(ends_well(pid));
}

/* What a child does with a GPU that its parent has opened, to its regular end */
static void use_in_child(int fd, uint32_t bo)
{
	struct asahi_shim_objects o;
	pid_t pid;

	/* The parent's buffer is not there, and a new one is. */
	NEED(drmCloseBufferHandle(fd, bo) == -1 && errno == EINVAL);
	NEED(drmCloseBufferHandle(fd, new_bo(fd, PAGE)) == 0);
	NEED(works(fd));
	NEED(works(open_gpu()));
	asahi_shim_objects(&o);
	NEED(o.files == 2);
	pid = fork_used();
	if (!pid)
		_exit(!works(fd) || !works(open_gpu()));
	NEED(ends_well(pid));
}

static void case_fork_after(void)
{
	int fd = open_gpu();
	uint32_t bo = new_bo(fd, PAGE), done;
	pid_t pids[4];
	unsigned int i;

	NEED(works(fd));
	for (i = 0; i < 4; i++) {
		done = start_job(fd);
		pids[i] = fork_used();
		if (!pids[i]) {
			use_in_child(fd, bo);
			exit(0);
		}
		NEED(pids[i] > 0);
		NEED(job_ends(fd, done));
	}
	for (i = 0; i < 4; i++)
		NEED(ends_well(pids[i]));
	NEED(drmCloseBufferHandle(fd, bo) == 0);
	NEED(works(fd));
}

static atomic_bool busy_stop;
static int busy_fd;

/* Has the shim's lock half of the time, and allocates nothing. */
static void *busy_close(void *arg)
{
	while (!atomic_load(&busy_stop))
		close(1000);
	return arg;
}

static void *busy_objects(void *arg)
{
	struct drm_asahi_get_time time = { .flags = 0 };
	struct stat st;

	while (!atomic_load(&busy_stop)) {
		call(busy_fd, DRM_IOCTL_ASAHI_GET_TIME, &time);
		fstat(busy_fd, &st);
/* See fork_used(). */
#ifndef __SANITIZE_ADDRESS__
		drmCloseBufferHandle(busy_fd, new_bo(busy_fd, PAGE));
		list_folder();
#endif
	}
	return arg;
}

/* A child that has none of the threads calls functions that take locks. */
static void use_locks(void)
{
	void *map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stat st;
	int null;

	alarm(20);
	close(1001);
	munmap(map, PAGE);
	null = open("/dev/null", O_RDWR);
	NEED(!fstat(busy_fd, &st) && S_ISCHR(st.st_mode));
	NEED(dup2(null, 900) == 900 && !close(900) && !close(null));
	list_folder();
	NEED(!close(busy_fd));
	null = open_gpu();
	NEED(null >= 0 && !drmCloseBufferHandle(null, new_bo(null, PAGE)));
	_exit(0);
}

static void fork_beside(void *(*thread_run)(void *), bool by_libc)
{
	pthread_t thread;
	unsigned int i;
	pid_t pid;

	busy_fd = open_gpu();
	NEED(!pthread_create(&thread, NULL, thread_run, NULL));
	for (i = 0; i < 60; i++) {
		/* as Chromium's zygote does it: without the libc, which would call handlers */
		pid = by_libc ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!pid)
			use_locks();
		NEED(ends_well(pid));
	}
	atomic_store(&busy_stop, true);
	pthread_join(thread, NULL);
	NEED(works(busy_fd));
}

static void case_fork_beside_threads(void)
{
	fork_beside(busy_objects, true);
}

static void case_clone_beside_threads(void)
{
	fork_beside(busy_close, false);
}

static void case_vfork(void)
{
	struct asahi_shim_objects o;
	int fd = open_gpu(), file;
	uint32_t done;
	pid_t pid;

	NEED(works(fd));
	done = start_job(fd);
	pid = vfork();
	if (!pid) {
		for (file = 3; file < 256; file++)
			close(file);
		execl("/proc/self/exe", "test_process", "case", "nothing", NULL);
		_exit(127);
	}
	NEED(ends_well(pid));
	NEED(job_ends(fd, done) && works(fd));
	asahi_shim_objects(&o);
	NEED(o.files == 1);
}

static void case_nothing(void)
{
}

/* Descriptors */

#define STRANGERS	64
#define STRANGER_BYTES	(4 * PAGE)

/* Files of the program, which take the numbers that are free */
static void make_strangers(int *files)
{
	char *text = malloc(STRANGER_BYTES);
	unsigned int i;

	memset(text, 's', STRANGER_BYTES);
	for (i = 0; i < STRANGERS; i++) {
		files[i] = memfd_create("stranger", 0);
		NEED(files[i] >= 0 && write(files[i], text, STRANGER_BYTES) == STRANGER_BYTES);
	}
	free(text);
}

static void check_stranger(int file)
{
	char *text = malloc(STRANGER_BYTES);
	struct stat st;
	uint64_t i;

	NEED(!fstat(file, &st) && st.st_size == STRANGER_BYTES);
	NEED(pread(file, text, STRANGER_BYTES, 0) == STRANGER_BYTES);
	for (i = 0; i < STRANGER_BYTES; i++)
		NEED(text[i] == 's');
	free(text);
}

/* Buffers of both kinds come and go, jobs run and fail, sync files signal. */
static void use_all(int fd)
{
	struct drm_asahi_gem_create args = {
		.size = PAGE, .flags = DRM_ASAHI_GEM_VM_PRIVATE, .vm_id = new_vm(fd),
	};

	NEED(!call(fd, DRM_IOCTL_ASAHI_GEM_CREATE, &args));
	NEED(!drmCloseBufferHandle(fd, args.handle));
	NEED(!drmCloseBufferHandle(fd, new_bo(fd, PAGE)));
	NEED(works(fd));
}

static void closes_all_by(void (*close_all)(void))
{
	int files[STRANGERS], fd = open_gpu(), event = eventfd(0, 0);
	uint32_t bo = new_bo(fd, PAGE), line = new_syncobj(fd);
	unsigned int i;

	use_all(fd);
	NEED(!drmSyncobjEventfd(fd, line, 4, event, 0));
	close_all();
	NEED(drmCloseBufferHandle(fd, bo) == -1 && errno == EBADF);
	make_strangers(files);
	fd = open_gpu();
	NEED(fd >= 0);
	use_all(fd);
	for (i = 0; i < STRANGERS; i++)
		check_stranger(files[i]);
}

static void close_by_number(void)
{
	int fd;

	for (fd = 3; fd < 1024; fd++)
		close(fd);
}

static void close_by_range(void)
{
	NEED(!close_range(3, 9, 0) && !close_range(10, UINT32_MAX, 0));
	NEED(close_range(5, 4, 0) == -1 && errno == EINVAL);
}

static void close_from(void)
{
	closefrom(3);
}

static void case_close_by_number(void)
{
	closes_all_by(close_by_number);
}

static void case_close_by_range(void)
{
	closes_all_by(close_by_range);
}

static void case_close_from(void)
{
	closes_all_by(close_from);
}

/* A program chooses numbers, those of the shim among them. */
static void case_dup2(void)
{
	int fd = fcntl(open_gpu(), F_DUPFD_CLOEXEC, 600), i, files[STRANGERS];
	uint32_t bo = new_bo(fd, PAGE);

	make_strangers(files);
	for (i = 3; i < 500; i++)
		if (i != files[0])
			NEED((i % 2 ? dup2(files[0], i) : dup3(files[0], i, 0)) == i);
	use_all(fd);
	NEED(!drmCloseBufferHandle(fd, bo));
	check_stranger(files[0]);
	for (i = 3; i < 500; i++)
		check_stranger(i);
	/* What is replaced is closed. */
	NEED(dup2(files[0], fd) == fd);
	NEED(!asahi_shim_objects(&(struct asahi_shim_objects){ 0 }));
}

/* A descriptor that the process has inherited */
static void case_use_inherited(int fd)
{
	drmVersionPtr version;
	struct stat st;

	NEED(count_entries("/proc/self/task") == 1);
	NEED(!fstat(fd, &st) && S_ISCHR(st.st_mode));
	version = drmGetVersion(fd);
	NEED(version && !strcmp(version->name, "asahi"));
	drmFreeVersion(version);
	NEED(works(fd));
}

/* Sandboxes */

#define DENY(number, action)							\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),			\
	BPF_STMT(BPF_RET | BPF_K, action)

/* A filter as browsers have them */
static void enter_sandbox(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY(__NR_process_vm_readv, SECCOMP_RET_KILL_PROCESS),
		DENY(__NR_process_vm_writev, SECCOMP_RET_KILL_PROCESS),
		DENY(__NR_tee, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	NEED(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	NEED(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void case_seccomp(void)
{
	void *nowhere = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_gpu(), dma_buf;
	uint32_t bo, same;

	NEED(works(fd));
	enter_sandbox();
	NEED(works(fd) && works(open_gpu()));
	bo = new_bo(fd, PAGE);
	NEED(!drmPrimeHandleToFD(fd, bo, DRM_RDWR, &dma_buf));
	NEED(!drmPrimeFDToHandle(fd, dma_buf, &same) && same == bo);
	NEED(call(fd, DRM_IOCTL_ASAHI_GEM_CREATE, nowhere) == EFAULT);
}

static void case_seccomp_first(void)
{
	enter_sandbox();
	NEED(works(open_gpu()));
}

/* Root becomes nobody, and can't go back. */
static void case_privileges(void)
{
	int fd = open_gpu(), dma_buf;
	uint32_t bo, same;

	NEED(works(fd));
	/* In a namespace of users there may be nobody else. */
	if (geteuid() || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)) {
		fprintf(stderr, "privileges are not dropped: no other user\n");
		return;
	}
	NEED(works(fd) && works(open_gpu()));
	bo = new_bo(fd, PAGE);
	NEED(!drmPrimeHandleToFD(fd, bo, DRM_RDWR, &dma_buf));
	NEED(!drmPrimeFDToHandle(fd, dma_buf, &same) && same == bo);
}

/* Sync files of another process */

static void send_fd(int socket, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec data = { "f", 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};

	control.header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	NEED(sendmsg(socket, &message, 0) == 1);
}

static int receive_fd(int socket)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte;
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	int fd;

	NEED(recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1);
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

static void say(int socket)
{
	NEED(write(socket, "x", 1) == 1);
}

static void hear(int socket)
{
	char byte;

	NEED(read(socket, &byte, 1) == 1);
}

static int export_sync_file(int fd, uint32_t syncobj)
{
	int file;

	NEED(!drmSyncobjExportSyncFile(fd, syncobj, &file));
	return file;
}

/* Waits for a sync file of another process in each way that there is. */
static void use_foreign(int socket, int foreign)
{
	struct sync_merge_data merge = { .name = "both" };
	int fd, own, event = eventfd(0, EFD_NONBLOCK);
	uint32_t in, out, queue;

	/* before this process has opened the device */
	NEED(sync_file_status(foreign) == 0 && !readable(foreign));
	fd = open_gpu();
	in = new_syncobj(fd);
	out = new_syncobj(fd);
	queue = new_queue(fd, new_vm(fd));
	NEED(!drmSyncobjImportSyncFile(fd, in, foreign));
	NEED(drmSyncobjWait(fd, &in, 1, now_ns() + 50 * MS, 0, NULL) == -ETIME);
	NEED(!drmSyncobjEventfd(fd, in, 0, event, 0) && !readable(event));
	NEED(!submit(fd, queue, in, 0, out, 0));
	own = export_sync_file(fd, start_job(fd));
	merge.fd2 = foreign;
	NEED(!call(own, SYNC_IOC_MERGE, &merge) && !readable(merge.fence));
	NEED(drmSyncobjWait(fd, &out, 1, now_ns() + 50 * MS, 0, NULL) == -ETIME);
	close(foreign);
	say(socket);

	NEED(!drmSyncobjWait(fd, &in, 1, now_ns() + 30 * SECOND, 0, NULL));
	NEED(!drmSyncobjWait(fd, &out, 1, now_ns() + 30 * SECOND, 0, NULL));
	NEED(readable(merge.fence) && readable(event));
}

/* The other process */
static void case_foreign(int socket)
{
	int foreign = receive_fd(socket), kept = dup(foreign), late;

	use_foreign(socket, foreign);
	NEED(sync_file_status(kept) == -EIO);
	/* one that has signalled before it comes */
	late = receive_fd(socket);
	NEED(readable(late) && sync_file_status(late) == -EIO);
}

/* A process that ends before its job */
static void case_foreign_dies(int socket)
{
	int fd = open_gpu();

	hold_jobs();
	send_fd(socket, export_sync_file(fd, start_job(fd)));
	hear(socket);
	_exit(0);
}

/* Executes this program anew for a case. Return: its process. */
static pid_t start_case(const char *name, int argument, int error_fd)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%d", argument);
	pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	if (error_fd >= 0)
		dup2(error_fd, STDERR_FILENO);
	execl("/proc/self/exe", "test_process", "case", name, argument < 0 ? NULL : number, NULL);
	_exit(127);
}

static void run_case(const char *name)
{
	int status;

	assert_int_equal(waitpid(start_case(name, -1, -1), &status, 0) > 0, 1);
	if (status)
		fail_msg("case %s: status 0x%x", name, status);
}

static void test_sync_files(void **state)
{
	int sockets[2], file, late, status;
	uint32_t done;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	hold_jobs();
	done = start_job(FD(state));
	file = export_sync_file(FD(state), done);
	assert_int_equal(sync_file_status(file), 0);
	pid = start_case("foreign", sockets[1], -1);
	send_fd(sockets[0], file);
	hear(sockets[0]);
	asahi_shim_job_done(held[0], -EIO);
	late = export_sync_file(FD(state), done);
	send_fd(sockets[0], late);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(late);
	close(file);
	close(sockets[0]);
	close(sockets[1]);
}

static void test_exporter_dies(void **state)
{
	uint32_t in = new_syncobj(FD(state));
	int sockets[2], file, status;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	pid = start_case("foreign_dies", sockets[1], -1);
	file = receive_fd(sockets[0]);
	assert_int_equal(drmSyncobjImportSyncFile(FD(state), in, file), 0);
	assert_int_equal(drmSyncobjWait(FD(state), &in, 1, 0, 0, NULL), -ETIME);
	say(sockets[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(drmSyncobjWait(FD(state), &in, 1, now_ns() + 30 * SECOND, 0, NULL), 0);
	assert_int_equal(sync_file_status(file), -ECANCELED);
	close(file);
	close(sockets[0]);
	close(sockets[1]);
}

/* A pipe is no sync file, and an unlinked file no device. */
static void test_strangers(void **state)
{
	struct sync_file_info info = { .num_fences = 0 };
	uint32_t syncobj = new_syncobj(FD(state));
	int fds[2], file = memfd_create("asahi-shim-node", 0);

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(call(fds[0], SYNC_IOC_FILE_INFO, &info), ENOTTY);
	assert_int_equal(drmSyncobjImportSyncFile(FD(state), syncobj, fds[0]), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(call(file, DRM_IOCTL_SYNCOBJ_CREATE, &(struct drm_syncobj_create){ 0 }),
			 ENOTTY);
	close(fds[0]);
	close(fds[1]);
	close(file);
}

static void test_inherited(void **state)
{
	int fd = open(ASAHI_SHIM_NODE, O_RDWR), status;
	pid_t pid = start_case("use_inherited", fd, -1);

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
}

/* A case prints one line with a text, however often it is refused. */
/* Runs a case that has to end well. Return: in how many lines its standard error has a text. */
static unsigned int run_and_count(const char *name, const char *text)
{
	int error = memfd_create("stderr", MFD_CLOEXEC), status;
	unsigned int lines = 0;
	char line[512];
	FILE *file;
	pid_t pid;

	/* Processes share its position, which no lock protects in this kind of file. */
	assert_int_equal(fcntl(error, F_SETFL, O_APPEND), 0);
	pid = start_case(name, -1, error);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(lseek(error, 0, SEEK_SET), 0);
	file = fdopen(error, "r");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file)) {
		if (status)
			print_message("%s", line);
		lines += strstr(line, text) != NULL;
	}
	fclose(file);
	assert_int_equal(status, 0);
	return lines;
}

static void test_address_limit(void **state)
{
	/* The sanitizer needs more addresses than the emulator. */
#ifndef __SANITIZE_ADDRESS__
	if (is_vagx())
		assert_int_equal(run_and_count("address_limit", ASAHI_SHIM_NODE " cannot be opened: "
					       "Cannot allocate memory; it takes 75 GiB of "
					       "addresses"), 1);
#endif
}

static void test_file_limit(void **state)
{
	assert_int_equal(run_and_count("file_limit", ASAHI_SHIM_NODE " cannot be opened: "
				       "File too large; its memory is a file of 64 GiB"), 1);
}

/* The parent's objects are not there: each child says so, once. */
static void test_fork_after(void **state)
{
	/* four children, and a child of each */
	assert_int_equal(run_and_count("fork_after", "was forked with the GPU open"), 8);
}

#define CASES(X)								\
	X(starts_nothing) X(fork_before) X(fork_beside_threads)			\
	X(clone_beside_threads) X(vfork) X(close_by_number) X(close_by_range)	\
	X(close_from) X(dup2) X(seccomp) X(seccomp_first) X(privileges)

#define CASE_TEST(name)								\
	static void test_##name(void **state)					\
	{									\
		run_case(#name);						\
	}
CASES(CASE_TEST)

#define CASE_ENTRY(name)	cmocka_unit_test(test_##name),

static int do_case(const char *name, int argument)
{
#define CASE_DO(known)								\
	if (!strcmp(name, #known)) {						\
		case_##known();							\
		return 0;							\
	}
	CASES(CASE_DO)
	CASE_DO(nothing)
	CASE_DO(address_limit)
	CASE_DO(file_limit)
	CASE_DO(fork_after)
	if (!strcmp(name, "foreign"))
		case_foreign(argument);
	else if (!strcmp(name, "foreign_dies"))
		case_foreign_dies(argument);
	else if (!strcmp(name, "use_inherited"))
		case_use_inherited(argument);
	else
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASES(CASE_ENTRY)
		cmocka_unit_test(test_address_limit),
		cmocka_unit_test(test_file_limit),
		cmocka_unit_test(test_fork_after),
		cmocka_unit_test(test_inherited),
		NODE_TEST(test_sync_files),
		NODE_TEST(test_exporter_dies),
		NODE_TEST(test_strangers),
	};

	if (argc > 2)
		return do_case(argv[2], argc > 3 ? atoi(argv[3]) : -1);
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
