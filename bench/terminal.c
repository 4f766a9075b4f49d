/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-terminal COMMAND...: runs it on a terminal of its own and takes what it shows as fast
 * as it comes. Exits as the command does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(int master, char **command)
{
	int slave = open(ptsname(master), O_RDWR | O_NOCTTY);

	setsid();
	if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
		_exit(125);
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
	close(slave);
	close(master);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	static char bytes[1 << 16];
	int master = posix_openpt(O_RDWR | O_NOCTTY), status;
	pid_t pid;

	if (argc < 2 || master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return 125;
	pid = fork();
	if (pid == 0)
		become(master, argv + 1);
	while (pid > 0 && (read(master, bytes, sizeof(bytes)) > 0 || errno == EINTR))
		;
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
