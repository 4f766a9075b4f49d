# Rows that only make sense where the files are real: every profile on the same tree, and
# what mounts, Landlock and noexec have to do for one rule at a time.
dir /w/src /w/.git/hooks /w/.git/objects /w/.vscode /w/keep/open /w/private /w/tools
dir /home/u/.ssh /home/u/.config/gh /home/u/.config/git /home/u/.local/bin /home/u/docs /x/y
file /w/a /w/src/main.c /w/.env /w/.mcp.json /w/.git/config /w/.git/hooks/pre-commit /w/.git/HEAD
file /w/.git/objects/o /w/.vscode/tasks.json /w/private/key /w/private/pub /w/keep/ro /w/keep/open/rw
file /home/u/.ssh/id /home/u/.netrc /home/u/.bashrc /home/u/.config/gh/hosts.yml
file /home/u/.config/git/config /home/u/docs/d /home/u/.local/bin/tool /x/f /x/y/z
place workdir /w
place home /home/u

policy moderate
moderate read /w/a
moderate write /w/a
moderate write /w/src/main.c
moderate write /w/new
moderate write /w/.env
moderate write /w/.mcp.json
moderate write /w/.git/config
moderate write /w/.git/hooks/pre-commit
moderate write /w/.git/hooks/new
moderate write /w/.git/HEAD
moderate write /w/.git/objects/new
moderate write /w/.vscode/tasks.json
moderate read /home/u/.ssh/id
moderate read /home/u/.ssh
moderate read /home/u/.netrc
moderate read /home/u/.bashrc
moderate write /home/u/.bashrc
moderate read /home/u/.config/gh/hosts.yml
moderate read /home/u/.config/git/config
moderate read /home/u/docs/d
moderate write /home/u/docs/d
moderate write /home/u/new
moderate read /etc/passwd
moderate write /etc/passwd
moderate read /etc/shadow
moderate write /tmp/new
moderate write /dev/shm/new
moderate exec /w/tools/t
moderate exec /x/t

policy strict --profile strict
strict read /w/a
strict write /w/src/main.c
strict write /w/.env
strict write /w/.git/HEAD
strict read /w/.git/HEAD
strict write /w/.vscode/tasks.json
strict read /home/u/docs/d
strict read /home/u/.bashrc
strict read /x/f
strict read /etc/passwd
strict read /etc/fstab
strict write /tmp/new
strict exec /w/tools/t

policy permissive --profile permissive
permissive write /home/u/docs/d
permissive write /home/u/new
permissive write /home/u/.bashrc
permissive read /home/u/.ssh/id
permissive write /home/u/.ssh/new
permissive read /home/u/.netrc
permissive write /home/u/.local/bin/tool
permissive write /home/u/.local/new
permissive write /x/f
permissive write /etc/passwd

policy shell --profile shell
shell exec /w/tools/t
shell exec /x/t
shell read /w/tools/t
shell write /w/tools/t
shell write /w/src/main.c
shell read /home/u/docs/d
shell write /w/.env

policy agent --profile agent
agent read /x/f
agent write /x/f
agent write /home/u/docs/d
agent write /w/a

# read-only inside writable, writable inside that, and a deny of what exists
policy nest --allow-read /w/keep --allow-write /w/keep/open --deny /w/private
nest write /w/keep/ro
nest read /w/keep/ro
nest write /w/keep/new
nest write /w/keep/open/rw
nest write /w/keep/open/new
nest read /w/private/key
nest write /w/private/new
nest read /w/private

# one file of a denied directory; a denied file of a readable one
policy single --deny /w/private --allow-read =/w/private/pub --deny =/w/src/main.c --allow-write =/x/f
single read /w/private/pub
single read /w/private/key
single write /w/private/pub
single read /w/src/main.c
single write /w/src/main.c
single write /w/src/new
single write /x/f
single write /x/y/z
single write /x/new

# a secret opened by name, and only that
policy opened --allow-read /home/u/.ssh/id --deny /x
opened read /home/u/.ssh/id
opened write /home/u/.ssh/id
opened read /home/u/.netrc
opened read /x/f
opened read /x/y/z

# exec on its own axis
policy exec --profile shell --allow-exec /w/tools --allow-read /x --allow-exec /x/y
exec exec /w/tools/t
exec exec /w/src/t
exec exec /x/y/t
exec exec /x/t
exec write /w/tools/new
exec write /x/y/new

# a project file narrows what flags give
policy narrowed --allow-write /x
project narrowed | [sandbox]
project narrowed | deny = ["/x/y", "{workdir}/private"]
project narrowed | read = ["{workdir}/src", "/x/f"]
narrowed write /x/new
narrowed write /x/f
narrowed read /x/f
narrowed read /x/y/z
narrowed write /w/src/main.c
narrowed write /w/src/new
narrowed read /w/private/key
narrowed write /w/a

policy hidden --hidden-writes deny
hidden write /w/.env
hidden read /w/.env
hidden write /w/.git/HEAD
hidden write /w/a
hidden write /w/new

# what the system's file says, and what it locked whatever the flags say
policy admin --allow-write /x/y
system admin | [sandbox]
system admin | deny = ["/x/y", "/home/u/docs"]
system admin | write = ["/x/f"]
admin write /x/y/z
admin write /x/f
admin write /x/new
admin read /home/u/docs/d

policy locked --allow-write /x --allow-read /home/u/docs
system locked | [sandbox.locked]
system locked | deny = ["/x/y", "/home/u/docs"]
system locked | read = ["/x/f"]
locked read /x/y/z
locked write /x/y/new
locked read /x/f
locked write /x/f
locked write /x/new
locked read /home/u/docs/d
locked read /home/u/.config/git/config
