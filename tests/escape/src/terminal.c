/* SPDX-License-Identifier: Apache-2.0 */
/* Typing into the caller's terminal. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define HIGH_BITS ((uint64_t)0xdead << 32)

static int push(int fd, const char *text, uint64_t high)
{
	for (; *text; text++)
		if (syscall(SYS_ioctl, fd, TIOCSTI | high, text) < 0)
			return -1;
	return 0;
}

static enum outcome do_sti(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(push(0, "id\n", 0), "TIOCSTI");
}

static enum outcome do_sti_high(int argc, char **argv)
{
	(void)argc, (void)argv;
	return judge(push(0, "id\n", HIGH_BITS), "TIOCSTI with high bits");
}

static enum outcome do_sti_tty(int argc, char **argv)
{
	int fd = open("/dev/tty", O_RDWR);

	(void)argc, (void)argv;
	return judge(fd < 0 ? -1 : push(fd, "id\n", 0), "TIOCSTI on /dev/tty");
}

/* Takes the terminal as its own first. */
static enum outcome do_sti_steal(int argc, char **argv)
{
	(void)argc, (void)argv;
	if (getsid(0) != getpid()) {
		pid_t pid = fork();
		int status;

		if (pid > 0) {
			waitpid(pid, &status, 0);
			return (enum outcome)WEXITSTATUS(status);
		}
		setsid();
	}
	ioctl(0, TIOCSCTTY, 1);
	_exit((int)judge(push(0, "id\n", 0), "TIOCSCTTY, then TIOCSTI"));
}

/* A pseudo terminal does not know these two; what matters is who says so. */
static enum outcome reached(uint64_t request, const char *what)
{
	int32_t zero = 0;

	if (syscall(SYS_ioctl, 0, request, &zero) < 0 && errno == EPERM)
		return held(what);
	return judge(0, what);
}

static enum outcome do_linux(int argc, char **argv)
{
	(void)argc, (void)argv;
	return reached(TIOCLINUX, "TIOCLINUX");
}

static enum outcome do_linux_high(int argc, char **argv)
{
	(void)argc, (void)argv;
	return reached(TIOCLINUX | HIGH_BITS, "TIOCLINUX with high bits");
}

static enum outcome do_setd(int argc, char **argv)
{
	(void)argc, (void)argv;
	return reached(TIOCSETD, "TIOCSETD");
}

static void become_session(int slave, char **argv)
{
	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
	execv(argv[0], argv);
	_exit(127);
}

/* The terminal must be read, or who writes to it waits for ever. */
static void pass_on(int master, pid_t pid)
{
	struct pollfd wait[2] = {
		{ .fd = master, .events = POLLIN },
		{ .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
	};

	for (;;) {
		char text[1024];
		ssize_t n = 0;

		poll(wait, 2, -1);
		if (wait[0].revents & POLLIN)
			n = read(master, text, sizeof(text));
		if (n > 0)
			fwrite(text, 1, (size_t)n, stdout);
		else if (wait[1].revents)
			return;
	}
}

/* pty PROGRAM ARGUMENT...: runs it in a terminal and looks whether anything was typed. */
static enum outcome do_pty(int argc, char **argv)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave, typed = 0, status;
	pid_t pid;

	if (argc < 1 || master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return cannot("pty");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	pid = fork();
	if (pid == 0)
		become_session(slave, argv);
	pass_on(master, pid);
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || (WEXITSTATUS(status) != DONE && WEXITSTATUS(status) != HELD))
		return cannot("the program in the terminal");
	if (WEXITSTATUS(status) == HELD)
		return HELD;
	if (ioctl(slave, FIONREAD, &typed) < 0 || typed == 0)
		printf("the program says it typed, but nothing is there\n");
	return DONE;
}

const struct attack terminal_attacks[] = {
	{ "sti", do_sti },
	{ "sti-high", do_sti_high },
	{ "sti-tty", do_sti_tty },
	{ "sti-steal", do_sti_steal },
	{ "linux", do_linux },
	{ "linux-high", do_linux_high },
	{ "setd", do_setd },
	{ "pty", do_pty },
	{ 0 },
};
