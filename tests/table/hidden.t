# Rule 10: hidden_writes.
dir /w/.git/objects /w/.git/hooks /w/.cache /w/sub/.git
place workdir /w
place home /home/u
place gitdir /w/.git

policy deny --hidden-writes deny
deny write /w/.x deny hidden_writes
deny read /w/.x allow
deny write /w/a/.x deny hidden_writes
deny write /w/a/.x/b/c deny hidden_writes
deny write /w/a.x allow
deny write /w/x. allow
deny write /w/...x deny hidden_writes
deny write /w/.git/objects/x deny hidden_writes
deny write /w allow
deny write /tmp/.x allow
deny create /w/.x deny hidden_writes

policy git --hidden-writes git
git write /w/.git/objects/aa/bb allow
git write /w/.git/refs/heads/x allow
git write /w/.git/refs/heads/.x allow
git write /w/.git/logs/HEAD allow
git write /w/.git/index allow
git write /w/.git/index.lock allow
git write /w/.git/HEAD allow
git write /w/.git/HEAD.lock allow
git write /w/.git/ORIG_HEAD allow
git write /w/.git/FETCH_HEAD allow
git write /w/.git/packed-refs allow
git write /w/.git/packed-refs.lock allow
git write /w/.git/COMMIT_EDITMSG allow
git write /w/.git/config deny
git write /w/.git/hooks/x deny
git write /w/.git/info/exclude deny hidden_writes
git write /w/.git deny hidden_writes
git write /w/sub/.git/index deny hidden_writes
git write /w/.env deny hidden_writes

policy allow --hidden-writes allow --profile strict
allow write /w/.x allow
allow write /w/.git/hooks/x deny
allow write /w/.mcp.json deny

# deeper explicit rules win; one as deep only from a later source
policy explicit --hidden-writes deny --allow-write .cache --allow-write .d/sub --allow-write /w/.e/f/.g
explicit write /w/.cache/x deny hidden_writes
explicit write /w/.d/x deny hidden_writes
explicit write /w/.d/sub/x allow trusted:write:.d/sub
explicit write /w/.d/sub/.y deny hidden_writes
explicit write /w/.e/f/.g deny hidden_writes
policy later --profile strict --allow-write .cache
later write /w/.cache/x allow trusted:write:.cache
later write /w/.cache2 deny hidden_writes
later write /w/.cache/.x deny hidden_writes
# it never gives anything
policy nothing --profile custom --hidden-writes deny --allow-read /w
nothing write /w/.x deny trusted:read:/w
nothing read /w/.x allow

# a project may close hidden names; flags do not undo it
policy projectp --allow-write .d/sub --allow-write .cache
project projectp | [sandbox]
project projectp | hidden_writes = "deny"
projectp write /w/.x deny hidden_writes
projectp write /w/.d/sub/x deny hidden_writes
projectp write /w/.cache/x deny hidden_writes
projectp write /w/x allow
policy project-own
project project-own | [sandbox]
project project-own | hidden_writes = "deny"
project project-own | write = [".d/sub"]
project-own write /w/.d/sub/x allow trusted:write:{workdir}
project-own write /w/.d/x deny hidden_writes
policy project-loose --profile strict
project project-loose | [sandbox]
project project-loose | hidden_writes = "allow"
project-loose write /w/.x deny hidden_writes
policy project-git
project project-git | [sandbox]
project project-git | hidden_writes = "git"
project-git write /w/.git/index allow
project-git write /w/.env deny hidden_writes
policy locked --hidden-writes allow
system locked | [sandbox.locked]
system locked | hidden_writes = "git"
locked write /w/.env deny hidden_writes
locked write /w/.git/objects/x allow
