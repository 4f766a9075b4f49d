/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be reached from here? For tests of what a backend claims.
 *
 *	probe serve DIR		outside: a TCP, UDP and unix server and shared memory;
 *				prints port, pid and shm key when it is ready
 *	probe check DIR PORT PID KEY	inside: prints "GUARANTEE open WHAT" or "... closed WHAT"
 *				for everything it tries
 *	probe names DIR		inside: the same for names that a rule keeps from being made: later
 *				in the workdir, which is denied, and hidden ones below dir
 *
 * DIR holds: denied/secret (a rule denies the directory), outside/file and
 * outside/victim (not writable). The workdir is writable, and some profiles deny exec
 * there: tool is a copy of this program in it, dynamic a copy of true(1).
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MPTCP 262

static char dir[90]; /* short enough for a unix socket in it */
static int port, server;
static unsigned key;

static void say(const char *guarantee, bool open, const char *what)
{
	printf("%s %s %s\n", guarantee, open ? "open" : "closed", what);
}

static const char *at(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static struct sockaddr_in loopback(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((unsigned short)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static socklen_t unix_address(struct sockaddr_un *a, const char *name, bool abstract)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (abstract)
		snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "probe-%u", key);
	else
		snprintf(a->sun_path, sizeof(a->sun_path), "%s/%s", dir, name);
	return abstract ? (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				      strlen(a->sun_path + 1))
			: (socklen_t)sizeof(*a);
}

static int shm;

static void leave(int sig)
{
	(void)sig;
	shmctl(shm, IPC_RMID, NULL);
	_exit(0);
}

static int bind_unix(int type, const char *name, bool abstract)
{
	struct sockaddr_un a;
	socklen_t n = unix_address(&a, name, abstract);
	int fd = socket(AF_UNIX, type, 0);

	if (bind(fd, (struct sockaddr *)&a, n) < 0 || (type == SOCK_STREAM && listen(fd, 50) < 0))
		exit(1);
	return fd;
}

/* Nothing may queue up: the next one would wait. */
static void answer(int fd)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int type = 0;
	socklen_t n = sizeof(type);
	char byte;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n);
	if (type == SOCK_STREAM)
		close(accept(fd, NULL, NULL));
	else if (recvfrom(fd, &byte, 1, 0, (struct sockaddr *)&from, &len) == 1 && len > 2)
		sendto(fd, &byte, 1, MSG_DONTWAIT, (struct sockaddr *)&from, len);
}

/* The kernel's list of sockets tells no place of this one. */
static int bind_relative(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", name);
	if (chdir(dir) < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 50) < 0)
		exit(1);
	return fd;
}

static int serve(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int tcp = socket(AF_INET, SOCK_STREAM, 0), udp = socket(AF_INET, SOCK_DGRAM, 0);
	struct pollfd p[6] = { 0 };

	key = 0x0c0d0000u + (unsigned)getpid();
	if (bind(tcp, (struct sockaddr *)&a, n) < 0 || listen(tcp, 1000) < 0 ||
	    getsockname(tcp, (struct sockaddr *)&a, &n) < 0 ||
	    bind(udp, (struct sockaddr *)&a, n) < 0)
		return 1;
	port = ntohs(a.sin_port);
	p[0].fd = tcp;
	p[1].fd = udp;
	p[2].fd = bind_unix(SOCK_STREAM, "stream", false);
	p[3].fd = bind_unix(SOCK_DGRAM, "datagram", false);
	p[4].fd = bind_unix(SOCK_STREAM, "", true);
	p[5].fd = bind_relative("relative");
	for (int i = 0; i < 6; i++)
		p[i].events = POLLIN;
	shm = shmget((key_t)key, 4096, IPC_CREAT | 0600);
	signal(SIGTERM, leave);
	printf("%d %d %u\n", port, getpid(), key);
	fflush(stdout);
	for (;;)
		if (poll(p, 6, -1) > 0)
			for (int i = 0; i < 6; i++)
				if (p[i].revents)
					answer(p[i].fd);
}

static void check_files(void)
{
	int fd = open(at("denied/secret"), O_RDONLY);
	DIR *d;

	say("files", fd >= 0, "read a denied file");
	d = opendir(at("denied"));
	say("files", d && errno != EACCES && readdir(d) && readdir(d) && readdir(d),
	    "list a denied directory");
	fd = open(at("outside/file"), O_WRONLY);
	say("files", fd >= 0, "write outside");
	fd = open(at("outside/new"), O_WRONLY | O_CREAT, 0600);
	say("files", fd >= 0, "create outside");
	say("files", truncate(at("outside/file"), 0) == 0, "truncate outside");
	fd = open(at("outside/file"), O_RDONLY | O_TRUNC);
	say("files",
	    fd >= 0 && access(at("outside/file"), F_OK) == 0 && lseek(fd, 0, SEEK_END) == 0,
	    "truncate by opening outside");
	say("files", mkdir(at("outside/directory"), 0700) == 0, "make a directory outside");
	say("files", unlink(at("outside/victim")) == 0, "remove outside");
	say("files", link(at("outside/file"), "linked") == 0, "link from outside");
}

static void check_metadata(void)
{
	say("metadata", chmod(at("outside/file"), 0640) == 0, "chmod");
	say("metadata", chown(at("outside/file"), getuid(), getgid()) == 0, "chown");
	say("metadata", utimensat(AT_FDCWD, at("outside/file"), NULL, 0) == 0, "utimes");
	say("metadata", setxattr(at("outside/file"), "user.probe", "x", 1, 0) == 0, "setxattr");
}

/* In a network of its own, a socket that was given the very port it calls reaches itself. */
static bool is_itself(int fd)
{
	struct sockaddr_in own = { 0 }, a = loopback();
	socklen_t n = sizeof(own);

	return getsockname(fd, (struct sockaddr *)&own, &n) == 0 && own.sin_port == a.sin_port;
}

static bool connects(int type, int protocol)
{
	struct sockaddr_in a = loopback();
	int fd = socket(AF_INET, type, protocol);
	bool connected = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
			 !is_itself(fd);

	close(fd);
	return connected;
}

static bool fast_open(void)
{
	struct sockaddr_in a = loopback();
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool sent = fd >= 0 &&
		    sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&a, sizeof(a)) >= 0;

	close(fd);
	return sent;
}

/* Answered, or refused at once. */
static bool datagram(void)
{
	struct sockaddr_in a = loopback();
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char byte;
	bool answered = fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0 &&
			!is_itself(fd) && send(fd, "x", 1, 0) == 1 && poll(&p, 1, 2000) == 1 &&
			recv(fd, &byte, 1, 0) == 1;

	close(fd);
	return answered;
}

static void check_network(void)
{
	say("network", connects(SOCK_STREAM, 0), "connect to the host's loopback");
	say("network", connects(SOCK_STREAM, MPTCP), "connect by MPTCP");
	say("network", fast_open(), "connect by fast open");
	say("network", datagram(), "exchange datagrams");
}

static bool reaches(int fd, const char *name, bool abstract, bool stream)
{
	struct sockaddr_un a;
	socklen_t n = unix_address(&a, name, abstract);

	if (fd < 0)
		return false;
	return stream ? connect(fd, (struct sockaddr *)&a, n) == 0
		      : sendto(fd, "x", 1, 0, (struct sockaddr *)&a, n) == 1;
}

static void check_sockets(void)
{
	int pair[2] = { -1, -1 };

	say("unix-sockets", reaches(socket(AF_UNIX, SOCK_STREAM, 0), "stream", false, true),
	    "connect to a unix socket");
	say("unix-sockets", reaches(socket(AF_UNIX, SOCK_STREAM, 0), "relative", false, true),
	    "connect to a unix socket without a full path");
	say("unix-sockets", reaches(socket(AF_UNIX, SOCK_DGRAM, 0), "datagram", false, false),
	    "send to a unix socket");
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		pair[0] = -1;
	say("unix-sockets", reaches(pair[0], "datagram", false, false), "send from a pair");
	say("unix-sockets", reaches(socket(AF_UNIX, SOCK_STREAM, 0), "", true, true),
	    "connect to an abstract socket");
}

static bool sees_server(void)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	bool seen = false;

	while (d && !seen && (e = readdir(d))) {
		char path[300], text[4096];
		int fd;
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%s/cmdline", e->d_name);
		fd = open(path, O_RDONLY);
		n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
		close(fd);
		for (ssize_t i = 0; i + 5 < n && !seen; i++)
			seen = memcmp(text + i, "\0serve", 6) == 0 &&
			       memmem(text, (size_t)n, dir, strlen(dir));
	}
	return seen;
}

static void check_processes(void)
{
	char path[64];

	say("processes", sees_server(), "see a process outside");
	say("processes", kill(server, 0) == 0, "signal a process outside");
	snprintf(path, sizeof(path), "/proc/%d/environ", server);
	/* Another process may have the number inside. */
	say("processes", sees_server() && open(path, O_RDONLY) >= 0,
	    "read a process's environment");
}

static void check_exec(void)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0) {
		execl("./tool", "tool", "nothing", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	say("exec", status == 0, "execute from the workdir");
	pid = fork();
	if (pid == 0) {
		if (execl("/lib64/ld-linux-x86-64.so.2", "ld", "./dynamic", (char *)NULL) < 0)
			_exit(1);
	}
	waitpid(pid, &status, 0);
	say("exec", status == 0, "execute from the workdir by the loader");
}

static void check_rest(void)
{
	bool ring = syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno != ENOSYS;

	say("ipc", shmget((key_t)key, 4096, 0) >= 0, "open shared memory of the host");
	say("environment", getenv("PROBE_TOKEN"), "see a variable that was not passed");
	say("terminal", open("/dev/tty", O_RDWR) >= 0, "open the terminal");
	say("privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1, "gain privileges");
	say("kernel-surface", ring, "use io_uring");
	say("kernel-surface", syscall(SYS_keyctl, 0, -3, 0) >= 0, "use keyctl");
	say("kernel-surface", unshare(CLONE_NEWUSER) == 0, "make a user namespace");
}

static bool makes(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	return fd >= 0 && close(fd) == 0;
}

static void check_names(void)
{
	bool made = makes("later");

	say("guard", made, "make a file of a denied name");
	say("exact", made, "make a file of a denied name");
	made = mkdir("later", 0700) == 0;
	say("guard", made, "make a directory of a denied name");
	say("exact", made, "make a directory of a denied name");
	made = mkdir("built", 0700) == 0 && rename("built", "later") == 0;
	say("guard", made, "move a directory to a denied name");
	say("exact", made, "move a directory to a denied name");
	say("hidden-names", makes("dir/.new"), "make a hidden file");
	say("hidden-names", open("dir/.there", O_WRONLY) >= 0, "write a hidden file");
	say("hidden-names", rename("dir/.there", "dir/shown") == 0, "move a hidden file");
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 0;
	if (snprintf(dir, sizeof(dir), "%s", argv[2]) >= (int)sizeof(dir))
		return 2;
	if (strcmp(argv[1], "serve") == 0)
		return serve();
	if (strcmp(argv[1], "names") == 0) {
		check_names();
		return 0;
	}
	if (argc != 6)
		return 2;
	port = (int)strtol(argv[3], NULL, 10);
	server = (int)strtol(argv[4], NULL, 10);
	key = (unsigned)strtoul(argv[5], NULL, 10);
	check_files();
	check_metadata();
	check_network();
	check_sockets();
	check_processes();
	check_exec();
	check_rest();
	return 0;
}
