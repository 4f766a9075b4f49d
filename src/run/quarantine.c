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

int quarantine_take(struct quarantine *q, int dir, const char *name, struct str from, bool quiet,
		    char ret_path[PATH_MAX])
{
	char as[16], record[32];
	int r = make_dir(q);

	if (r < 0)
		return r;
	snprintf(as, sizeof(as), "%u", q->taken);
	snprintf(record, sizeof(record), "%u.json", q->taken);
	if (snprintf(ret_path, PATH_MAX, "%s/%s", q->dir, as) >= PATH_MAX)
		return -ENAMETOOLONG;
	/* Without a record, as on a full disk, it must not stay where it is either. */
	(void)write_record(q, from, record);
	r = move_name(dir, name, q->held, as, quiet);
	/* A copy whose original could not be removed is kept, with its record. */
	if (r == 0 || faccessat(q->held, as, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		q->taken++;
	else
		unlinkat(q->held, record, 0);
	return r;
}

void quarantine_release(struct quarantine *q)
{
	fd_close(&q->held);
}

const char *quarantine_id(const char *path)
{
	const char *id = path + strlen(path);

	for (unsigned slashes = 0; id > path; id--)
		if (id[-1] == '/' && ++slashes == 2)
			break;
	return id;
}
