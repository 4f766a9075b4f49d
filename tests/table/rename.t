# Rules 3 and 11: moving and linking names.
dir /w/a/b /w/empty /w/src/.git/hooks /w/x/hooks /w/deep/p/q /w/.git/hooks /w/.git/objects /w/bare
dir /w/env/.d/x /w/plain/sub /w/ro/in /w/mixed/private /w/tools /w/other /opt/data /w/sealed/k /w/.c1/d /w/.c2
file /w/a/b/a /w/a/f /w/a/b/g /w/x/hooks/pre-commit /w/x/config /w/.git/config /w/.git/hooks/pre-commit
file /w/plain/sub/file /w/mixed/private/key /w/mixed/open /w/env/.env /w/bare/.git /w/file
file /w/.mcp.json /w/tools/t /w/deep/p/q/.env /w/out/private
link /w/link /w/a
closed /w/sealed
place workdir /w
place home /home/u
place gitdir /w/.git

# no rule tells them apart: allowed whatever is below
policy plain
plain rename /w/a /w/c allow fine
plain rename /w/a /w/empty allow fine
plain rename /w/a /w/deep/a allow fine
plain rename /w/deep/p /w/p allow fine
plain rename /w/sealed /w/s2 allow fine
plain rename /w/file /w/file2 allow fine
plain rename /w/link /w/link2 allow fine
plain exchange /w/a /w/deep allow fine
plain exchange /w/a /w/file allow fine
plain link /w/file /w/file2 allow fine

# either end must be writable
plain rename /opt/data /w/data deny from:/opt/data
plain rename /w/a /opt/data/a deny to:/opt/data/a
plain exchange /w/a /opt/data deny to:/opt/data
plain rename /w/file /w/.mcp.json deny to:/w/.mcp.json
plain rename /w/.mcp.json /w/m deny from:/w/.mcp.json
plain exchange /w/file /w/.mcp.json deny to
plain exchange /w/.mcp.json /w/file deny from
plain rename /w/.git/config /w/c deny from
plain rename /w/.git/hooks /w/h deny from:/w/.git/hooks
plain rename /w/x/hooks /w/.git/hooks deny to:/w/.git/hooks

# the source of a link counts as written: its new name would open it
plain link /w/.git/config /w/c deny from:/w/.git/config
plain link /etc/passwd /w/passwd deny from:/etc/passwd
plain link /home/u/.ssh/id /w/id deny from
plain link /w/file /w/.mcp.json deny to:/w/.mcp.json

# a directory takes what is in it to other verdicts
plain rename /w/.git /w/g2 deny below:/w/.git/hooks
plain rename /w/.git /w/deep/.git deny below
plain rename /w/x /w/.git deny below
plain exchange /w/.git /w/x deny below
plain exchange /w/x /w/.git deny below
plain exchange /w/empty /w/.git deny below:/w/.git/hooks
plain rename /w/empty /w/.git allow fine

# nothing but a directory where a rule below needs one
plain rename /w/file /w/.git deny directory:/w/.git
plain rename /w/link /w/.git deny directory:/w/.git
plain link /w/file /w/.git deny directory:/w/.git
plain exchange /w/file /w/.git deny directory:/w/.git
plain exchange /w/.git /w/file deny

# a rule below one of the two names
policy below --deny /w/mixed/private --allow-read /w/ro
below rename /w/mixed /w/m2 deny below:/w/mixed/private
below rename /w/mixed/private /w/p deny from:/w/mixed/private
below rename /w/other /w/mixed allow fine
below rename /w/out /w/mixed deny below:/w/mixed/private
below rename /w/ro/in /w/in deny from
below rename /w/a /w/ro/a deny to
below rename /w/a /w/b allow fine
below exchange /w/a /w/mixed deny below:/w/mixed/private
below exchange /w/mixed /w/a deny below:/w/mixed/private

# what is below only one name counts only where something is
policy absent --deny /w/plain/missing --deny /w/plain/sub/missing
absent rename /w/plain /w/p2 allow fine
absent rename /w/plain/sub /w/p2 allow fine
absent rename /w/a /w/plain allow fine

# a glob goes along, whatever the names
policy glob --deny **/.env --protect exact
glob rename /w/env /w/env2 allow fine
glob rename /w/deep /w/d allow fine
glob rename /w/deep/p/q /w/q allow fine
glob rename /w/file /w/.env deny to:/w/.env
glob rename /w/env/.env /w/e deny from:/w/env/.env
# unless the glob sees a difference
policy anchored --deny env/* --deny */q --protect exact
anchored rename /w/env /w/env2 deny below:/w/env/.d
anchored rename /w/plain /w/env deny below:/w/env/sub
anchored rename /w/deep/p/q /w/q allow fine
anchored rename /w/deep/p /w/p deny below:/w/p/q
anchored rename /w/empty /w/env allow fine

# or has matched above one of the two names already and so says nothing below it
policy once --profile custom --allow-read **/a --allow-write /w/*/b --protect exact
once rename /w/a/b /w/c/b deny below:/w/c/b/a

# what cannot be looked at is refused
policy unseen --deny sealed/x* --protect exact --deny /w/need/x
unseen rename /w/sealed /w/s2 deny unseen:/w/sealed
unseen exchange /w/a /w/sealed deny unseen
unseen rename /w/a /w/b allow fine
# and what is not known to be a file or a directory must be allowed as both
unseen rename /w/nothing /w/need deny directory:/w/need
unseen rename /w/nothing /w/n2 allow fine

# rule 10: hidden files
policy hidden --hidden-writes deny
hidden rename /w/a /w/.a deny to:/w/.a
hidden rename /w/.c1 /w/c deny from
hidden rename /w/a /w/c allow fine
hidden rename /w/env /w/env2 allow fine
hidden rename /w/deep /w/d allow fine
policy lifted --hidden-writes deny --allow-write /w/.c1/d --allow-write /w/env/.d/x
lifted rename /w/.c1/d /w/d allow fine
lifted rename /w/env /w/env2 deny below:/w/env2/.d/x

# execution is a verdict too
policy exec --profile custom --allow-write /w --allow-exec /w/tools
exec rename /w/tools /w/t2 deny below:/w/t2/t
exec rename /w/other /w/o2 allow fine

# a project file, and the workdir itself
policy proj
project proj | [sandbox]
project proj | deny = ["mixed/private"]
project proj | read = ["plain/sub"]
proj rename /w/mixed /w/m2 deny below:/w/mixed/private
proj rename /w/plain /w/p2 deny below:/w/plain/sub
proj rename /w/a /w/p2 allow fine
policy root --profile custom --allow-write /
root rename /w /w9 deny unseen:/w
root rename /w/a /opt/a allow fine
root rename /opt/data /w/data allow fine
