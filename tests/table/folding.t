# Directories that take names differing in case for the same (H25): what a rule says holds
# for every spelling that folds to it, and the lower of both verdicts is the verdict.
dir /w/plain /h/.ssh /plain/.git /w/big/one /w/big/two /mixed
folding /w/src
folding /w/big
folding /h
dir /h/p /h/p/d
file /w/plain/.env
place workdir /w
place home /h
place cordon_home /h/.cordon

# exactly the names of the rules, in any case; beside them nothing changes
policy deny --profile custom --allow-write /w --deny /w/src/private --allow-read /w/src/Docs
deny write /w/src/private/x deny trusted:deny:/w/src/private
deny write /w/src/PRIVATE deny trusted:deny:/w/src/private
deny read /w/src/Private/x deny trusted:deny:/w/src/private
deny write /w/src/privates allow
deny write /w/src/docs/x deny trusted:read:/w/src/Docs
deny read /w/src/DOCS/x allow
deny write /w/src/other/FILE allow trusted:write:/w
# a file may not take the place of a directory that a rule needs, however it is spelled
policy needed --profile custom --allow-write /w --deny /w/src/keep/inner
needed create /w/src/KEEP deny directory
needed create /w/src/keeps allow
# the directories above are told apart as ever
deny write /w/SRC/private allow
deny read /W/src/x deny -
# and one that does not fold keeps its spellings apart
policy apart --profile custom --allow-write /w --deny /w/plain/private
apart write /w/plain/private deny
apart write /w/plain/PRIVATE allow

# a grant is no grant for another spelling
policy grant --profile custom --allow-write /w/src/Out
grant write /w/src/Out/x allow
grant write /w/src/out/x deny -
# of two spellings of one name the lower one holds for both
policy both --profile custom --allow-write /w/src/Out --deny /w/src/out
both write /w/src/Out/x deny trusted:deny:/w/src/out
both write /w/src/out/x deny trusted:deny:/w/src/out
both write /w/src/oUt/x deny
# execution is an axis of its own
policy exec --profile custom --allow-read /w/src --allow-exec /w/src --deny /w/src/Bin
exec exec /w/src/tool allow
exec exec /w/src/bin/tool deny trusted:deny:/w/src/Bin

# not only ASCII letters: long s, Kelvin sign, ligature, joiner, other alphabets
policy letters --profile custom --allow-write /w --deny /w/src/skiff --deny /w/src/Gr\xc3\xbc\xc3\x9fe
letters write /w/src/\xc5\xbfkiff deny
letters write /w/src/s\xe2\x84\xaaiff deny
letters write /w/src/ski\xef\xac\x80 deny
letters write /w/src/sk\xe2\x80\x8diff deny
letters write /w/src/gr\xc3\x9csse deny
letters write /w/src/gruesse allow
letters write /w/src/\xffskiff allow
letters write /w/plain/\xc5\xbfkiff allow

# globs, below where their literal part folds
policy globs --profile custom --allow-write /w --deny /w/src/**/.env --deny /w/big/[A-C]*.Key
globs write /w/src/a/.env deny
globs write /w/src/a/.Env deny trusted:deny:/w/src/**/.env
globs write /w/src/.ENV deny
globs write /w/src/.envs allow
globs write /w/big/b1.kEY deny
globs write /w/big/B1.Key deny
globs write /w/big/d1.key allow

# a whole home that folds: secrets, control files, cordon's own
policy home
home read /h/.SSH/id deny secret:deny:~/.ssh
home read /h/.s\xe2\x80\x8bsh/id deny secret
home read /h/.Cordon/keys deny
home read /h/P/x allow
policy perm --profile permissive
perm write /h/.BASHRC deny
perm write /h/.bashrcs allow
perm write /h/.SSH/id deny secret
# what opens a secret opens the spelling it names
policy open --allow-read ~/.ssh
open read /h/.ssh/id allow

# a project file narrows by folding as well
policy proj --profile custom --allow-write /w
project proj | [sandbox]
project proj | deny = ["/w/src/mine"]
proj write /w/src/MINE/x deny project
proj write /w/src/other allow

# hidden names, also where the dot comes second to the eye only
policy hidden --profile custom --allow-write /w --hidden-writes deny --deny /w/src/private
hidden write /w/src/.X deny hidden_writes
hidden write /w/src/\xe2\x80\x8b.x deny hidden_writes
hidden write /w/plain/\xe2\x80\x8b.x allow

# moves: what folds stays where the rules know that it folds
policy move --profile custom --allow-write /w --deny /w/big/secret
move rename /w/big /w/small deny folding:/w/big
move rename /w/big/one /w/plain/one deny folding:/w/big/one
move rename /w/plain /w/big/plain deny folding:/w/plain
move rename /w/big/one /w/big/two/one allow fine
move rename /w/big/one /w/big/SECRET deny to:/w/big/SECRET
move rename /w/plain/.env /w/big/.env allow fine
move link /w/plain/.env /w/big/Secret deny to:/w/big/Secret
