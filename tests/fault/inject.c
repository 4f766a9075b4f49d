/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes each system call of `cordon run` fail in turn, in the supervisor and in what it
 * starts, up to the exec of the command and in the supervisor to the end.
 *
 *	inject CORDON MARKER [--backend B] [--profile P] [--protect S] [--uid N] [--sample]
 *	       [--flag WORD]... [--all-errnos] [--only PROCESS:CALL:ERRNO]
 *
 * --sample leaves out most of those that repeat, such as one of 170 Landlock rules. --flag
 * gives `cordon run` one more word.
 *
 * Whatever fails, one of two things is true: the command (marker.c) ran with all that
 * was promised, or it did not run and cordon said at which stage, one that such a call belongs
 * to, and exited with 125, or with 126 or 127 where it was the exec.
 * Nothing crashes, hangs or leaves a process, mount or file behind. Prints TAP.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace.h"

#define SECONDS_MAX 20
#define TEXT_MAX 16384
#define FAILURES_SHOWN 40
#define WORDS_MAX 48
#define FLAGS_MAX 8

/* What real root keeps (native.c). */
#define ROOT_CAPS "1b"

struct scene {
	const char *cordon, *marker, *backend, *profile;
	const char *protect; /* NULL: as the profile has it */
	uid_t uid;
	bool sample, all_errnos, own_tmp;
	const char *only;
	const char *flags[FLAGS_MAX];
	size_t n_flags;

	char root[64];
	char work[80], home[80], program[96], command[96], caps[16];
	char namespaces[512];
	char secrets[3][112];
	char *argv[WORDS_MAX];
	size_t n_options; /* before the command */
	char *envp[8];

	int files;
	char mounts[1 << 16];
	struct trace *trace;
	int cases, ran, failures;
};

struct outcome {
	char out[TEXT_MAX], err[TEXT_MAX];
};

/* The first five in rotation; all of them for --all-errnos. Not ENOENT: what the kernel
 * says is not there is not there. */
static const int errnos[] = { EPERM, ENOMEM, EIO, ENOSPC, EMFILE, EINTR, EINVAL, EACCES, ENOSYS };
#define ERRNOS (sizeof(errnos) / sizeof(errnos[0]))
#define ROTATION 5

_Noreturn static void bail(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- the scene ---------------------------------------------------------------------- */

static void put_file(struct scene *s, const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    (s->uid && fchown(fd, s->uid, s->uid) < 0))
		bail(path);
	close(fd);
}

static void put_dir(struct scene *s, const char *path)
{
	if (mkdir(path, 0755) < 0 || (s->uid && chown(path, s->uid, s->uid) < 0))
		bail(path);
}

static void copy_program(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0755);
	struct stat st;
	off_t at = 0;

	if (in < 0 || out < 0 || fstat(in, &st) < 0)
		bail(from);
	while (at < st.st_size)
		if (copy_file_range(in, &at, out, NULL, (size_t)(st.st_size - at), 0) <= 0)
			bail(from);
	if (fchmod(out, 0755) < 0)
		bail(to);
	close(in);
	close(out);
}

/* It is taken from beside cordon. */
static void copy_relay(const struct scene *s)
{
	const char *slash = strrchr(s->cordon, '/');
	char from[4096], to[128];

	snprintf(from, sizeof(from), "%.*s/cordon-relay", slash ? (int)(slash - s->cordon) : 1,
		 slash ? s->cordon : ".");
	snprintf(to, sizeof(to), "%s/cordon-relay", s->root);
	copy_program(from, to);
}

static bool is_landlock(const struct scene *s)
{
	return strcmp(s->backend, "landlock") == 0;
}

static bool has_flag(const struct scene *s, const char *flag)
{
	for (size_t i = 0; i < s->n_flags; i++)
		if (strcmp(s->flags[i], flag) == 0)
			return true;
	return false;
}

/* permissive shares the network, and says so by its name. */
static bool is_shared(const struct scene *s, const char *namespace)
{
	return (strcmp(namespace, "net") == 0 && strcmp(s->profile, "permissive") == 0) ||
	       (strcmp(namespace, "pid") == 0 && has_flag(s, "--share-pid"));
}

static void list_namespaces(struct scene *s)
{
	static const char *const names[] = { "mnt", "user", "pid", "ipc", "uts", "net" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[64];
		struct stat st;
		size_t used = strlen(s->namespaces);

		if (is_shared(s, names[i]))
			continue;
		snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		if (stat(path, &st) < 0)
			bail(path);
		snprintf(s->namespaces + used, sizeof(s->namespaces) - used, "%s%s=%llu",
			 used ? "," : "", names[i], (unsigned long long)st.st_ino);
	}
}

/* One secret of the profile's, one of the user's configuration, one of the project's. */
static void make_files(struct scene *s)
{
	char path[128], text[512];

	snprintf(s->secrets[0], sizeof(s->secrets[0]), "%s/.ssh/id", s->home);
	snprintf(s->secrets[1], sizeof(s->secrets[1]), "%s/user-says-no", s->work);
	snprintf(s->secrets[2], sizeof(s->secrets[2]), "%s/project-says-no", s->work);
	put_dir(s, s->work);
	put_dir(s, s->home);
	snprintf(path, sizeof(path), "%s/.ssh", s->home);
	put_dir(s, path);
	snprintf(path, sizeof(path), "%s/.cordon", s->home);
	put_dir(s, path);
	for (size_t i = 0; i < 3; i++)
		put_file(s, s->secrets[i], "secret\n", 0600);
	snprintf(path, sizeof(path), "%s/.cordon/config.toml", s->home);
	snprintf(text, sizeof(text), "[sandbox]\ndeny = [\"%s\"]\n", s->secrets[1]);
	put_file(s, path, text, 0644);
	snprintf(path, sizeof(path), "%s/.cordon.toml", s->work);
	put_file(s, path, "[sandbox]\ndeny = [\"project-says-no\"]\n", 0644);
}

static void add_words(struct scene *s, size_t *n, const char *const *words, size_t count)
{
	memcpy(s->argv + *n, words, count * sizeof(*words));
	*n += count;
}

static void make_command(struct scene *s)
{
	static char home[128], path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=C";
	const char *const argv[] = { s->program, "run", "-p", s->profile, "--backend", s->backend };
	/* Nothing is writable, so that it can promise the file rules. */
	const char *const alone[] = { "-p",	      "custom", "--fallback",	"degrade",
				      "--allow-read", "/",	"--allow-exec", "/",
				      "--allow-read", s->root,	"--deny",	"~/.ssh" };
	/* bwrap has no broker, and what asks for one is refused. */
	const char *protect = s->protect			   ? s->protect
			      : strcmp(s->backend, "bwrap") == 0 ? "guard"
								   : NULL;
	const char *const strength[] = { "--protect", protect };
	const char *const command[] = { "--",	       s->command,    s->caps,	    s->namespaces,
					s->secrets[0], s->secrets[1], s->secrets[2] };
	size_t n = 0;

	snprintf(home, sizeof(home), "HOME=%s", s->home);
	add_words(s, &n, argv, sizeof(argv) / sizeof(argv[0]));
	if (is_landlock(s))
		add_words(s, &n, alone, sizeof(alone) / sizeof(alone[0]));
	if (protect)
		add_words(s, &n, strength, sizeof(strength) / sizeof(strength[0]));
	add_words(s, &n, s->flags, s->n_flags);
	add_words(s, &n, command, sizeof(command) / sizeof(command[0]));
	s->n_options = n - sizeof(command) / sizeof(command[0]) + 1;
	s->envp[0] = home;
	s->envp[1] = path;
	s->envp[2] = lang;
}

/* A root's test gets a tree of mounts and a /tmp that nobody else changes. */
static void own_mounts(struct scene *s)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) < 0)
		return;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777") < 0)
		bail("private mounts");
	s->own_tmp = true;
}

static void make_scene(struct scene *s)
{
	snprintf(s->root, sizeof(s->root), "/var/tmp/cordon-inject.XXXXXX");
	if (!mkdtemp(s->root) || chmod(s->root, 0755) < 0)
		bail(s->root);
	snprintf(s->work, sizeof(s->work), "%s/work", s->root);
	snprintf(s->home, sizeof(s->home), "%s/home", s->root);
	snprintf(s->program, sizeof(s->program), "%s/cordon", s->root);
	snprintf(s->command, sizeof(s->command), "%s/work/marker", s->root);
	snprintf(s->caps, sizeof(s->caps), "%s",
		 is_landlock(s) && (s->uid || geteuid() != 0) ? "0,bounding"
		 : geteuid() == 0 && !s->uid && strcmp(s->backend, "native") == 0 ? ROOT_CAPS
										  : "0");
	copy_program(s->cordon, s->program);
	copy_relay(s);
	make_files(s);
	copy_program(s->marker, s->command);
	own_mounts(s);
	if (is_landlock(s))
		snprintf(s->namespaces, sizeof(s->namespaces), "%s",
			 "refuses-inet,refuses-unix,refuses-ipc");
	else
		list_namespaces(s);
	make_command(s);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int files_seen;

static int count_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)st;
	(void)type;
	(void)at;
	files_seen++;
	return 0;
}

static int count_files(const struct scene *s)
{
	files_seen = 0;
	nftw(s->root, count_one, 16, FTW_PHYS);
	if (s->own_tmp)
		nftw("/tmp", count_one, 16, FTW_PHYS);
	return files_seen;
}

static void read_text(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
}

static void read_mounts(char *text, size_t size)
{
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;

	while (used + 1 < size && (n = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	close(fd);
}

/* One that is not in `before`, by its number, its parent's and its device's. Others go from here
 * when somebody removes the directory that they are on. */
static bool has_new_mount(const char *before, const char *now)
{
	for (const char *line = now; *line; line += strspn(line, "\n")) {
		char key[64];
		int id, parent;
		unsigned major, minor;

		if (sscanf(line, "%d %d %u:%u", &id, &parent, &major, &minor) != 4)
			return true;
		snprintf(key, sizeof(key), "\n%d %d %u:%u ", id, parent, major, minor);
		if (!strstr(before, key) && strncmp(before, key + 1, strlen(key + 1)) != 0)
			return true;
		line += strcspn(line, "\n");
	}
	return false;
}

/* --- one case ----------------------------------------------------------------------- */

static const char *call_name(long number)
{
	static char text[32];
	static const struct {
		long number;
		const char *name;
	} names[] = {
#define N(x) { SYS_##x, #x }
		N(read), N(write), N(open), N(openat), N(close), N(stat), N(fstat), N(lstat),
		N(newfstatat), N(access), N(faccessat), N(faccessat2), N(mmap), N(munmap), N(brk),
		N(mprotect), N(prctl), N(rt_sigaction), N(rt_sigprocmask), N(ioctl), N(fcntl),
		N(clone), N(clone3), N(vfork), N(execve), N(wait4), N(waitid), N(epoll_wait),
		N(epoll_ctl), N(epoll_create1), N(signalfd4), N(readlink), N(getcwd), N(prlimit64),
		N(setsid), N(setpgid), N(poll), N(dup2), N(close_range), N(capset), N(capget),
		N(mount), N(umount2), N(pivot_root), N(move_mount), N(open_tree), N(fsopen),
		N(fsconfig), N(fsmount), N(mount_setattr), N(openat2), N(mkdirat), N(symlinkat),
		N(fchmodat), N(chdir), N(fchdir), N(keyctl), N(seccomp), N(pipe2), N(socket),
		N(landlock_create_ruleset), N(landlock_add_rule), N(landlock_restrict_self),
		N(mkdir), N(chmod), N(pidfd_open), N(pidfd_send_signal), N(arch_prctl),
		N(getrandom), N(set_tid_address), N(set_robust_list), N(rseq), N(getdents64),
		N(lseek), N(unlinkat), N(unshare), N(setns), N(fork), N(epoll_pwait), N(chroot),
#undef N
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			return names[i].name;
	snprintf(text, sizeof(text), "call %ld", number);
	return text;
}

/* Calls that have no failure to report. */
static bool cannot_fail(long number)
{
	static const long list[] = {
		SYS_exit,    SYS_exit_group, SYS_rt_sigreturn, SYS_getpid,  SYS_getppid,
		SYS_gettid,  SYS_getuid,     SYS_geteuid,      SYS_getgid,  SYS_getegid,
		SYS_umask,   SYS_sched_yield, SYS_set_tid_address, SYS_getpgrp,
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (list[i] == number)
			return true;
	return false;
}

/* Before main() the C library may end the program in its own way. */
static bool before_main(const struct trace *t, int call)
{
	static const long list[] = {
		SYS_brk, SYS_arch_prctl, SYS_set_tid_address, SYS_set_robust_list, SYS_rseq,
		SYS_prlimit64, SYS_readlink, SYS_getrandom, SYS_mprotect, SYS_mmap, SYS_munmap,
	};

	for (int i = 0; i <= call; i++) {
		bool known = false;

		for (size_t k = 0; k < sizeof(list) / sizeof(list[0]); k++)
			known |= t->calls[0][i].number == list[k];
		if (!known)
			return false;
	}
	return true;
}

static int run_case(struct scene *s, const struct trace_target *target, struct outcome *o)
{
	struct trace_start start = {
		.program = s->program, .argv = s->argv, .envp = s->envp, .cwd = s->work,
		.uid = s->uid, .seconds = SECONDS_MAX,
		.out = memfd_create("out", MFD_CLOEXEC), .err = memfd_create("err", MFD_CLOEXEC),
	};
	int r = trace_run(&start, target, s->trace);

	read_text(start.out, o->out, sizeof(o->out));
	read_text(start.err, o->err, sizeof(o->err));
	close(start.out);
	close(start.err);
	return r;
}

static bool declared(const struct outcome *o, const char *guarantee)
{
	const char *note = strstr(o->err, "not enforced by ");
	const char *end = note ? strchr(note, '\n') : NULL;
	const char *at = note ? strstr(note, guarantee) : NULL;

	return at && (!end || at < end);
}

/* NULL, or the first loss that cordon did not announce. */
static const char *undeclared_loss(struct outcome *o)
{
	char name[32];

	for (char *at = strstr(o->out, "lost "); at; at = strstr(at + 1, "\nlost ")) {
		if (*at == '\n')
			at++;
		if (sscanf(at, "lost %31s", name) == 1 && !declared(o, name)) {
			at[strcspn(at, "\n")] = '\0';
			return at;
		}
	}
	return NULL;
}

/* A stage is a word of one of these; what a call of the families is about is said at one of
 * theirs. A backend that a failing probe takes away is missed by `backend` or `compile`. */
static const char known_stages[] =
	" access backend broker bwrap clone compile config egress exec execute fork git guard "
	"hand-over hidden init input keep keyring landlock launch left limits list listener "
	"loop loopback mount name-server namespaces native output places privileges proc probe "
	"quarantine read relay resolve run scratch seccomp session sockets spawn start "
	"status streams terminal write ";
static const struct {
	const char *calls, *stages;
} families[] = {
	{ " landlock_create_ruleset landlock_add_rule landlock_restrict_self ",
	  " landlock backend broker " },
	{ " mount umount2 pivot_root move_mount open_tree fsopen fsconfig fsmount mount_setattr ",
	  " mount proc backend compile " },
	{ " unshare setns ", " namespaces backend broker " },
	{ " capset capget ", " privileges broker compile input landlock " },
	{ " prctl ", " privileges broker run spawn backend namespaces " },
	{ " seccomp ", " seccomp listener broker compile " },
	{ " keyctl ", " keyring " },
	{ " setsid ", " session spawn broker " },
	{ " clone clone3 vfork fork ", " clone fork spawn namespaces backend broker " },
	{ " execve ", " exec spawn " },
	{ " epoll_create1 epoll_ctl epoll_wait epoll_pwait signalfd4 ", " loop " },
	{ " getcwd ", " places " },
};

static bool has_word(const char *words, const char *word, size_t n)
{
	char text[64];

	return n && n + 2 < sizeof(text) &&
	       snprintf(text, sizeof(text), " %.*s ", (int)n, word) > 0 && strstr(words, text);
}

/* The first "cordon: stage: message"; its length, 0 when there is none. */
static size_t first_stage(const char *text, const char **ret)
{
	for (const char *at = strstr(text, "cordon: "); at; at = strstr(at + 1, "cordon: ")) {
		const char *word = at + strlen("cordon: ");
		size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz-");

		*ret = word;
		if (n && strncmp(word + n, ": ", 2) == 0 && word[n + 2])
			return n;
	}
	return 0;
}

/* NULL, or what is wrong with how the failure of the call was told. */
static const char *judge_stage(const struct trace_call *call, const struct outcome *o, int code)
{
	const char *name = call_name(call->number), *stage;
	size_t n = first_stage(o->err, &stage);

	if (!n)
		return "no message that names a stage";
	if (!has_word(known_stages, stage, n))
		return "a stage that nobody knows";
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (has_word(families[i].calls, name, strlen(name)) &&
		    !has_word(families[i].stages, stage, n))
			return "a stage that is not the call's";
	return code == 125 || has_word(" exec ", stage, n) ? NULL : "not status 125";
}

/* A directory whose removal was made to fail stays, and that is said. */
static bool declared_debris(const struct scene *s, const struct outcome *o)
{
	return is_landlock(s) && count_files(s) == s->files + 1 &&
	       strstr(o->err, "could not remove /");
}

static const char *judge_left(struct scene *s, const struct outcome *o)
{
	static char mounts[sizeof(s->mounts)];

	if (s->trace->left)
		return "a process is left";
	if (count_files(s) != s->files && !declared_debris(s, o))
		return "a file is left or gone";
	s->files = count_files(s);
	read_mounts(mounts, sizeof(mounts));
	return has_new_mount(s->mounts, mounts) ? "a mount is left" : NULL;
}

/* Is it the very call that would have said it? */
static bool silenced(const struct scene *s, const struct trace_target *target)
{
	const struct trace_call *call = &s->trace->calls[target->process][target->call];

	return call->number == SYS_write && call->first == 2;
}

static const char *judge_end(const struct scene *s, const struct trace_target *target,
			     const struct outcome *o)
{
	bool ran = strncmp(o->out, "ran\n", 4) == 0;
	bool done = ran && strstr(o->out, "\ndone\n");
	bool early = target->process == 0 && before_main(s->trace, target->call);
	int status = s->trace->status, code;

	if (WIFSIGNALED(status))
		return !ran && early ? NULL : "cordon was killed by a signal";
	code = WEXITSTATUS(status);
	if (done && code == 0)
		return NULL;
	if (code < 125 || code > 127)
		return ran ? "wrong status although the command ran" : "wrong status";
	if (early || silenced(s, target))
		return NULL;
	return judge_stage(&s->trace->calls[target->process][target->call], o, code);
}

static void show_text(char *text)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		printf("#\t%s\n", line);
}

/* What is wrong with one run; NULL: nothing. */
static const char *judge_run(struct scene *s, struct trace_target *target, struct outcome *o)
{
	const char *wrong = NULL;

	if (run_case(s, target, o) < 0)
		bail("trace");
	if (s->trace->hung)
		wrong = "hangs";
	if (!wrong && !silenced(s, target))
		wrong = undeclared_loss(o);
	if (!wrong && s->trace->injected)
		wrong = judge_end(s, target, o);
	return wrong ? wrong : judge_left(s, o);
}

static void try_call(struct scene *s, int process, int call, int errnum)
{
	static struct outcome o;
	struct trace_target target = { process, call, errnum };
	const char *wrong = judge_run(s, &target, &o);

	s->cases++;
	s->ran += strncmp(o.out, "ran\n", 4) == 0;
	if (!wrong)
		return;
	if (s->failures++ < FAILURES_SHOWN)
		printf("# %d:%d:%d %s(%#lx) = %s: %s (status %#x)\n", process, call, errnum,
		       call_name(s->trace->calls[process][call].number),
		       s->trace->calls[process][call].first, strerror(errnum), wrong,
		       (unsigned)s->trace->status);
	if (s->failures <= FAILURES_SHOWN)
		show_text(o.err);
	fflush(stdout);
	s->files = count_files(s);
	read_mounts(s->mounts, sizeof(s->mounts));
}

/* --- the sweep ---------------------------------------------------------------------- */

static void sweep_call(struct scene *s, int process, int call, int turn)
{
	if (s->all_errnos)
		for (size_t e = 0; e < ERRNOS; e++)
			try_call(s, process, call, errnos[e]);
	else
		try_call(s, process, call, errnos[turn % ROTATION]);
}

/* The first ones of their kind in a process, and fewer and fewer after them. */
static bool in_sample(const struct trace *t, int process, int call)
{
	int before = 0;

	for (int c = 0; c < call; c++)
		before += t->calls[process][c].number == t->calls[process][call].number;
	return before < 3 || (before & (before - 1)) == 0;
}

static void sweep(struct scene *s, const struct trace *reference)
{
	int turn = 0;

	for (int p = 0; p < reference->n_processes; p++)
		for (int c = 0; c < reference->n_calls[p]; c++)
			if (!cannot_fail(reference->calls[p][c].number) &&
			    (!s->sample || in_sample(reference, p, c)))
				sweep_call(s, p, c, turn++);
}

/* Nothing fails: the marker must be content, and its eyes open. */
static void check_reference(struct scene *s, struct trace *ret)
{
	static struct outcome o;
	struct trace_target none = { .process = -1 };

	if (run_case(s, &none, &o) < 0)
		bail("trace");
	if (s->trace->hung || s->trace->status != 0 || !strstr(o.out, "\ndone\n") ||
	    undeclared_loss(&o)) {
		printf("# status %#x\n# %s\n# %s\n", (unsigned)s->trace->status, o.out, o.err);
		bail("without a failure the run is not as it should be");
	}
	*ret = *s->trace;
	s->files = count_files(s);
	read_mounts(s->mounts, sizeof(s->mounts));
}

/* The marker outside of any boundary: it must notice. */
static bool marker_notices(struct scene *s)
{
	static struct outcome o;
	char *confined[WORDS_MAX];
	bool noticed;

	memcpy(confined, s->argv, sizeof(confined));
	memmove(s->argv, s->argv + s->n_options,
		sizeof(s->argv) - s->n_options * sizeof(s->argv[0]));
	memcpy(s->program, s->command, sizeof(s->program));
	run_case(s, &(struct trace_target){ .process = -1 }, &o);
	noticed = strstr(o.out, "lost privileges no_new_privs") &&
		  strstr(o.out, is_landlock(s) ? "lost network inet" : "namespace mnt") &&
		  strstr(o.out, "lost kernel-surface") && strstr(o.out, "lost landlock") &&
		  strstr(o.out, "id was read");
	memcpy(s->argv, confined, sizeof(confined));
	snprintf(s->program, sizeof(s->program), "%s/cordon", s->root);
	return noticed;
}

static void parse(struct scene *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "backend", required_argument, NULL, 'b' },
		{ "profile", required_argument, NULL, 'p' },
		{ "protect", required_argument, NULL, 'x' },
		{ "uid", required_argument, NULL, 'u' },
		{ "flag", required_argument, NULL, 'f' },
		{ "sample", no_argument, NULL, 's' },
		{ "all-errnos", no_argument, NULL, 'a' },
		{ "only", required_argument, NULL, 'o' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'b')
			s->backend = optarg;
		else if (c == 'p')
			s->profile = optarg;
		else if (c == 'x')
			s->protect = optarg;
		else if (c == 'u')
			s->uid = geteuid() == 0 ? (uid_t)strtoul(optarg, NULL, 10) : 0;
		else if (c == 'f' && s->n_flags < FLAGS_MAX)
			s->flags[s->n_flags++] = optarg;
		else if (c == 's')
			s->sample = true;
		else if (c == 'a')
			s->all_errnos = true;
		else if (c == 'o')
			s->only = optarg;
		else
			exit(2);
	}
	if (optind + 2 != argc)
		exit(2);
	s->cordon = argv[optind];
	s->marker = argv[optind + 1];
}

int main(int argc, char **argv)
{
	static struct scene s = { .backend = "native", .profile = "strict" };
	struct trace *reference = malloc(sizeof(*reference));
	int process, call, errnum;

	parse(&s, argc, argv);
	s.trace = malloc(sizeof(*s.trace));
	if (!reference || !s.trace)
		bail("memory");
	make_scene(&s);
	check_reference(&s, reference);
	printf("%s - the marker notices that nothing confines it\n",
	       marker_notices(&s) ? "ok 1" : "not ok 1");
	if (s.only && sscanf(s.only, "%d:%d:%d", &process, &call, &errnum) == 3)
		try_call(&s, process, call, errnum);
	else
		sweep(&s, reference);
	printf("# %d cases, the command ran in %d\n", s.cases, s.ran);
	printf("%s - %s, %s, uid %d: no failing call weakens, crashes or litters\n1..2\n",
	       s.failures || !s.cases ? "not ok 2" : "ok 2", s.backend, s.profile,
	       s.uid ? (int)s.uid : (int)geteuid());
	nftw(s.root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return s.failures != 0;
}
