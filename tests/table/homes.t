# Secrets are secrets in every home, whatever HOME says.
dir /home/u/.ssh /home/v/.ssh /home/v/.config/gh /var/www/.ssh /w /home/v/keys /usr/lib
link /home/v/.aws /usr/lib
link /home/v/.gnupg .gnupg
link /home/v/.kube keys
place workdir /w
place home /var/empty
place own /home/u
place other /home/v
place other /var/www

policy moderate
moderate read /var/empty/.ssh/id deny secret
moderate read /home/u/.ssh/id deny secret:deny:~/.ssh
moderate read /home/v/.ssh/id deny secret
moderate exec /home/v/.ssh/id deny secret
moderate read /var/www/.ssh/id deny secret
moderate read /home/v/.config/gh/hosts.yml deny secret
moderate read /home/u/.netrc deny secret
# nobody closes what lies elsewhere, or makes a run fail, by a link in his home
moderate read /usr/lib/x allow
moderate read /home/v/keys/k deny secret
# what is not there yet is one in the caller's homes only
moderate read /home/u/.aws/credentials deny secret
moderate read /var/www/.aws/credentials allow
moderate read /home/v/docs allow trusted:read:/
moderate read /home/w/.ssh/id allow trusted:read:/
moderate read /etc/shadow deny secret
moderate write /home/v/docs deny

policy permissive --profile permissive
permissive read /home/u/.ssh/id deny secret
permissive write /home/u/x deny
permissive write /var/empty/x allow

policy agent --profile agent
agent read /home/v/.aws/x allow

# a flag opens what it names
policy opened --allow-read /home/v/.ssh/known_hosts
opened read /home/v/.ssh/known_hosts allow trusted:read:/home/v/.ssh/known_hosts
opened read /home/v/.ssh/id deny secret
policy tree --allow-read /home/v
tree read /home/v/.ssh/id deny secret
