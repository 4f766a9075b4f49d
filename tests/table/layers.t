# Rules 5, 7, 8: sources, project files, locked rules.
dir /w/src /w/out /opt/x
place workdir /w
place home /home/u

# a tie between sources goes to the later one
policy later --profile custom --allow-write /t/flags --deny /t/flags-deny
system later | [sandbox]
system later | deny = ["/t/user", "/t/flags", "/t/sys"]
system later | write = ["/t/flags-deny", "/t/user-deny"]
user later | [sandbox]
user later | read = ["/t/user"]
user later | deny = ["/t/flags", "/t/user-deny"]
later read /t/sys deny trusted:deny:/t/sys
later read /t/user/x allow trusted:read:/t/user
later write /t/user/x deny
later write /t/flags/x allow trusted:write:/t/flags
later read /t/flags-deny/x deny trusted:deny:/t/flags-deny
later read /t/user-deny deny

# but depth comes before the source
policy deeper --profile custom --allow-write /d
system deeper | [sandbox]
system deeper | deny = ["/d/e"]
user deeper | [sandbox]
user deeper | read = ["/d/f"]
deeper write /d/x allow
deeper read /d/e/x deny trusted:deny:/d/e
deeper write /d/f/x deny trusted:read:/d/f
deeper read /d/f/x allow

# later than a profile's own rules
policy over --allow-write /etc/passwd --allow-read .mcp.json --allow-write .cordon.toml
user over | [sandbox]
user over | deny = ["/srv"]
over write /etc/passwd allow trusted:write:/etc/passwd
over write /w/.cordon.toml allow trusted:write:.cordon.toml
over write /w/.mcp.json deny
over read /srv/x deny
over read /srv2 allow

# a project file narrows
policy proj --allow-write /w/locked-by-project --allow-exec /w/noexec
project proj | [sandbox]
project proj | deny = ["private", "noexec", "/opt"]
project proj | read = ["src", "locked-by-project"]
project proj | write = ["/etc", "out", "/home/u/.ssh"]
project proj | exec = ["/nowhere"]
proj read /w/private deny project:deny:private
proj exec /w/noexec/x deny project:deny:noexec
proj write /w/src/x deny project:read:src
proj read /w/src/x allow
proj exec /w/src/x allow
proj write /w/out/x allow trusted:write:{workdir}
proj write /w/other allow
proj write /etc/x deny trusted:read:/
proj read /etc/x allow
proj read /home/u/.ssh/x deny secret
proj write /w/locked-by-project deny project:read:locked-by-project
proj read /opt/x deny project:deny:/opt
proj create /w/private deny
proj exec /usr/bin/x allow

# within a project file the rules of depth hold, and an allow is no opinion beyond trust
policy projdeep --profile custom --allow-write /w
project projdeep | [sandbox]
project projdeep | deny = ["/w/**/t", "a"]
project projdeep | read = ["a/b"]
project projdeep | write = ["a/b/c"]
projdeep read /w/a/x deny
projdeep read /w/a/b/x allow
projdeep write /w/a/b/x deny project:read:a/b
projdeep write /w/a/b/c/x allow trusted:write:/w
projdeep read /w/k/t deny project
projdeep read /srv deny -
projdeep create /w/a/b deny project:read:a/b

# locked rules of the system: nobody undoes them
policy locked --allow-write /srv/keep --allow-exec /srv/keep --allow-network on
system locked | [sandbox]
system locked | write = ["/srv"]
system locked | [sandbox.locked]
system locked | deny = ["/srv/secret"]
system locked | read = ["/srv/keep"]
system locked | network = ["ok.example.com"]
user locked | [sandbox]
user locked | write = ["/srv/secret"]
locked write /srv/x allow
locked read /srv/secret/x deny locked:deny:/srv/secret
locked write /srv/keep/x deny locked:read:/srv/keep
locked read /srv/keep/x allow
locked exec /srv/keep/x allow
locked connect ok.example.com:1 allow trusted
locked connect other.example.com:1 deny locked

# a profile amended by the user's file; one extending another
policy amended
user amended | [sandbox.profiles.moderate]
user amended | deny = ["/srv"]
user amended | write = ["/var/cache/me"]
amended read /srv/x deny
amended write /var/cache/me/x allow
amended read /etc/x allow
amended read /home/u/.ssh/x deny secret
policy extends --profile child
user extends | [sandbox.profiles.parent]
user extends | extends = "strict"
user extends | read = ["/opt/sdk"]
user extends | [sandbox.profiles.child]
user extends | extends = "parent"
user extends | write = ["/opt/sdk/out"]
extends read /opt/sdk/x allow
extends write /opt/sdk/out/x allow
extends write /opt/sdk/x deny
extends read /opt/other deny -
extends write /w/.x deny hidden_writes
policy default
system default | [sandbox]
system default | default_profile = "strict"
default read /home/u/x deny -
default write /w/x allow
policy flagwins --profile permissive
system flagwins | [sandbox]
system flagwins | default_profile = "strict"
flagwins write /home/u/x allow

# tmp: a project can make it private, never shared
policy tmp --profile permissive
project tmp | [sandbox]
project tmp | tmp = "private"
tmp write /tmp/x allow trusted:write:/tmp
policy tmp2
project tmp2 | [sandbox]
project tmp2 | tmp = "shared"
tmp2 write /tmp/x allow trusted:write:/tmp

# every project file from the workdir up narrows; a nearer one does not shadow another
policy up --allow-write /up --allow-exec /up
project up | [sandbox]
project up | deny = ["near"]
project up | write = ["far", "/up"]
project up | read = ["both"]
project up | network = ["a.test", "b.test"]
above up | [sandbox]
above up | deny = ["w/far"]
above up | read = ["up"]
above up | write = ["w/both", "w/near"]
above up | hidden_writes = "deny"
above up | network = ["a.test", "c.test"]
up read /w/near deny project:deny:near
up read /w/far deny project:deny:w/far
up write /w/both deny project:read:both
up read /w/both allow
up write /up/x deny project:read:up
up exec /up/x allow
up write /w/x allow trusted:write:{workdir}
up write /w/.x deny hidden_writes
up connect a.test deny trusted
policy up-net --allow-network on
project up-net | [sandbox]
project up-net | network = ["a.test", "b.test"]
above up-net | [sandbox]
above up-net | network = ["a.test", "c.test"]
up-net connect a.test allow trusted
up-net connect b.test deny project
up-net connect c.test deny project
# alone, from above
policy alone --profile permissive
above alone | [sandbox]
above alone | deny = ["w/far"]
alone read /w/far/x deny project:deny:w/far
alone write /w/x allow
# it stays as it is, where everything else may be written
policy kept --profile custom --allow-write /
above kept | [sandbox]
above kept | deny = ["nothing"]
kept write /.cordon.toml deny trusted:read:/.cordon.toml
kept read /.cordon.toml allow
kept write /.cordon allow
policy kept-not --profile custom --allow-write / --allow-write /.cordon.toml
above kept-not | [sandbox]
above kept-not | deny = ["nothing"]
kept-not write /.cordon.toml allow
