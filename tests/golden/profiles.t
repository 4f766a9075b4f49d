# Every built-in profile in one world: a Debian-like machine with merged /usr, a home
# with the usual secrets and control files, a git repository as workdir.
dir /usr/bin /usr/sbin /usr/lib /usr/lib64 /usr/local/bin /usr/share /var/log /srv /opt /dev /proc /run /tmp /var/tmp
dir /etc/alternatives /etc/ssl/certs /etc/ssl/private /etc/ssh
file /usr/bin/sh /etc/passwd /etc/shadow /etc/hosts /etc/ld.so.cache /etc/nsswitch.conf
link /bin usr/bin
link /sbin usr/sbin
link /lib usr/lib
link /lib64 usr/lib64
link /etc/resolv.conf ../run/systemd/resolve/stub-resolv.conf
file /run/systemd/resolve/stub-resolv.conf
socket /run/user/1000/bus
dir /home/u/.ssh /home/u/.aws /home/u/.cordon /home/u/.config/git /home/u/.config/gh /home/u/.cargo/bin /home/u/go/bin
file /home/u/.bashrc /home/u/.profile /home/u/.gitconfig /home/u/.netrc /home/u/.bash_history /home/u/notes
file /home/u/.config/git/config /home/u/.config/git/credentials /home/u/.ssh/id_ed25519 /home/u/.claude/settings.json
file /home/u/.claude/.credentials.json
dir /home/u/project/src /home/u/project/.git/hooks /home/u/project/.git/objects /home/u/project/.git/refs
dir /home/u/project/.vscode /home/u/.local/share/agent
file /home/u/project/Makefile /home/u/project/.git/config /home/u/project/.git/HEAD /home/u/project/.env
place workdir /home/u/project
place home /home/u
place cordon_home /home/u/.cordon
place gitdir /home/u/project/.git
place data /home/u/.local/share/agent

policy strict --profile strict
policy moderate --profile moderate
policy permissive --profile permissive
policy srt --profile srt
policy shell --profile shell
policy agent --profile agent
policy custom --profile custom
