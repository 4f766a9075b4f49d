# Flags and files on top of a profile, in a small world without symlinks.
dir /usr/bin /lib /etc /dev /proc /run /tmp /var/tmp /opt/sdk/bin /data/in /data/out/keep /w/src /w/private /w/tools /w/.git/hooks
file /usr/bin/sh /etc/passwd /etc/shadow /w/Makefile /w/src/secret.txt /w/.git/config /w/.hidden /w/a\x20b
file /home/u/.bashrc
dir /home/u/.ssh /home/u/.cordon
socket /run/user/1000/gnupg/S.gpg-agent /home/u/.gnupg/S.test /srv/app.sock
place workdir /w
place home /home/u
place cordon_home /home/u/.cordon
place gitdir /w/.git

# A deny inside a writable tree: what exists is hidden, what does not is guarded.
policy deny-in-write --deny private --deny src/secret.txt --deny future
# Write inside deny inside write, read-only inside write, and an exact file.
policy nested --deny /data --allow-read /data/in --allow-write /data/out --allow-read /data/out/keep
policy exact-file --profile custom --allow-read =/etc/passwd --allow-write =/w/Makefile
policy exec-rules --profile custom --allow-read /usr --allow-read /lib --allow-exec /usr/bin --allow-exec /lib --allow-write /w --allow-exec /w/tools
policy unix-socket --allow-unix /run/user/1000/gnupg/S.gpg-agent
# A socket in a hidden directory is reachable when named, the directory is not.
policy unix-secret --allow-unix ~/.gnupg/S.test
policy network-list --allow-network api.example.com:443,*.example.org
policy published --publish 8080:3000,9000
policy network-denied --allow-network *.example.org,a.test --deny-host b.example.org,a.test,192.0.2.0/24
policy network-met --allow-network *.example.com,*.example.org,192.0.2.0/24,only.test
project network-met | [sandbox]
project network-met | network = ["api.example.com:443", "*.example.org", "192.0.2.0/28", "192.0.0.0/16", "no.test"]
policy network-on --allow-network on --allow-bind 8080
policy hidden-deny --hidden-writes deny
policy hidden-git --hidden-writes git
policy glob-denied --protect exact --deny **/.env
policy glob-read --allow-read **/*.lock
policy limits --timeout 90s --cpu 5m --memory 2G --procs 256 --files 1024 --file-size 1G --output 1M --tmp-size 64M
policy processes --share-pid --no-ptrace --keyring --tmp shared
policy session-kept
user session-kept | [sandbox]
user session-kept | new_session = false
policy no-workdir --profile custom --allow-read /usr --allow-exec /usr
policy workdir-denied --deny {workdir}
policy environment --env CI=1 --env GITHUB_TOKEN --unset-env LANG
policy names --deny a\x20b --allow-write /opt/sdk
policy project-narrows
project project-narrows | [sandbox]
project project-narrows | deny = ["src"]
project project-narrows | read = ["tools"]
project project-narrows | limits = { timeout = "1m" }
policy locked-system --allow-read /opt
system locked-system | [sandbox.locked]
system locked-system | deny = ["/opt/sdk"]
policy unconfined --mode rwx --timeout 10s
