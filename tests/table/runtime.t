# What programs need of the system, under the profile that shows nothing else: libraries
# and programs, locales, time zones, certificates, names, alternatives, and Nix.
dir /nix/store/x/bin /gnu/store /usr/share/zoneinfo /etc/ssl/certs /etc/alternatives
file /etc/localtime /etc/resolv.conf /etc/hosts /etc/locale.alias /etc/default/locale
file /etc/ca-certificates.conf /etc/ssl/private/key.pem
place workdir /w
place home /home/u

policy strict --profile strict
policy shell --profile shell
policy moderate

strict read /nix/store/x/bin/tool allow
strict exec /nix/store/x/bin/tool allow
strict write /nix/store/x/bin/tool deny
strict read /gnu/store allow
strict read /usr/share/zoneinfo/UTC allow
strict read /usr/lib/locale/C.utf8 allow
strict read /etc/localtime allow
strict read /etc/timezone allow
strict read /etc/locale.alias allow
strict read /etc/default/locale allow
strict read /etc/ssl/certs/ca-certificates.crt allow
strict read /etc/ssl/private/key.pem deny
strict read /etc/resolv.conf allow
strict read /etc/hosts allow
strict read /etc/nsswitch.conf allow
strict read /etc/alternatives/awk allow
strict exec /etc/alternatives/awk allow
strict write /etc/alternatives/awk deny
strict read /nix/var/nix/db deny
shell read /nix/store/x/bin/tool allow
shell exec /nix/store/x/bin/tool allow
moderate exec /nix/store/x/bin/tool allow
moderate write /nix/store/x/bin/tool deny
moderate exec /home/u/.pyenv/versions/3.9/bin/python allow
moderate exec /home/u/.nvm/versions/node/v1/bin/node allow
moderate exec /home/u/.rustup/toolchains/stable/bin/rustc allow
moderate write /home/u/.pyenv/versions/3.9/bin/python deny
