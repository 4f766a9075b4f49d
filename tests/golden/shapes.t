# What runs a component: the component itself, what it may read and write.
dir /usr/bin /usr/lib /etc /dev /proc /run /tmp /data/in /data/out
file /usr/bin/sh /usr/libexec/cordon-wasm /skills/x.wasm
place workdir /work
dir /work /home/u
place home /home/u
place cordon_home /home/u/.cordon

policy component --profile custom --allow-read =/skills/x.wasm --allow-read /data/in --allow-write /data/out --allow-read /usr/libexec/cordon-wasm --allow-exec /usr/libexec/cordon-wasm
policy component-network --profile custom --allow-read =/skills/x.wasm --allow-network on
policy shell-network --profile shell --allow-network localhost:8080
policy patterns --protect exact --deny **/.env --allow-read **/*.lock --hidden-writes git
