/* SPDX-License-Identifier: Apache-2.0 */
/* Taking names out of the way; what becomes of them later is in quarantined.c. */
#include "run/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "fmt/json.h"
#include "run/move.h"

#define RECORD_MAX ((size_t)64 << 10)
#define TRIES 16

/* A directory nobody had before: in another process id namespace somebody may have our
 * number in the same second. */
static int make_run_dir(struct quarantine *q, const char *above)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];
	int r = -1;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	for (unsigned i = 0; r < 0 && i < TRIES; i++) {
		int n = snprintf(q->dir, sizeof(q->dir), "%s/%s-%d", above, stamp, (int)getpid());

		if (i)
			snprintf(q->dir + n, sizeof(q->dir) - (size_t)n, ".%u", i);
		r = mkdir(q->dir, 0700);
		if (r < 0 && errno != EEXIST)
			break;
	}
	return r < 0 ? -errno : 0;
}

static int make_dir(struct quarantine *q)
{
	char above[PATH_MAX - 64];
	int r;

	if (q->dir[0])
		return 0;
	if (snprintf(above, sizeof(above), "%s/quarantine", q->home) >= (int)sizeof(above))
		return -ENAMETOOLONG;
	if (mkdir(q->home, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (mkdir(above, 0700) < 0 && errno != EEXIST)
		return -errno;
	r = make_run_dir(q, above);
	if (r == 0) {
		q->held = open(q->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = q->held < 0 || flock(q->held, LOCK_SH | LOCK_NB) < 0 ? -errno : 0;
	}
	if (r < 0) {
		q->dir[0] = '\0';
		quarantine_release(q);
	}
	return r;
}

static bool print_record(const struct quarantine *q, struct str from, struct buf *b)
{
	json_t *record = json_pack("{s:I}", "time", (json_int_t)time(NULL));
	bool fine = record && json_set_text(record, "from", from) &&
		    json_set_text(record, "run", str_of(strrchr(q->dir, '/') + 1)) &&
		    json_set_text(record, "workdir", q->workdir);

	if (fine)
		json_print(b, record, true);
	json_decref(record);
	return fine && !b->failed;
}

/* Whole or not at all. */
static bool write_record(const struct quarantine *q, struct str from, const char *name)
{
	autobuf struct buf b = buf_make(RECORD_MAX);
	autoclose int fd = -1;
	char fresh[64];

	snprintf(fresh, sizeof(fresh), ".%s.new", name);
	if (!print_record(q, from, &b))
		return false;
	fd = openat(q->held, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	if (fd_write_all(fd, b.p, b.n) == 0 && renameat(q->held, fresh, q->held, name) == 0)
		return true;
	unlinkat(q->held, fresh, 0);
	return false;
}

static void name_entry(unsigned number, char as[16], char record[32])
{
	snprintf(as, 16, "%u", number);
	snprintf(record, 32, "%u.json", number);
}

/* Without a record, as on a full disk, it must not stay where it is either. */
int quarantine_take(struct quarantine *q, int dir, const char *name, struct str from,
		    struct quarantine_ticket *ret)
{
	struct quarantine_ticket t = { .number = q->taken, .dir = fcntl(dir, F_DUPFD_CLOEXEC, 0) };
	char as[16], record[32];
	bool made = make_dir(q) == 0;
	int r = t.dir < 0 ? -errno : 0;

	name_entry(t.number, as, record);
	if (made)
		(void)write_record(q, from, record);
	if (r == 0)
		r = move_aside(dir, name, t.name);
	if (r < 0) {
		unlinkat(q->held, record, 0);
		fd_close(&t.dir);
		return r;
	}
	q->taken++;
	*ret = t;
	return 0;
}

/* The directory where it waits may have lost its owner's rights, too. */
static int move_in(struct quarantine *q, const struct quarantine_ticket *t, const char *as)
{
	mode_t former;
	int r = move_apart(t->dir, t->name, q->held, as, &q->copied);

	if (r != -EACCES || fd_open_up(t->dir, &former) < 0)
		return r;
	r = move_apart(t->dir, t->name, q->held, as, &q->copied);
	fd_set_mode(t->dir, former);
	return r;
}

static int path_aside(const struct quarantine_ticket *t, char ret_path[PATH_MAX])
{
	ssize_t n;

	if (faccessat(t->dir, t->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return -ENOENT;
	n = fd_path(t->dir, ret_path);
	if (n < 0)
		return (int)n;
	return snprintf(ret_path + n, PATH_MAX - (size_t)n, "/%s", t->name) < PATH_MAX - n
		       ? 0
		       : -ENAMETOOLONG;
}

int quarantine_finish(struct quarantine *q, const struct quarantine_ticket *t,
		      char ret_path[PATH_MAX])
{
	char as[16], record[32];
	int r;

	name_entry(t->number, as, record);
	r = q->held < 0 ? -ENOENT : move_in(q, t, as);
	/* A copy whose original could not be removed is kept, with its record. */
	if (r == 0 || faccessat(q->held, as, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
		r = snprintf(ret_path, PATH_MAX, "%s/%s", q->dir, as) < PATH_MAX ? 0
										 : -ENAMETOOLONG;
	} else {
		unlinkat(q->held, record, 0);
		r = path_aside(t, ret_path);
	}
	return r;
}

bool quarantine_holds(const struct quarantine *q, const char *path)
{
	size_t n = strlen(q->dir);

	return n && strncmp(path, q->dir, n) == 0 && path[n] == '/';
}

void quarantine_release(struct quarantine *q)
{
	fd_close(&q->held);
	/* Unless something stays. */
	if (q->dir[0])
		rmdir(q->dir);
}

const char *quarantine_id(const char *path)
{
	const char *id = path + strlen(path);

	for (unsigned slashes = 0; id > path; id--)
		if (id[-1] == '/' && ++slashes == 2)
			break;
	return id;
}
