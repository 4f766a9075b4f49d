# Rules 12 and 13: secrets, harmless exceptions, cordon's own home.
dir /home/u/.ssh /home/u/.config/app/sub /home/u/.cordon/keys
file /home/u/.ssh/id_rsa /home/u/.ssh/known_hosts
place workdir /home/u/.config/app
place home /home/u
place cordon_home /home/u/.config/app/.cordon

# nobody but the user opens a secret
policy base
base read /home/u/.ssh/id_rsa deny secret
base read /home/u/.aws/credentials deny secret
base read /home/u/.docker/config.json deny secret
base read /home/u/.mozilla/x deny secret
base read /etc/sudoers.d/x deny secret
base read /home/u/.bash_history deny secret
base read /home/u/.claude/.credentials.json deny secret
base read /home/u/.claude/CLAUDE.md allow
base read /home/u/.cargo/credentials.toml deny secret
base read /home/u/.cargo/registry/x allow
# the workdir lies inside ~/.config: it is usable, its neighbours are not
base write /home/u/.config/app/f allow trusted:write:{workdir}
base write /home/u/.config/app/sub/f allow
base read /home/u/.config/app2 deny secret
base read /home/u/.config deny secret
# cordon's home below the workdir stays closed
base read /home/u/.config/app/.cordon deny cordon
base write /home/u/.config/app/.cordon/config.toml deny cordon
base exec /home/u/.config/app/.cordon/x deny

policy sys
system sys | [sandbox]
system sys | read = ["~/.ssh", "~/.ssh/known_hosts", "/etc/shadow"]
system sys | write = ["~/.aws/cache", "@harmless"]
sys read /home/u/.ssh/known_hosts deny secret:deny:~/.ssh
sys read /home/u/.ssh deny secret
sys read /etc/shadow deny secret
sys write /home/u/.aws/cache/x deny secret
# a harmless exception is no secret any more: the system may give more on it
sys write /home/u/.config/pip/x allow trusted:write:~/.config/pip
sys write /home/u/.config/gh/x deny secret

# a profile of the system cannot either; one of the user's own file can
policy sysprof --profile p
system sysprof | [sandbox.profiles.p]
system sysprof | extends = "moderate"
system sysprof | read = ["~/.ssh"]
sysprof read /home/u/.ssh/id_rsa deny secret
policy userprof --profile p
user userprof | [sandbox.profiles.p]
user userprof | extends = "moderate"
user userprof | read = ["~/.ssh"]
userprof read /home/u/.ssh/id_rsa allow trusted:read:~/.ssh
userprof write /home/u/.ssh/id_rsa deny
userprof read /home/u/.aws/x deny secret

policy usr
user usr | [sandbox]
user usr | read = ["~/.ssh/known_hosts"]
usr read /home/u/.ssh/known_hosts allow trusted:read:~/.ssh/known_hosts
usr read /home/u/.ssh/id_rsa deny secret
usr read /home/u/.ssh deny secret
usr write /home/u/.ssh/known_hosts deny

policy flag --allow-write ~/.ssh
flag write /home/u/.ssh/new allow trusted:write:~/.ssh
flag read /home/u/.ssh/id_rsa allow
flag exec /home/u/.ssh/x deny
flag read /home/u/.gnupg/x deny secret

# a shallower rule opens nothing
policy shallow --allow-write /home/u --allow-read / --allow-write ~/.config
shallow write /home/u/x allow
shallow read /home/u/.ssh/id_rsa deny secret
shallow read /etc/shadow deny secret
shallow write /home/u/.config/other/x allow trusted:write:~/.config
shallow read /home/u/.config/google-chrome/x deny secret

# a glob opens what it matches at that depth or deeper
policy globs --allow-read ~/.ssh/*.pub
globs read /home/u/.ssh/id.pub allow
globs read /home/u/.ssh/id_rsa deny secret

# executing is not reading
policy axis --allow-exec ~/.ssh/x
system axis | [sandbox]
system axis | read = ["~/.ssh/x"]
axis read /home/u/.ssh/x deny secret:deny:~/.ssh
axis exec /home/u/.ssh/x deny

# the user may close a set, and his own open rule of equal depth then loses
policy shut --profile custom --allow-read / --deny @secrets --allow-read ~/.ssh
shut read /home/u/.ssh/x deny trusted:deny:~/.ssh
shut read /home/u/.aws/x deny
shut read /home/u/x allow
# harmless is an exception for reading only
policy harmless --profile custom --deny @config --allow-read @harmless
harmless read /home/u/.config/pip/pip.conf allow
harmless write /home/u/.config/pip/pip.conf deny
harmless read /home/u/.config/other deny
# sets used directly
policy sets --profile custom --allow-read @runtime --allow-exec @system-exec --allow-read @shell-files --allow-read @claude-control --deny @control --allow-write {workdir}
sets exec /usr/bin/x allow
sets exec /usr/share/x deny
sets read /usr/share/x allow
sets read /home/u/.bashrc allow
sets read /home/u/.claude/hooks/x allow
sets read /home/u/.config/app/.vscode/tasks.json deny trusted:deny:.vscode
sets write /home/u/.config/app/x allow
