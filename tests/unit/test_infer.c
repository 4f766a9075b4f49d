/* SPDX-License-Identifier: Apache-2.0 */
/* report/infer: the wordings of several tools, and what must not be believed. */
#include <criterion/criterion.h>
#include <string.h>

#include "policy_fixture.h"
#include "report/infer.h"

static struct policy *policy;
static struct violations *all;

static void setup(void)
{
	fixture_setup();
	fake_world_add(&fake, STR("/home/u/.ssh/id_rsa"), NODE_FILE);
	fake_world_add(&fake, STR("/home/u/.bashrc"), NODE_FILE);
	fake_world_add(&fake, STR("/home/u/with space"), NODE_FILE);
	fake_world_add(&fake, STR("/w/.git/hooks"), NODE_DIR);
	fake_world_add(&fake, STR("/w/plain"), NODE_FILE);
	fake_world_add(&fake, STR("/usr/lib"), NODE_DIR);
	fake_world_add(&fake, STR("/usr/lib/python3/subprocess.py"), NODE_FILE);
	fake_world_add(&fake, STR("/usr/lib/x.js"), NODE_FILE);
	policy = built();
	all = violations_new();
}

static void teardown(void)
{
	violations_free(all);
	fixture_teardown();
}

TestSuite(infer, .init = setup, .fini = teardown);

static void read_as(struct str text, bool guesses_writes)
{
	struct infer infer = { .policy = policy,
			       .world = fake.world,
			       .arena = &a,
			       .violations = all,
			       .guesses_writes = guesses_writes };

	infer_text(&infer, text);
}

static void read_text(struct str text)
{
	read_as(text, true);
}

static const struct {
	const char *tool, *text;
	enum violation_op op;
	const char *object;
} believed[] = {
	{ "cat", "cat: /home/u/.ssh/id_rsa: No such file or directory\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "cat, Landlock", "cat: /home/u/.ssh/id_rsa: Permission denied\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "bash", "bash: line 1: /home/u/.bashrc: Read-only file system\n", VIOLATION_write,
	  "/home/u/.bashrc" },
	{ "bash, Landlock", "bash: line 1: /home/u/.bashrc: Permission denied\n", VIOLATION_write,
	  "/home/u/.bashrc" },
	{ "dash", "sh: 1: cannot create /home/u/.bashrc: Permission denied\n", VIOLATION_write,
	  "/home/u/.bashrc" },
	{ "bash, relative", "bash: line 1: .git/hooks/pre-commit: Read-only file system\n",
	  VIOLATION_write, "/w/.git/hooks/pre-commit" },
	{ "mkdir", "mkdir: cannot create directory '.claude': Permission denied\n", VIOLATION_write,
	  "/w/.claude" },
	{ "mkdir in UTF-8",
	  "mkdir: cannot create directory \xe2\x80\x98.claude\xe2\x80\x99: Permission denied\n",
	  VIOLATION_write, "/w/.claude" },
	{ "git, a file that is mounted on",
	  "error: could not write config file .git/config: Device or resource busy\n",
	  VIOLATION_write, "/w/.git/config" },
	{ "touch", "touch: cannot touch '/usr/x': Read-only file system\n", VIOLATION_write,
	  "/usr/x" },
	{ "ls", "ls: cannot open directory '/home/u/.ssh': Permission denied\n", VIOLATION_read,
	  "/home/u/.ssh" },
	{ "python",
	  "Traceback (most recent call last):\n"
	  "PermissionError: [Errno 13] Permission denied: '/home/u/.ssh/id_rsa'\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "python, write", "OSError: [Errno 30] Read-only file system: '/usr/x'\n", VIOLATION_write,
	  "/usr/x" },
	{ "node", "Error: EACCES: permission denied, open '/home/u/.ssh/id_rsa'\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "node, write", "Error: EROFS: read-only file system, mkdir '/usr/x'\n", VIOLATION_write,
	  "/usr/x" },
	{ "git", "error: could not lock config file /home/u/.gitconfig: Permission denied\n",
	  VIOLATION_write, "/home/u/.gitconfig" },
	{ "git, quoted", "warning: unable to access '/home/u/.ssh/id_rsa': Permission denied\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "go", "panic: open /home/u/.ssh/id_rsa: permission denied\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "go, write", "mkdir /usr/x: read-only file system\n", VIOLATION_write, "/usr/x" },
	{ "cargo",
	  "error: failed to create directory `/usr/x`\n\nCaused by:\n"
	  "  Read-only file system (os error 30)\n",
	  VIOLATION_write, "/usr/x" },
	{ "java", "java.io.FileNotFoundException: /home/u/.ssh/id_rsa (Permission denied)\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "java.nio", "java.nio.file.AccessDeniedException: /home/u/.ssh/id_rsa\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "a login shell", "-bash: /home/u/.bashrc: Read-only file system\n", VIOLATION_write,
	  "/home/u/.bashrc" },
	{ "gcc", "a.c:3:10: fatal error: /home/u/.ssh/id_rsa: Permission denied\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "a script", "./build.sh: line 3: /usr/x: Read-only file system\n", VIOLATION_write,
	  "/usr/x" },
	{ "make", "make: /home/u/.ssh/id_rsa: Permission denied\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "grep itself", "grep: /home/u/.ssh/id_rsa: Permission denied\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "logging", "ERROR:root:[Errno 13] Permission denied: '/home/u/.ssh/id_rsa'\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "a log line", "level=error msg=\"open /home/u/.ssh/id_rsa: permission denied\"\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "cp", "cp: cannot open '/home/u/.ssh/id_rsa' for reading: Permission denied\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "the error of a traceback, not its frame",
	  "  File \"/usr/lib/python3/subprocess.py\", line 3, in f\n"
	  "    open(p)\n"
	  "PermissionError: [Errno 13] Permission denied: '/home/u/.ssh/id_rsa'\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "ruby", "x.rb:1: Permission denied @ rb_sysopen - (`/home/u/.ssh/id_rsa')\n",
	  VIOLATION_OP_COUNT, NULL },
	{ "a space", "cat: /home/u/with space: Permission denied\n", VIOLATION_write,
	  "/home/u/with space" },
	{ "the end of a terminal line", "cat: /home/u/.ssh/id_rsa: Permission denied\r\n",
	  VIOLATION_read, "/home/u/.ssh/id_rsa" },
	{ "no newline", "cat: /home/u/.ssh/id_rsa: Permission denied", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "curl", "curl: (6) Could not resolve host: example.com\n", VIOLATION_resolve,
	  "example.com" },
	{ "node", "Error: getaddrinfo EAI_AGAIN example.com\n", VIOLATION_resolve, "example.com" },
	{ "wget", "wget: unable to resolve host address 'example.com'\n", VIOLATION_resolve,
	  "example.com" },
	{ "go", "Get \"https://example.com\": dial tcp: lookup example.com on 1.1.1.1:53: x\n",
	  VIOLATION_resolve, "example.com" },
	{ "ssh", "ssh: Could not resolve hostname example.com: Name or service not known\n",
	  VIOLATION_resolve, "example.com" },
	/* Not refused, not there, or not a complaint. */
	{ "allowed", "cat: /w/plain: Permission denied\n", VIOLATION_OP_COUNT, NULL },
	{ "git clone", "fatal: repository '/home/u/.ssh/id_rsa' does not exist\n", VIOLATION_read,
	  "/home/u/.ssh/id_rsa" },
	{ "git clone of nothing", "fatal: repository '/home/u/.ssh/other' does not exist\n",
	  VIOLATION_OP_COUNT, NULL },
	{ "missing", "cat: /w/none: No such file or directory\n", VIOLATION_OP_COUNT, NULL },
	{ "missing elsewhere", "cat: /usr/none: No such file or directory\n", VIOLATION_OP_COUNT,
	  NULL },
	{ "missing secret", "cat: /home/u/.ssh/other: No such file or directory\n",
	  VIOLATION_OP_COUNT, NULL },
	{ "no complaint", "/home/u/.ssh/id_rsa\n", VIOLATION_OP_COUNT, NULL },
	{ "no path", "Permission denied\n", VIOLATION_OP_COUNT, NULL },
	{ "nothing", "", VIOLATION_OP_COUNT, NULL },
};

Test(infer, wordings)
{
	for (size_t i = 0; i < sizeof(believed) / sizeof(believed[0]); i++) {
		const struct violation *v;

		violations_free(all);
		all = violations_new();
		read_text(str_of(believed[i].text));
		cr_assert_eq(violations_count(all), believed[i].object ? 1 : 0, "%s: %zu",
			     believed[i].tool, violations_count(all));
		if (!believed[i].object)
			continue;
		v = violations_at(all, 0);
		cr_assert_str_eq(v->object.p, believed[i].object, "%s", believed[i].tool);
		cr_assert_eq(v->op, believed[i].op, "%s: %s", believed[i].tool,
			     violation_op_to_string(v->op));
		cr_assert_eq(v->source, VIOLATION_BY_inferred);
	}
}

/* What must yield nothing, also where a refused write says no more than "denied". */
static const struct {
	const char *tool, *text;
} shown[] = {
	{ "the frames of a traceback",
	  "Traceback (most recent call last):\n"
	  "  File \"/w/a.py\", line 1, in <module>\n"
	  "  File \"/usr/lib/python3/subprocess.py\", line 1955, in _execute_child\n"
	  "    raise child_exception_type(errno_num, err_msg, err_filename)\n"
	  "PermissionError: [Errno 13] Permission denied: './big'\n" },
	{ "a frame right above",
	  "  File \"/usr/lib/python3/subprocess.py\", line 3, in g\n"
	  "PermissionError: [Errno 13] Permission denied\n" },
	{ "node",
	  "/usr/lib/x.js:12\n    throw new Error('Permission denied')\n    ^\n\n"
	  "Error: Permission denied\n    at Object.<anonymous> ('/usr/lib/x.js':12:9)\n" },
	{ "a compiler's place", "/usr/lib/x.js:3:10: error: Permission denied\n" },
	{ "grep -n", "notes:3:cat: /home/u/.ssh/id_rsa: Permission denied\n"
		    "12:cat: /home/u/.ssh/id_rsa: Permission denied\n"
		    "a/notes:3:cat: /home/u/.ssh/id_rsa: Permission denied\n" },
	{ "grep -r", "a/notes.txt:cat: /home/u/.ssh/id_rsa: Permission denied\n" },
	{ "diff", "+cat: /home/u/.ssh/id_rsa: Permission denied\n"
		  "-cat: /home/u/.ssh/id_rsa: Permission denied\n" },
	{ "ls -l", "-rw-r--r-- 1 u u 0 Nov 18 07:00 '/home/u/.bashrc: Permission denied'\n" },
	{ "cat -n", "     3\tcat: /home/u/.ssh/id_rsa: Permission denied\n" },
	{ "TAP", "ok 3 - '/home/u/.bashrc': Permission denied\n"
		 "not ok 4 - '/home/u/.bashrc': Permission denied\n" },
	{ "go test", "    --- PASS: TestX/'/home/u/.bashrc': Permission denied\n" },
	{ "source", "perror(\"Permission denied\"); open(\"/home/u/.bashrc\");\n"
		    "die('cat: /home/u/.ssh/id_rsa: Permission denied');\n"
		    "expect('/home/u/.bashrc').toThrow('permission denied')\n" },
	{ "prose", "'/home/u/.bashrc' should say permission denied\n" },
	{ "its own words", "expected: 'Permission denied'\n" },
	{ "a format", "\"Could not resolve host: %s\"\n" },
};

Test(infer, text_that_is_only_shown)
{
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		for (int guess = 0; guess < 2; guess++) {
			read_as(str_of(shown[i].text), guess);
			cr_assert_eq(violations_count(all), 0, "%s: %s", shown[i].tool,
				     violations_count(all) ? violations_at(all, 0)->object.p : "");
		}
}

/* Who may not read or execute a file of others says the same. */
Test(infer, writing_is_guessed_only_where_nobody_sees_it)
{
	static const char *const texts[] = {
		"cat: /usr/lib/x.js: Permission denied\n",
		"sh: 1: /usr/lib/x.js: Permission denied\n",
		"PermissionError: [Errno 13] Permission denied: '/usr/lib/x.js'\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		read_as(str_of(texts[i]), false);
		cr_assert_eq(violations_count(all), 0, "%s", texts[i]);
	}
	read_as(STR("sh: 1: cannot create /usr/lib/x.js: Permission denied\n"), false);
	cr_assert_eq(violations_count(all), 1);
	cr_assert_eq(violations_at(all, 0)->op, VIOLATION_write);
}

Test(infer, what_was_seen_is_not_inferred_again)
{
	struct violation v = { .op = VIOLATION_write,
			       .source = VIOLATION_BY_guard,
			       .object = STR("/home/u/.bashrc") };

	violations_add(all, &v);
	read_text(STR("bash: line 1: /home/u/.bashrc: Permission denied\n"));
	cr_assert_eq(violations_count(all), 1);
	cr_assert_eq(violations_at(all, 0)->count, 1);
	cr_assert_eq(violations_at(all, 0)->source, VIOLATION_BY_guard);
}

Test(infer, a_program_that_is_not_found_but_is_there)
{
	struct infer infer = { .policy = policy,
			       .world = fake.world,
			       .arena = &a,
			       .violations = all,
			       .search = "rel::/nowhere:/home/u/.ssh/:/usr/bin" };

	infer_text(&infer, STR("sh: 1: id_rsa: not found\n"
			       "bash: line 1: other: command not found\n"
			       "zsh:1: command not found: nothing\n"));
	cr_assert_eq(violations_count(all), 1);
	cr_assert_eq(violations_at(all, 0)->op, VIOLATION_exec);
	cr_assert(str_eq(violations_at(all, 0)->object, STR("/home/u/.ssh/id_rsa")));
	cr_assert_null(infer_program(&infer, STR("")));
	cr_assert_null(infer_program(&infer, STR("a/b")));
	infer.search = NULL;
	cr_assert_null(infer_program(&infer, STR("id_rsa")));
}

Test(infer, is_bounded)
{
	struct infer infer = {
		.policy = policy, .world = fake.world, .arena = &a, .violations = all
	};
	autobuf struct buf b = buf_make((size_t)4 << 20);

	buf_adds(&b, "cat: /home/u/.ssh/id_rsa: Permission denied\n");
	while (b.n < ((size_t)2 << 20))
		buf_adds(&b, "x: /a /b /c /d /e /f /g /h /i /j /k: Permission denied\n");
	cr_assert_not(b.failed);
	infer_text(&infer, buf_str(&b));
	/* Its beginning is too far from the end. */
	cr_assert_eq(violations_count(all), 0);
	cr_assert_leq(infer.complaints, INFER_COMPLAINTS_MAX);
	cr_assert_geq(infer.tries, INFER_TRIES_MAX);
}
