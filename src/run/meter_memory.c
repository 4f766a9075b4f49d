/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a run.
 *
 * Shared memory hides in three ways: it can be held by a descriptor without a mapping,
 * by a mapping without a descriptor, and by a mapping whose pages were given back
 * (MADV_DONTNEED), which leaves them in memory without any process that shows them. The
 * first is found in /proc/PID/fd. The second shows in the mappings. The third is asked of
 * /proc/PID/map_files, which only root may; for others it is taken to be the growth of the
 * whole machine's shared memory that nothing else explains, as far as the run's mappings
 * have room for it.
 */
#include "run/meter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#define OBJECTS_BYTES_MAX ((size_t)16 << 20)
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
static void find_places(struct meter *m, pid_t thread)
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

static uint64_t places_bytes(const struct meter *m)
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

static void count_open_objects(struct meter_sum *sum, pid_t thread)
{
	char path[64];
	struct dirent *entry;
	struct meter_object object;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)thread);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    look_at(dirfd(dir), entry->d_name, sum->meter->shm_device, &object))
			count_object(sum, &object);
	if (dir)
		closedir(dir);
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

static bool read_header(const char *line, struct mapping *m)
{
	uint64_t start, end, inode;
	unsigned major, minor;
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4c %*x %x:%x %" SCNu64 " %n", &start, &end,
		   &major, &minor, &inode, &name) != 5)
		return false;
	*m = (struct mapping){
		.range = line,
		.range_length = (int)strcspn(line, " "),
		.size = end - start,
		.inode = inode,
		.device = makedev(major, minor),
		/* Its inode number is its identifier, which another object may have too. */
		.sysv = name && strncmp(line + name, "/SYSV", 5) == 0,
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

/* False when it could not be read whole. */
static bool read_smaps(pid_t thread, struct buf *text)
{
	autoclose int fd = -1;
	char path[64];
	long got;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do
		got = buf_read(text, fd, 65536);
	while (got > 0);
	return got == 0 && text->n && !text->failed;
}

/* --- the sums ---------------------------------------------------------------------- */

struct survey {
	struct meter *meter;
	struct meter_sum sum;
	uint64_t shmem; /* resident in mappings, what is shared counted for each */
	uint64_t plain; /* the rest of the first sum */
};

static void survey_process(void *data, const struct tree_process *p, bool wrapper)
{
	struct survey *s = data;
	struct procfs_memory memory;
	struct procfs_stat line;

	if (wrapper || !procfs_stat(p->pid, &line) || !line.alive)
		return;
	find_places(s->meter, line.thread);
	count_open_objects(&s->sum, line.thread);
	if (!procfs_memory(line.thread, &memory))
		return;
	s->shmem += memory.shmem;
	s->plain += memory.anon + memory.swap + memory.tables;
}

static void weigh_process(void *data, const struct tree_process *p, bool wrapper)
{
	struct survey *s = data;
	autobuf struct buf text = buf_make(SMAPS_BYTES_MAX);
	struct procfs_memory memory;
	struct procfs_stat line;

	if (wrapper || !procfs_stat(p->pid, &line) || !line.alive ||
	    !procfs_memory(line.thread, &memory))
		return;
	s->sum.bytes += memory.tables;
	if (read_smaps(line.thread, &text))
		meter_add_smaps(&s->sum, line.thread, text.p);
	else /* it went away, or does not let itself be looked into */
		s->sum.bytes += memory.anon + memory.shmem + memory.swap;
}

/* The machine's shared memory that is neither in `counted` nor was there before. The base
 * is what others had when they had least. */
static uint64_t unexplained(struct meter *m, uint64_t counted)
{
	uint64_t now = procfs_machine_shmem();
	uint64_t others = now > counted ? now - counted : 0;

	if (others < m->machine_base)
		m->machine_base = others;
	return others - m->machine_base;
}

static uint64_t weigh(struct survey *s, uint64_t counted, uint64_t growth)
{
	struct meter_sum *sum = &s->sum;
	uint64_t rest;

	sum->bytes = counted;
	tree_each(s->meter->tree, weigh_process, s);
	rest = growth > sum->mapped ? growth - sum->mapped : 0;
	return sum->bytes + (sum->hidden < rest ? sum->hidden : rest);
}

uint64_t meter_memory(struct meter *m, uint64_t limit)
{
	struct survey s = { .meter = m, .sum = { .meter = m } };
	uint64_t counted, growth, total;

	arena_init(&s.sum.memory, OBJECTS_BYTES_MAX);
	tree_each(m->tree, survey_process, &s);
	counted = s.sum.bytes + places_bytes(m);
	growth = unexplained(m, counted);
	total = counted + s.plain + (s.shmem > growth ? s.shmem : growth);
	if (total > limit)
		total = weigh(&s, counted, growth);
	arena_free(&s.sum.memory);
	return total;
}
