# Placeholders, both spellings of symlinked paths, absent names, odd bytes.
dir /w /data/home/u/docs /data/sdk /real/one /real/two
link /home/u /data/home/u
link /opt/sdk ../data/sdk
link /data/home/u/.ssh /real/one
link /w/ext /data/sdk
link /w/.vscode /real/two
file /w/\xff\xfe /w/a\x20b
place workdir /w
place home /home/u
place data /srv/d
place tmp /scratch

policy home --profile custom --allow-read ~/docs --allow-read {home}/pics --allow-write {data} --allow-write {tmp}/x
home read /home/u/docs/f allow trusted:read:~/docs
home read /data/home/u/docs/f allow trusted:read:~/docs
home read /home/u/pics allow
home read /data/home/u/pics/new allow
home read /home/u/other deny
home write /srv/d/x allow trusted:write:{data}
home write /scratch/x/y allow
home write /scratch/y deny

# a rule on a link holds for what it leads to, also where that does not exist yet
policy links --profile custom --allow-read /opt/sdk --allow-write /opt/sdk/out/new --deny /w/ext/secret --allow-write /w
links read /data/sdk/bin allow trusted:read:/opt/sdk
links read /opt/sdk/bin allow
links write /data/sdk/bin deny
links write /data/sdk/out/new/x allow trusted:write:/opt/sdk/out/new
links read /data/sdk/secret deny trusted:deny:/w/ext/secret
links read /w/ext/secret deny
links write /w/ext/other allow
links read /data/sdk/other allow trusted:read:/opt/sdk

# the secret behind a link is as closed as the link
policy mod
mod read /home/u/.ssh/id deny secret:deny:~/.ssh
mod read /data/home/u/.ssh/id deny secret:deny:~/.ssh
mod read /real/one/id deny secret:deny:~/.ssh
mod read /real/two allow
# the link itself may not be replaced either
policy perm --profile permissive
perm write /data/home/u/x allow
perm write /data/home/u/.ssh deny secret:deny:~/.ssh
perm write /home/u/.ssh deny secret

# where a control name of the workdir is a link, its rule takes away and opens nothing
policy control --profile strict
control read /real/two/x deny
control read /w/.vscode allow
control write /w/.vscode deny
policy control-home --profile permissive --allow-write /real
control-home write /real/x allow
control-home write /real/two/x deny

# globs: the literal part is resolved too
policy globs --profile custom --allow-read /opt/sdk/*.h --deny ~/**/id_* --allow-read ~
globs read /data/sdk/x.h allow
globs read /opt/sdk/x.h allow
globs read /data/sdk/x.c deny
globs read /data/home/u/a/id_rsa deny
globs read /home/u/a/id_rsa deny
globs read /data/home/u/a/rsa allow

# relative paths are below the workdir; dots are resolved as text
policy relative --profile custom --allow-read src --allow-read ./lib/ --allow-read ../out --allow-read /a//b/./c/../d --deny src/*.o
relative read /w/src/x allow trusted:read:src
relative read /w/lib allow
relative read /out/x allow
relative read /a/b/d allow
relative read /a/b/c deny -
relative read /w/src/x.o deny
relative read /src/x deny -

# a deny whose path does not exist stays a deny
policy absent --profile custom --allow-write /w --deny /w/not/there --deny missing
absent read /w/not/there deny trusted:deny:/w/not/there
absent write /w/not/there/yet deny
absent write /w/missing deny
absent write /w/not/here allow
absent create /w/not deny directory !model

# bytes that are not UTF-8, blanks, and characters with a meaning elsewhere
policy bytes --profile custom --allow-write /w/\xff\xfe --allow-read /w/a\x20b --allow-read /w/\{home} --allow-read /w/=x --allow-read =/w/=y --deny /w/\xff\xfe/\xc3 --allow-read ./@secrets --allow-read ./~
bytes write /w/\xff\xfe allow
bytes write /w/\xff\xfe/x allow
bytes read /w/\xff\xfe/\xc3 deny
bytes read /w/\xff deny -
bytes read /w/a\x20b allow
bytes read /w/a deny
bytes read /w/{home} allow
bytes read /w/=x/y allow
bytes read /w/=y allow
bytes read /w/=y/z deny
bytes read /w/@secrets allow
bytes read /w/~ allow
policy newline --profile custom --allow-read /w/a\x0ab* --allow-read /w/\x5cx
newline read /w/a\x0ab allow
newline read /w/a\x0abc allow
newline read /w/ab deny
newline read /w/\x5cx allow
