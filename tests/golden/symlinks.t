# Paths spelled through symlinks: a linked home, a linked /bin and /var/tmp, a dangling link, a link
# that leads to a secret, and a worktree whose git directory is elsewhere.
dir /usr/bin /usr/lib /etc /dev /proc /run /tmp /mnt/disk/u/.ssh /mnt/disk/u/keys /mnt/disk/u/.cordon
dir /mnt/disk/u/wt/src /mnt/disk/u/repo/.git/worktrees/wt /mnt/disk/u/repo/.git/hooks /mnt/disk/u/repo/.git/objects
file /usr/bin/sh /mnt/disk/u/wt/.git /mnt/disk/u/repo/.git/config
link /bin usr/bin
link /var/tmp ../tmp
link /lib usr/lib
link /home /mnt/disk
link /mnt/disk/u/.aws keys
link /mnt/disk/u/.netrc gone
link /mnt/disk/u/sdk /usr/lib
place workdir /mnt/disk/u/wt
place home /mnt/disk/u
place cordon_home /mnt/disk/u/.cordon
place gitdir /mnt/disk/u/repo/.git/worktrees/wt
place gitcommon /mnt/disk/u/repo/.git
policy linked-moderate
policy linked-strict --profile strict
policy linked-flags --profile custom --allow-read /bin --allow-read /lib --allow-read /home/u/sdk --allow-write /home/u/wt
policy linked-root --profile custom --allow-read / --allow-exec /
