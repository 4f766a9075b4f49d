/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the memory of a run is found; meter_sample.c adds it up.
 *
 * Shared memory hides in three ways: it can be held by a descriptor without a mapping,
 * by a mapping without a descriptor, and by a mapping whose pages were given back
 * (MADV_DONTNEED), which leaves them in memory without any process that shows them. The
 * first is found in /proc/PID/fd, of every thread that has descriptors of its own. The
 * second shows in the mappings. The third is asked of /proc/PID/map_files, which only root
 * may; for others it is taken to be the growth of the whole machine's shared memory that
 * nothing else explains, as far as the run's mappings have room for it. All of it counts
 * when a process does not let itself be looked into: every program can see to that
 * (PR_SET_DUMPABLE, a copy with mode 0111).
 */
#include "run/meter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"

#define SMAPS_BYTES_MAX ((size_t)32 << 20)
/* What is read of a mapping's first line: up to the name, of which the beginning tells. */
#define HEADER_BYTES 160
/* Descriptors between two looks at the clock. */
#define OPEN_BATCH 256
/* What the kernel keeps for a file without content. */
#define INODE_BYTES 1024

/* --- the sandbox's own file systems ------------------------------------------------ */

static void open_place(struct meter *m, int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_DIRECTORY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	autoclose int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	struct statfs fs;
	struct stat st;

	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC || fstat(fd, &st) < 0)
		return;
	for (size_t i = 0; i < m->n_places; i++)
		if (m->place_devices[i] == st.st_dev)
			return;
	m->place_devices[m->n_places] = st.st_dev;
	m->place_fds[m->n_places++] = steal_fd(&fd);
}

/* The descriptors stay good whatever the processes do later. */
void meter_find_places(struct meter *m, pid_t thread)
{
	autoclose int root = -1;
	char path[64];

	if (m->places_known || !m->places)
		return;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)thread);
	root = open(path, O_PATH | O_CLOEXEC | O_DIRECTORY);
	if (root < 0)
		return;
	m->places_known = true;
	for (size_t i = 0; m->places[i] && m->n_places < METER_PLACES_MAX; i++)
		open_place(m, root, m->places[i]);
}

bool meter_place_is_full(const struct meter *m)
{
	struct statfs fs;

	for (size_t i = 0; i < m->n_places; i++)
		if (fstatfs(m->place_fds[i], &fs) == 0 && fs.f_blocks &&
		    (!fs.f_bavail || (fs.f_files && !fs.f_ffree)))
			return true;
	return false;
}

uint64_t meter_places_bytes(const struct meter *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n_places; i++) {
		struct statfs fs;

		if (fstatfs(m->place_fds[i], &fs) < 0)
			continue;
		sum += (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
		sum += (uint64_t)(fs.f_files - fs.f_ffree) * INODE_BYTES;
	}
	return sum;
}

/* --- shared memory that somebody has open ------------------------------------------ */

static bool is_counted(const struct meter_sum *sum, uint64_t inode)
{
	size_t at = sum->buckets[inode % METER_BUCKETS];

	while (at && sum->objects.at[at - 1].inode != inode)
		at = sum->objects.at[at - 1].next;
	return at;
}

/* Without asking the file system, which may be one that does not answer. */
static bool look_at(int dir, const char *name, dev_t device, struct meter_object *ret)
{
	struct statx st;

	if (statx(dir, name, AT_STATX_DONT_SYNC, STATX_INO | STATX_BLOCKS, &st) < 0 ||
	    makedev(st.stx_dev_major, st.stx_dev_minor) != device)
		return false;
	*ret = (struct meter_object){ .inode = st.stx_ino, .bytes = st.stx_blocks * 512 };
	return true;
}

/* Returns what it adds to the sum. */
static uint64_t count_object(struct meter_sum *sum, const struct meter_object *object)
{
	size_t *bucket = &sum->buckets[object->inode % METER_BUCKETS];
	struct meter_object *known;

	if (is_counted(sum, object->inode))
		return 0;
	sum->bytes += object->bytes;
	known = vec_push(&sum->objects, &sum->memory);
	if (known) {
		*known = *object;
		known->next = *bucket;
		*bucket = sum->objects.n;
	}
	return object->bytes;
}

/* After a look that failed. What is ending refuses, too, and has no page tables any more. */
static void note_refusal(struct meter_sum *sum, pid_t thread)
{
	struct procfs_memory memory;

	if (!sum->blind && errno != ENOENT && errno != ESRCH)
		sum->blind = procfs_memory(thread, &memory) && memory.tables;
}

static bool add_descriptors(struct meter_sum *sum, pid_t thread,
			    const struct meter_budget *budget)
{
	char path[64];
	struct dirent *entry;
	struct meter_object object;
	bool spent = false;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)thread);
	dir = opendir(path);
	if (!dir)
		note_refusal(sum, thread);
	while (dir && !spent && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		errno = 0;
		if (look_at(dirfd(dir), entry->d_name, sum->meter->shm_device, &object))
			count_object(sum, &object);
		else if (errno)
			note_refusal(sum, thread);
		spent = ++n % OPEN_BATCH == 0 && meter_spent(budget);
	}
	if (dir)
		closedir(dir);
	return !spent;
}

/* Of threads that share their descriptors only one is looked at. The kernel says whether
 * they do, or does not (seccomp filters of containers): that is a refusal, for to read the
 * same thousands of descriptors for hundreds of threads would take the whole budget. */
static bool add_other_threads(struct meter_sum *sum, pid_t thread,
			      const struct meter_budget *budget)
{
	char path[64];
	struct dirent *entry;
	bool spent = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)thread);
	dir = opendir(path);
	while (dir && !spent && (entry = readdir(dir))) {
		pid_t other = (pid_t)strtol(entry->d_name, NULL, 10);
		long differs = other > 0 ? syscall(SYS_kcmp, thread, other, KCMP_FILES, 0, 0) : 0;

		if (differs < 0)
			note_refusal(sum, other);
		else if (differs)
			spent = !add_descriptors(sum, other, budget) || meter_spent(budget);
	}
	if (dir)
		closedir(dir);
	return !spent;
}

bool meter_add_open(struct meter_sum *sum, const struct procfs_stat *process,
		    const struct meter_budget *budget)
{
	return add_descriptors(sum, process->thread, budget) &&
	       (process->threads < 2 || add_other_threads(sum, process->thread, budget));
}

/* --- mappings, each page once ------------------------------------------------------ */

struct mapping {
	const char *range; /* "start-end", the name in map_files */
	int range_length;
	uint64_t size, inode;
	dev_t device;
	bool sysv;
	uint64_t rss, pss, anonymous, swap_pss;
};

/* A copy of the line's beginning: sscanf looks for the end of the whole text first. Values
 * begin with a capital letter. */
static bool read_header(const char *line, struct mapping *m)
{
	uint64_t start, end, inode;
	unsigned major, minor;
	char head[HEADER_BYTES];
	int name = 0;

	if (*line >= 'A' && *line <= 'Z')
		return false;
	snprintf(head, sizeof(head), "%.*s", (int)strcspn(line, "\n"), line);
	if (sscanf(head, "%" SCNx64 "-%" SCNx64 " %*4c %*x %x:%x %" SCNu64 " %n", &start, &end,
		   &major, &minor, &inode, &name) != 5)
		return false;
	*m = (struct mapping){
		.range = line,
		.range_length = (int)strcspn(line, " "),
		.size = end - start,
		.inode = inode,
		.device = makedev(major, minor),
		/* Its inode number is its identifier, which another object may have too. */
		.sysv = name && strncmp(head + name, "/SYSV", 5) == 0,
	};
	return true;
}

static void read_value(const char *line, struct mapping *m)
{
	static const struct {
		const char *name;
		size_t offset;
	} values[] = {
		{ "Rss:", offsetof(struct mapping, rss) },
		{ "Pss:", offsetof(struct mapping, pss) },
		{ "Anonymous:", offsetof(struct mapping, anonymous) },
		{ "SwapPss:", offsetof(struct mapping, swap_pss) },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		size_t n = strlen(values[i].name);

		if (strncmp(line, values[i].name, n) == 0)
			*(uint64_t *)((char *)m + values[i].offset) = strtoull(line + n, NULL, 10) *
								      1024;
	}
}

/* A private copy of pages of a file: its share of what the mapping holds. */
static uint64_t anonymous_share(const struct mapping *m)
{
	return m->swap_pss + (m->rss ? m->pss * m->anonymous / m->rss : 0);
}

/* Exact where map_files can be read. */
static bool count_mapped_object(struct meter_sum *sum, pid_t thread, const struct mapping *m)
{
	struct meter_object object;
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%.*s", (int)thread, m->range_length,
		 m->range);
	if (m->sysv || !look_at(AT_FDCWD, path, sum->meter->shm_device, &object))
		return false;
	sum->mapped += count_object(sum, &object);
	return true;
}

static void add_mapping(struct meter_sum *sum, pid_t thread, const struct mapping *m)
{
	if (!m->range)
		return;
	if (!m->inode) {
		sum->bytes += m->pss + m->swap_pss;
		return;
	}
	if (m->device != sum->meter->shm_device || (!m->sysv && is_counted(sum, m->inode)) ||
	    count_mapped_object(sum, thread, m)) {
		sum->bytes += anonymous_share(m);
		return;
	}
	sum->bytes += m->pss + m->swap_pss;
	sum->mapped += m->pss + m->swap_pss;
	sum->hidden += m->size > m->rss ? m->size - m->rss : 0;
}

void meter_add_smaps(struct meter_sum *sum, pid_t thread, const char *text)
{
	struct mapping current = { 0 }, next;
	const char *line = text, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		if (read_header(line, &next)) {
			add_mapping(sum, thread, &current);
			current = next;
		} else
			read_value(line, &current);
	}
	add_mapping(sum, thread, &current);
}

static bool read_smaps(struct meter_sum *sum, pid_t thread, const struct meter_budget *budget,
		       struct buf *text)
{
	autoclose int fd = -1;
	char path[64];
	long got;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		note_refusal(sum, thread);
		return false;
	}
	do
		got = buf_read(text, fd, 65536);
	while (got > 0 && !meter_spent(budget));
	/* More than is read of anybody. */
	sum->blind |= got == -ENOBUFS || got == -ENOMEM;
	return got == 0 && text->n && !text->failed;
}

bool meter_add_mappings(struct meter_sum *sum, pid_t thread, const struct meter_budget *budget)
{
	autobuf struct buf text = buf_make(SMAPS_BYTES_MAX);

	if (!read_smaps(sum, thread, budget, &text))
		return false;
	meter_add_smaps(sum, thread, text.p);
	return true;
}
