# A run in a part of a repository: what decides at its top is closed as in the workdir, and
# nothing there is opened.
dir /home/u/p/.git/hooks /home/u/p/sub/.idea /home/u/p/.vscode
link /home/u/p/.cursor elsewhere
dir /home/u/p/elsewhere
place workdir /home/u/p/sub
place home /home/u
place gitdir /home/u/p/.git
place top /home/u/p

policy permissive --profile permissive
policy moderate
policy over --allow-write /home/u/p
policy naming --allow-write /home/u/p --allow-write /home/u/p/.vscode
policy strict --profile strict
policy own
user own | [sandbox]
user own | default_profile = "own"
user own | [sandbox.profiles.own]
user own | read = ["@runtime"]
user own | write = ["{workdir}", "@control"]
policy reading
user reading | [sandbox]
user reading | default_profile = "reading"
user reading | [sandbox.profiles.reading]
user reading | read = ["@runtime", "@control"]
user reading | write = ["/home/u"]
policy closing
user closing | [sandbox.profiles.permissive]
user closing | deny = ["@control"]
user closing | [sandbox]
user closing | default_profile = "permissive"

permissive write /home/u/p/.claude deny
permissive write /home/u/p/.mcp.json deny
permissive write /home/u/p/.vscode/tasks.json deny
permissive write /home/u/p/.git/hooks/pre-commit deny
permissive write /home/u/p/.git/config.worktree deny
permissive write /home/u/p/.cursor deny
permissive write /home/u/p/elsewhere/x deny
permissive read /home/u/p/.vscode/tasks.json allow
permissive write /home/u/p/sub/.claude deny
permissive write /home/u/p/file allow
permissive write /home/u/p/.git/index allow
# Other directories are not looked for.
permissive write /home/u/p/other/.claude allow
permissive write /home/u/q/.git/hooks/pre-commit allow
moderate write /home/u/p/.claude deny
moderate write /home/u/p/file deny
over write /home/u/p/file allow
over write /home/u/p/.claude deny
over write /home/u/p/.vscode/tasks.json deny
naming write /home/u/p/.vscode/tasks.json allow
naming write /home/u/p/.claude deny
# Taken away, never given.
strict read /home/u/p/.vscode/tasks.json deny
reading write /home/u/p/.vscode/tasks.json deny
reading write /home/u/p/file allow
reading read /home/u/p/sub/.idea/x allow
own read /home/u/p/.vscode/tasks.json deny
own write /home/u/p/.vscode/tasks.json deny
own write /home/u/p/sub/.idea/x allow
closing read /home/u/p/.vscode/tasks.json deny
