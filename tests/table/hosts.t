# Rule 14 and the network setting.
policy list --allow-network example.com,*.example.org:443,api.test:8080 --allow-network 192.0.2.0/24 --allow-network 2001:db8::/32,[2001:db9::1]:443,198.51.100.7:80
list connect example.com:443 allow trusted:example.com
list connect example.com:1 allow
list connect example.com allow
list connect EXAMPLE.Com:80 allow
list connect example.com.:80 allow
list connect example.com..:80 refused
list connect www.example.com:443 deny trusted
list connect xexample.com deny
list connect a.example.org:443 allow trusted:*.example.org:443
list connect a.b.c.example.org:443 allow
list connect A.Example.ORG.:443 allow
list connect a.example.org:80 deny
list connect a.example.org deny
list connect example.org:443 deny
list connect xexample.org:443 deny
list connect .example.org:443 refused
list connect example.org.evil.test:443 deny
list connect api.test:8080 allow
list connect api.test:8081 deny
list connect api.test deny
list connect 192.0.2.77:80 allow trusted:192.0.2.0/24
list connect 192.0.3.1:80 deny
list connect [::ffff:192.0.2.1]:80 allow
list connect [2001:db8:1::5]:443 allow
list connect 2001:db8::9 allow
list connect [2001:db9::1]:443 allow
list connect [2001:db9::1]:80 deny
list connect [2001:dba::1]:443 deny
list connect 198.51.100.7:80 allow
list connect 198.51.100.7 deny
list connect 0xc0.0.2.1:80 refused
list connect 3221225985 refused
list connect 192.0.513 refused
list connect 0300.0.2.1 refused
list connect 192.0.2.1. refused
list connect 192.0.2.256 refused
list connect *.example.org:443 refused
list connect 192.0.2.0/24 refused
list connect 192.0.2.1/32 refused
list connect [192.0.2.1]:80 refused
list connect [fe80::1%eth0]:80 refused
list connect ex\xc3\xa4mple.com refused
list connect example.com:0 refused
list connect example.com:65536 refused
list connect example.com: refused
list connect exa\x20mple.com refused
list connect xn--exmple-cua.com deny
list connect -a.example.org:443 refused
list connect _dmarc.example.org:443 allow

# an empty list allows nothing
policy empty
user empty | [sandbox]
user empty | network = []
empty connect example.com:443 deny trusted
empty connect 127.0.0.1:80 deny
policy off --allow-network off
off connect example.com deny trusted
policy on --allow-network on
on connect example.com:443 allow
on connect 10.0.0.1 allow
on connect 1.2.3 refused
policy emptied --allow-network b.test
user emptied | [sandbox]
user emptied | network = ["a.test"]
emptied connect a.test allow
emptied connect b.test allow
emptied connect c.test deny
policy reset
system reset | [sandbox]
system reset | network = ["a.test"]
user reset | [sandbox]
user reset | network = []
reset connect a.test deny
policy narrowed --allow-network a.test
system narrowed | [sandbox]
system narrowed | network = "on"
narrowed connect a.test allow
narrowed connect b.test deny

# families are kept apart
policy six --allow-network ::/0
six connect 2001:db8::1 allow
six connect 192.0.2.1 deny
six connect [::ffff:192.0.2.1]:1 deny
policy four --allow-network 0.0.0.0/0
four connect 192.0.2.1:9 allow
four connect [2001:db8::1]:9 deny
four connect example.com deny
policy v6list --allow-network ::/64
v6list connect ::1 allow
v6list connect 127.0.0.1 deny

# project: the intersection, by evaluating both
policy proj --allow-network *.example.com,other.test
project proj | [sandbox]
project proj | network = ["a.example.com:443", "third.test"]
proj connect a.example.com:443 allow trusted:*.example.com
proj connect a.example.com:80 deny project
proj connect b.example.com:443 deny project
proj connect third.test deny trusted
proj connect other.test deny project
policy projoff --allow-network on
project projoff | [sandbox]
project projoff | network = "off"
projoff connect example.com deny project
policy projon
project projon | [sandbox]
project projon | network = "on"
projon connect example.com deny trusted
policy projempty --allow-network on
project projempty | [sandbox]
project projempty | network = []
projempty connect example.com deny project
policy alias
user alias | [sandbox]
user alias | allow_network = true
alias connect example.com allow
# A denied host stays denied, whoever allows it and wherever it was said.
policy denied --allow-network *.example.org,example.com,192.0.2.0/24,localhost:8080 --deny-host a.example.org,example.com:80 --deny-host 192.0.2.128/25,127.0.0.1
denied connect b.example.org allow
denied connect a.example.org:443 deny trusted
denied connect A.example.org. deny trusted
denied connect b.a.example.org allow
denied connect example.com:443 allow
denied connect example.com:80 deny trusted
denied connect 192.0.2.1:80 allow
denied connect 192.0.2.129:80 deny trusted
denied connect [::ffff:192.0.2.129]:80 deny trusted
denied connect localhost:8080 deny trusted
policy projdenied --allow-network a.test,b.test
project projdenied | [sandbox]
project projdenied | deny_hosts = ["a.test"]
projdenied connect a.test deny project
projdenied connect b.test allow
