# The workdir lies below /tmp, which the profile makes private.
dir /usr/bin /etc /dev /proc /run /var/tmp /tmp/work/src /tmp/other /home/u/.ssh
file /usr/bin/sh /etc/passwd /tmp/work/Makefile
place workdir /tmp/work
place home /home/u
policy tmp-workdir-moderate
policy tmp-workdir-shell --profile shell
policy tmp-workdir-write --allow-write /tmp/other
policy tmp-shared --tmp shared
policy tmp-workdir-custom --profile custom --allow-read /usr --allow-exec /usr
