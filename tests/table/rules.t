# Rules 2 to 6 and 9: axes, depth, ties, exact rules, globs.
dir /w/a/b/c /w/src /x/y/z
file /w/a/f /w/.env
place workdir /w
place home /home/u

# data and exec are separate; exec needs a read verdict
policy axes --profile custom --allow-read /w --allow-exec /w/bin --allow-exec /opt --deny /w/bin/no
axes read /w/bin/tool allow trusted:read:/w
axes exec /w/bin/tool allow trusted:exec:/w/bin
axes write /w/bin/tool deny
axes exec /w/tool deny -
axes exec /opt/tool deny
axes read /opt/tool deny -
axes exec /w/bin/no deny trusted:deny:/w/bin/no
axes read /w/bin/no/x deny trusted:deny:/w/bin/no
axes read /w/bin allow
axes read /w2 deny -
axes read /w allow

# write implies read; a deeper read makes read-only; deeper still writes again
policy nest --profile custom --allow-write /w --allow-read /w/a --allow-write /w/a/b --deny /w/a/b/c --allow-read /w/a/b/c/d
nest write /w/x allow trusted:write:/w
nest read /w/x allow
nest write /w/a deny trusted:read:/w/a
nest write /w/a/f deny trusted:read:/w/a
nest read /w/a/f allow
nest write /w/a/b allow trusted:write:/w/a/b
nest write /w/a/b/x allow
nest read /w/a/b/c deny trusted:deny:/w/a/b/c
nest write /w/a/b/c/x deny
nest read /w/a/b/c/d allow trusted:read:/w/a/b/c/d
nest write /w/a/b/c/d deny
nest write /w/ab allow trusted:write:/w

# ties from one source: the lower access
policy tie --profile custom --allow-write /x --allow-read /x --allow-exec /x --allow-write /x/y --deny /x/y --allow-read /x/q --allow-exec /x/q
tie write /x/f deny trusted:read:/x
tie read /x/f allow trusted:read:/x
tie exec /x/f allow trusted:exec:/x
tie read /x/y/f deny trusted:deny:/x/y
tie exec /x/y/f deny trusted:deny:/x/y
tie exec /x/q allow trusted:exec:/x/q

# exact rules cover the object alone
policy exact --profile custom --allow-read /w --allow-write =/w/a --deny =/w/b --deny =/w/c/d
exact write /w/a allow trusted:write:=/w/a
exact write /w/a/f deny trusted:read:/w
exact read /w/a/f allow
exact read /w/b deny trusted:deny:=/w/b
exact read /w/b/x allow trusted:read:/w
exact read /w/c allow
exact read /w/c/d deny
exact read /w/c/d/e allow
policy exact-root --profile custom --allow-read =/
exact-root read / allow trusted:read:=/
exact-root read /w deny -

# an exact and a subtree rule of one path are equally deep: lower access
policy exact-tie --profile custom --allow-write /w --deny =/w --allow-read =/x --allow-write /x
exact-tie read /w deny trusted:deny:=/w
exact-tie write /w/f allow trusted:write:/w
exact-tie write /x deny trusted:read:=/x
exact-tie write /x/f allow

# globs: one component each, dots are ordinary, ** is whole components
policy glob --profile custom --allow-write /w --deny **/.env --deny /w/*.key --allow-read /w/s?c --deny /w/[a-c]x
glob read /w/.env deny trusted:deny:**/.env
glob read /w/a/.env deny trusted:deny:**/.env
glob read /w/a/b/c/.env deny trusted:deny:**/.env
glob read /w/a/.env/below deny trusted:deny:**/.env
glob write /w/a/.envrc allow trusted:write:/w
glob write /w/a.env allow
glob read /.env deny -
glob read /w/x.key deny trusted:deny:/w/*.key
glob read /w/.key deny
glob write /w/a/x.key allow
glob read /w/x.key/below deny
glob write /w/src/f deny trusted:read:/w/s?c
glob read /w/src/f allow
glob write /w/sc/f allow
glob write /w/sxxc/f allow
glob read /w/ax deny
glob read /w/cx deny
glob write /w/dx allow
glob write /w/axx allow
glob write /w/Ax allow

# depth of a glob is the shortest prefix it matches
policy depth --profile custom --allow-write /w --deny /w/**/x --allow-read /w/a/x/y
depth read /w/x deny
depth read /w/a/x deny
depth read /w/a/x/y allow trusted:read:/w/a/x/y
depth read /w/a/x/y/x allow trusted:read:/w/a/x/y
depth read /w/b/x/y/x deny trusted:deny:/w/**/x
depth write /w/a/y allow
# the glob matches /w/x first (depth 2), so a rule at depth 3 below wins even over a later x
policy depth2 --profile custom --deny /w/**/x --allow-read /w/x/q
depth2 read /w/x/q/x allow trusted:read:/w/x/q
depth2 read /w/x/p/x deny

# a trailing ** is at least one more component; inside, any number
policy stars --profile custom --allow-read /w/a/** --allow-read /x/**/z --allow-read /y/**/m/**/n
stars read /w/a deny -
stars read /w/a/b allow trusted:read:/w/a/**
stars read /w/a/b/c allow
stars read /x/z allow
stars read /x/y/z allow
stars read /x/y/y/y/z/k allow
stars read /x/y deny
stars read /y/m/n allow
stars read /y/1/m/2/3/n allow
stars read /y/n/m deny
policy all --profile custom --allow-read /**
all read / deny -
all read /etc allow
all read /etc/a/b allow

# quoting: a pattern character that stands for itself
policy quoted --profile custom --allow-read /w/\*/x --allow-read /w/\[a] --allow-read /w/\x2a\x2a/q --allow-read /w/*\*
quoted read /w/*/x allow
quoted read /w/a/x deny -
quoted read /w/[a] allow
quoted read /w/a deny
quoted read /w/**/q allow
quoted read /w/z/q deny
quoted read /w/zz* allow
quoted read /w/zz deny

# brackets: negation, a closing bracket first, ranges, quoting inside
policy brackets --profile custom --allow-read /x/[!ab]f --allow-read /x/[]x]g --allow-read /x/[a\]]h --allow-read /x/[^0-9]*k
brackets read /x/cf allow
brackets read /x/af deny
brackets read /x/]g allow
brackets read /x/xg allow
brackets read /x/]h allow
brackets read /x/bh deny
brackets read /x/zk allow
brackets read /x/9k deny
brackets read /x/.zzk allow
# a glob and a literal equally deep in one source: the lower access
policy globtie --profile custom --allow-write /w/*.c --deny /w/x.c --allow-read /w/y* --allow-write /w/yy
globtie read /w/x.c deny trusted:deny:/w/x.c
globtie write /w/z.c allow
globtie write /w/yy deny trusted:read:/w/y*
globtie read /w/yy allow
# rule 11: nothing but a directory where a lower rule needs one
policy keep --profile custom --allow-write /w --deny /w/p/q/r --allow-read /w/k/l --allow-write /w/m/n
keep create /w/p deny directory !model
keep create /w/p/q deny directory !model
keep create /w/p/q/r deny trusted:deny:/w/p/q/r
keep create /w/p/other allow
keep create /w/k deny directory !model
keep create /w/m allow
keep write /w/p allow
keep create /w/pp allow
