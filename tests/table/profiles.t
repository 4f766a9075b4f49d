# Every built-in profile and mode, and what the named sets give in them.
dir /w/src /w/.git/hooks /w/.git/objects /home/u/.ssh /home/u/.config/git /usr/bin /etc /data /srv
file /w/a /home/u/.bashrc /home/u/.ssh/id_rsa /etc/passwd /etc/shadow /usr/bin/ls
place workdir /w
place home /home/u
place data /data
place tmp /tmp
place gitdir /w/.git

policy moderate
policy strict --profile strict
policy permissive --profile permissive
policy shell --profile shell
policy agent --profile agent
policy custom --profile custom
policy sandbox --mode sandbox
policy rx --mode rx
policy rwx --mode rwx
policy none --no-sandbox
policy disabled
user disabled | [sandbox]
user disabled | enabled = false
policy from-file
user from-file | [sandbox]
user from-file | mode = "rx"

# moderate: reads all but secrets, writes the workdir minus control files
moderate read /w/a allow trusted:write:{workdir}
moderate write /w/a allow trusted:write:{workdir}
moderate write /w/new/deep/file allow trusted:write:{workdir}
moderate write /w/.env allow trusted:write:{workdir}
moderate exec /w/a allow trusted:exec:/
moderate read /etc/passwd allow trusted:read:/
moderate write /etc/passwd deny trusted:read:/
moderate exec /usr/bin/ls allow trusted:exec:/
moderate read /srv allow
moderate write /srv/x deny
moderate read / allow trusted:read:/
moderate write / deny
moderate read /etc/shadow deny secret:deny:/etc/shadow
moderate read /home/u/.ssh deny secret:deny:~/.ssh
moderate read /home/u/.ssh/id_rsa deny secret:deny:~/.ssh
moderate exec /home/u/.ssh/id_rsa deny secret:deny:~/.ssh
moderate read /home/u/.config deny secret:deny:~/.config
moderate read /home/u/.config/gh/hosts.yml deny secret
moderate read /home/u/.config/git/config allow trusted:read:~/.config/git/config
moderate write /home/u/.config/git/config deny trusted
moderate read /home/u/.config/git/credentials deny secret
moderate read /home/u/.config/fish/config.fish allow trusted:read:~/.config/fish
moderate read /home/u/.config/fish2 deny secret
moderate read /home/u/.netrc deny secret:deny:~/.netrc
moderate read /home/u/.netrc2 allow trusted:read:/
moderate read /home/u/.bashrc allow trusted:read:/
moderate write /home/u/.bashrc deny trusted:read:/
moderate write /home/u/notes deny trusted:read:/
moderate write /w/.git/hooks/pre-commit deny
moderate read /w/.git/hooks/pre-commit allow
moderate write /w/.git/config deny
moderate write /w/.git/config.lock allow
moderate write /w/.git/index allow
moderate write /w/.git/objects/ab/cdef allow
moderate write /w/.git/HEAD allow
moderate write /w/.mcp.json deny trusted:read:.mcp.json
moderate write /w/sub/.mcp.json allow
moderate write /w/.claude/settings.json deny trusted:read:.claude
moderate write /w/.cordon.toml deny trusted:read:.cordon.toml
moderate create /w/.git deny directory !model
moderate create /w/.claude deny trusted:read:.claude
moderate create /w/new allow
moderate read /home/u/.cordon/keys deny cordon
moderate write /tmp/x allow trusted:write:/tmp
moderate write /dev/null allow trusted:write:/dev
moderate write /proc/self/oom_score_adj allow trusted:write:/proc
moderate write /proc/sys/kernel/x deny trusted:read:/proc/sys
moderate write /var/tmp/x allow
moderate write /var/lib/x deny
moderate connect example.com:443 deny trusted
moderate connect localhost deny

# strict: runtime files and the workdir, nothing hidden, nothing of home
strict read /w/a allow
strict write /w/a allow
strict write /w/.env deny hidden_writes
strict write /w/src/.x/y deny hidden_writes
strict read /w/.env allow
strict write /w/.git/index deny hidden_writes
strict write /w/.git/objects/ab deny hidden_writes
strict read /usr/bin/ls allow trusted:read:/usr
strict exec /usr/bin/ls allow
strict exec /w/a allow trusted:exec:/
strict read /etc/passwd allow trusted:read:/etc/passwd
strict read /etc/hostname deny -
strict read /etc deny -
strict read /home/u deny -
strict read /home/u/notes deny -
strict exec /home/u/notes deny
strict read /home/u/.bashrc deny trusted:deny:~/.bashrc
strict read /home/u/.gitconfig deny -
strict read /home/u/.claude/x deny -
strict read /home/u/.local/bin/tool deny -
strict read /home/u/.config/git/config deny secret
strict read /home/u/.ssh/id_rsa deny secret
strict read /srv deny -
strict connect example.com deny

# permissive: home and workdir, network on, shared tmp
permissive write /home/u/notes allow trusted:write:{home}
permissive write /home/u/.bashrc deny trusted:read:~/.bashrc
permissive write /home/u/.gitconfig deny
permissive write /home/u/.local/bin/x deny
permissive write /home/u/.local/share/x allow
permissive create /home/u/.local deny directory !model
permissive read /home/u/.ssh/id_rsa deny secret
permissive write /home/u/.config/foo deny secret
permissive read /home/u/.config/nvim/init.lua allow
permissive write /home/u/.config/nvim/init.lua deny
permissive write /w/.git/hooks/x deny
permissive write /w/a allow
permissive write /tmp/x allow trusted:write:{tmp}
permissive write /var/tmp/x deny trusted:read:/
permissive connect example.com:22 allow
permissive connect 127.0.0.1:80 allow

# shell: R1.3, R1.4
shell read /w/a allow
shell write /w/a allow
shell write /w/.hidden deny hidden_writes
shell write /w/a/b/.c/d deny hidden_writes
shell exec /usr/bin/ls allow trusted:exec:/usr/bin
shell exec /bin/sh allow trusted:exec:/bin
shell exec /w/a deny -
shell exec /usr/share/x deny -
shell read /usr/share/x allow
shell read /home/u/.ssh/id_rsa deny secret
shell read /home/u/.aws/credentials deny secret
shell read /home/u/.config/git/config deny secret
shell read /home/u/.bashrc deny
shell read /home/u/.zshrc deny
shell write /home/u/.zshrc deny
shell read /home/u/.gitconfig deny -
shell write /usr/bin/x deny
shell connect example.com:443 deny

# agent and the modes that use it: R2.3
agent read /home/u/.ssh/id_rsa allow trusted:read:/
agent exec /srv/x allow
agent write /data/deep/x allow trusted:write:{data}
agent write /w/a deny trusted:read:/
agent write /home/u/.claude/history allow trusted:write:~/.claude
agent write /home/u/.claude/settings.json deny trusted:read:~/.claude/settings.json
agent write /home/u/.claude/hooks/x deny
agent create /home/u/.claude deny directory !model
agent write /home/u/.claude2 deny
agent write /tmp/x allow
agent write /etc/passwd deny
agent read /home/u/.cordon/keys/x deny cordon
agent connect example.com:443 allow
sandbox write /data/x allow
sandbox write /w/x deny
rx write /data/x allow
rx write /home/u/.claude/x allow
rx write /etc/x deny
from-file write /data/x deny
from-file write /w/x allow
rwx write /etc/passwd unconfined
rwx connect example.com unconfined
none read /home/u/.ssh/id_rsa unconfined
disabled write /etc/passwd unconfined

# custom: only what is listed, beside the sandbox's own directories
custom read /w/a deny -
custom read /usr/bin/ls deny -
custom exec /usr/bin/ls deny -
custom read / deny -
custom write /tmp/x allow
custom write /dev/null allow
custom connect example.com deny
