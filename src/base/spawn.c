/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's half of spawn: the outcome of the exec, and the search of PATH. What
 * happens in the child is in spawn_child.c; how a process is made and held is in
 * spawn_linux.c and spawn_darwin.c.
 */
#include "base/spawn_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

#define OUTCOME_PATIENCE_MS 1000

int spawn_sane_stdio(struct cordon_error *err)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* All lower ones are open, so this is the number that open gives. */
		if (open("/dev/null", O_RDWR) != fd)
			return err_set(err, CORDON_E_SYSTEM, errno, "spawn",
				       "cannot open /dev/null as descriptor %d", fd);
	}
	return 0;
}

static int check_request(const struct spawn_request *r, struct cordon_error *err)
{
	if (r->n_fds > SPAWN_FDS_MAX)
		return err_set(err, CORDON_E_LIMIT, 0, "spawn",
			       "more than %d descriptors to hand over", SPAWN_FDS_MAX);
	for (size_t i = 0; i < r->n_fds; i++)
		if (r->fds[i].to < 0 || r->fds[i].to > SPAWN_TARGET_MAX)
			return err_set(err, CORDON_E_LIMIT, 0, "spawn",
				       "descriptor %d is not between 0 and %d",
				       r->fds[i].to, SPAWN_TARGET_MAX);
	return 0;
}

static void end_child(const struct spawned *s)
{
	/* Who may not be ended is not waited for. */
	if (kill(s->pid, SIGKILL) == 0)
		waitpid(s->pid, NULL, 0);
}

static int start_child(const struct spawn_request *r, const sigset_t *mask,
		       const struct spawn_pipes *pipes, struct spawned *s, struct cordon_error *err)
{
	s->pidfd = -1;
	s->in_cgroup = s->introduced = false;
	s->pid = spawn_fork(r, pipes, mask, s);
	if (s->pid < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "clone",
			       "cannot create a process for %s", r->program);
	if (s->pidfd < 0)
		s->pidfd = spawn_watch(s->pid);
	if (s->pidfd < 0) {
		err_set(err, CORDON_E_SYSTEM, errno, "spawn",
			"cannot watch the process of %s", r->program);
		end_child(s);
		return -err->code;
	}
	return 0;
}

/* The parent's part, then the child may begin. */
static int let_begin(const struct spawn_request *r, struct spawned *s, int go_write,
		     struct cordon_error *err)
{
	int failed;

	if (go_write < 0)
		return 0;
	failed = r->parent && !s->introduced ? r->parent(r->parent_data, s->pid, err) : 0;
	if (!failed && write(go_write, "", 1) != 1)
		failed = err_set(err, CORDON_E_SYSTEM, errno, "spawn",
				 "cannot let the child begin");
	if (failed) {
		end_child(s);
		fd_close(&s->pidfd);
	}
	return failed;
}

static int make_pipes(const struct spawn_request *r, struct spawn_pipes *p,
		      struct cordon_error *err)
{
	int failed = fd_pipe(&p->error_read, &p->error_write);

	if (!failed && fcntl(p->error_read, F_SETFL, O_NONBLOCK) < 0)
		failed = -errno;
	if (!failed && (r->parent || r->ahead || spawn_child_waits))
		failed = fd_pipe(&p->go_read, &p->go_write);
	if (failed)
		return err_set(err, CORDON_E_SYSTEM, -failed, "spawn", "cannot create a pipe");
	return 0;
}

static void close_pipes(struct spawn_pipes *p)
{
	fd_close(&p->error_read);
	fd_close(&p->error_write);
	fd_close(&p->go_read);
	fd_close(&p->go_write);
}

/* By now it has been executed or has said why not, unless it had to be watched first. The end
 * of the pipe is not waited for without limit: another thread may have made a process
 * meanwhile that holds it open. */
static int detached_outcome(struct spawned *s, struct cordon_error *err)
{
	struct pollfd known = { .fd = s->error_fd, .events = POLLIN };
	int outcome;

	if (spawn_child_waits)
		poll(&known, 1, OUTCOME_PATIENCE_MS);
	outcome = spawn_check(s, err);
	fd_close(&s->error_fd);
	if (outcome < 0) {
		spawn_reap_orphan(s->pidfd);
		fd_close(&s->pidfd);
	}
	return outcome < 0 ? outcome : 0;
}

int spawn_start(const struct spawn_request *r, struct spawned *ret,
		struct cordon_error *err)
{
	__attribute__((cleanup(close_pipes))) struct spawn_pipes pipes = { -1, -1, -1, -1 };
	sigset_t all, before;
	struct spawned s;
	int failed = check_request(r, err);

	if (!failed)
		failed = make_pipes(r, &pipes, err);
	if (failed)
		return failed;
	/* No handler of ours may run in the child. */
	sigfillset(&all);
	if (sigprocmask(SIG_SETMASK, &all, &before) < 0)
		return err_set(err, CORDON_E_SYSTEM, errno, "spawn", "cannot block signals");
	failed = start_child(r, r->mask ? r->mask : &before, &pipes, &s, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!failed)
		failed = let_begin(r, &s, pipes.go_write, err);
	if (failed)
		return failed;
	s.error_fd = steal_fd(&pipes.error_read);
	fd_close(&pipes.error_write);
	if (r->detached)
		failed = detached_outcome(&s, err);
	if (!failed)
		*ret = s;
	return failed;
}

/* The child's strings are taken as they are, but not its word that they end. */
static int accept_error(const struct cordon_error *sent, struct cordon_error *err)
{
	char message[sizeof(sent->message)];
	char stage[sizeof(sent->stage)];
	char hint[sizeof(sent->hint)];
	int code = sent->code;

	if (code <= CORDON_OK || code >= CORDON_CODE_COUNT)
		code = CORDON_E_BUG;
	memcpy(message, sent->message, sizeof(message));
	memcpy(stage, sent->stage, sizeof(stage));
	memcpy(hint, sent->hint, sizeof(hint));
	message[sizeof(message) - 1] = '\0';
	stage[sizeof(stage) - 1] = '\0';
	hint[sizeof(hint) - 1] = '\0';
	err_set(err, (enum cordon_code)code, sent->sys_errno, stage, "%s", message);
	return err_hint(err, "%s", hint);
}

int spawn_check(struct spawned *s, struct cordon_error *err)
{
	struct cordon_error sent;
	ssize_t got;

	if (s->error_fd < 0)
		return 0;
	do
		got = read(s->error_fd, &sent, sizeof(sent));
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return SPAWN_PENDING;
	fd_close(&s->error_fd);
	if (got == 0)
		return 0;
	if (got != (ssize_t)sizeof(sent))
		return err_set(err, CORDON_E_SYSTEM, got < 0 ? errno : 0, "spawn",
			       "cannot read the outcome of the start");
	return accept_error(&sent, err);
}

int spawn_wait(struct spawned *s, struct cordon_error *err)
{
	struct pollfd known = { .fd = s->error_fd, .events = POLLIN };
	int outcome;

	while ((outcome = spawn_check(s, err)) == SPAWN_PENDING)
		poll(&known, 1, -1);
	return outcome;
}

void spawn_discard(struct spawned *s)
{
	siginfo_t info;

	if (s->pid > 0) {
		int sent = spawn_signal(s, SIGKILL);

		/* What we may not kill would be waited for without end. */
		if (sent == 0 || errno != EPERM)
			while (waitid(P_PID, (id_t)s->pid, &info, WEXITED) < 0 &&
			       errno == EINTR)
				;
		fd_close(&s->pidfd);
		fd_close(&s->error_fd);
	}
	*s = (struct spawned){ .pidfd = -1, .error_fd = -1 };
}

/* 0 when path can be executed, otherwise the errno that says why not. */
static int why_not_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* dir/name, or cwd/dir/name when dir is relative; not normalised, for ".." after a
 * symlink means what the kernel says it means. */
static const char *join(struct arena *a, const char *cwd, struct str dir, const char *name)
{
	if (!dir.n)
		return arena_printf(a, "%s/%s", cwd, name);
	if (dir.p[0] != '/')
		return arena_printf(a, "%s/%.*s/%s", cwd, STR_ARG(dir), name);
	return arena_printf(a, "%.*s/%s", STR_ARG(dir), name);
}

/* Words that only a shell knows. */
static bool is_of_shells(const char *name)
{
	static const char *const words[] = { "cd",    "source", "export", "alias",  "set",
					     "unset", "ulimit", "umask",  "history", "eval",
					     "exec",  "jobs",	"fg",	  "bg",	    "." };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	return false;
}

/* The bytes of NAME in NAME=VALUE; 0: it is nothing like that. */
static size_t assigned(const char *word)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
				      "0123456789";
	size_t n = strspn(word, letters);

	return n && word[n] == '=' && !(*word >= '0' && *word <= '9') ? n : 0;
}

static int not_found(const char *name, int why, struct cordon_error *err)
{
	bool searched = !strchr(name, '/');

	err_set(err, CORDON_E_NOT_FOUND, why, "exec", "%s%s", name,
		searched ? ": command not found" : "");
	if (assigned(name))
		return err_hint(err, "setting a variable before a command is a shell's: --env "
				     "%.*s=..., or env %.*s=... before the command",
				(int)assigned(name), name, (int)assigned(name), name);
	if (strchr(name, ' '))
		return err_hint(err, "that is one word with blanks in it: write the words apart, "
				     "or use sh -c");
	if (is_of_shells(name))
		return err_hint(err, "%s is a shell's own word, no program: use sh -c '%s ...'%s",
				name, name,
				strcmp(name, "cd") == 0 ? ", or -C DIR to start elsewhere" : "");
	return searched ? err_hint(err, "it is in none of the directories of PATH") : -err->code;
}

static int search_dirs(struct arena *a, const char *name, struct str dirs, const char *cwd,
		       const char **ret_path, struct cordon_error *err)
{
	const char *refused = NULL;
	int refused_errno = 0;
	struct str dir;
	bool more;

	do {
		const char *path;
		int why;

		more = str_cut(dirs, ':', &dir, &dirs);
		if (dir.n > PATH_BYTES_MAX)
			continue;
		path = join(a, cwd, dir, name);
		if (!path)
			return err_nomem(err, "exec");
		why = why_not_executable(path);
		if (!why) {
			*ret_path = path;
			return 0;
		}
		if (why == EACCES && !refused) {
			refused = path;
			refused_errno = why;
		}
	} while (more);
	if (refused)
		return err_set(err, CORDON_E_EXEC, refused_errno, "exec",
			       "cannot execute %s", refused);
	return not_found(name, 0, err);
}

int spawn_search_path(struct arena *a, const char *name, const char *path_env,
		      const char *cwd, const char **ret_path, struct cordon_error *err)
{
	const char *path;
	int why;

	if (!*name)
		return err_set(err, CORDON_E_NOT_FOUND, 0, "exec",
			       "the name of the command is empty");
	if (!strchr(name, '/'))
		return search_dirs(a, name, str_of(path_env ? path_env : "/bin:/usr/bin"),
				   cwd, ret_path, err);
	path = name[0] == '/' ? arena_dup(a, str_of(name)) : join(a, cwd, STR(""), name);
	if (!path)
		return err_nomem(err, "exec");
	why = why_not_executable(path);
	if (why == ENOENT || why == ENOTDIR)
		return not_found(name, why, err);
	if (why)
		return err_set(err, CORDON_E_EXEC, why, "exec", "cannot execute %s", name);
	*ret_path = path;
	return 0;
}
