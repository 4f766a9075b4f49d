# A minimal machine: no /var/tmp, and /tmp is a link.
dir /usr/bin /etc /dev /proc /run /w /scratch/tmp /home/u
file /usr/bin/sh /w/Makefile
link /tmp scratch/tmp
policy bare-moderate
policy bare-strict --profile strict
