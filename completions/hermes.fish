# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_hermes_global_optspecs
    string join \n home= p/profile= color= ascii h/help V/version
end

function __fish_hermes_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_hermes_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_hermes_using_subcommand
    set -l cmd (__fish_hermes_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c hermes -n "__fish_hermes_needs_command" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_needs_command" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_needs_command" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_needs_command" -s V -l version -d 'Print version'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "serve" -d 'Host sessions, drive loops and heartbeats, tick cron'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "service" -d 'Print units that keep serve running'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "cron" -d 'Manage scheduled jobs, and find out why one does not fire'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "loop" -d 'Set and control loops: prompts that a session runs again and again'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "heartbeat" -d 'Set and control heartbeats: cadences at which a session reports'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "session" -d 'Show sessions, and what the reapers would do with them'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "agent" -d 'Look at the agent that prompts are given to'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "pause" -d 'Stop all schedules of a home, at once'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "resume" -d 'Lift the emergency stop of a home'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "doctor" -d 'Look for what keeps scheduled work from running: \'hermes cron doctor\''
complete -c hermes -n "__fish_hermes_needs_command" -f -a "config" -d 'Show the configuration, check it, or name its files'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "explain" -d 'Explain a code of the doctor: why it happens, what it does, how to mend it'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "man" -d 'Print the manual page, or write all pages into a directory'
complete -c hermes -n "__fish_hermes_needs_command" -f -a "help" -d 'Print help of a command, or the table of exit codes'
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l host -d 'Address to listen at [default: serve.host, else 127.0.0.1]' -r
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l port -d 'Port to listen at; 0 takes a free one [default: serve.port, else 9119]' -r
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l auth -d 'Who else than this host may connect' -r -f -a "token\t'By the token of serve.token, at least 32 characters'"
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand serve" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l no-cron -d 'Do not tick cron jobs'
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l foreground -d 'Stay in the foreground; serve always does'
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l passive -d 'Wait while another serve has the home, then take over'
complete -c hermes -n "__fish_hermes_using_subcommand serve" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand service; and not __fish_seen_subcommand_from print" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand service; and not __fish_seen_subcommand_from print" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand service; and not __fish_seen_subcommand_from print" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand service; and not __fish_seen_subcommand_from print" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand service; and not __fish_seen_subcommand_from print" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand service; and not __fish_seen_subcommand_from print" -f -a "print" -d 'Print a unit; nothing is installed'
complete -c hermes -n "__fish_hermes_using_subcommand service; and __fish_seen_subcommand_from print" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand service; and __fish_seen_subcommand_from print" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand service; and __fish_seen_subcommand_from print" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand service; and __fish_seen_subcommand_from print" -l user -d 'A unit of this account\'s own manager [default, unless root asks]'
complete -c hermes -n "__fish_hermes_using_subcommand service; and __fish_seen_subcommand_from print" -l system -d 'A unit of the system\'s manager that runs as this account'
complete -c hermes -n "__fish_hermes_using_subcommand service; and __fish_seen_subcommand_from print" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand service; and __fish_seen_subcommand_from print" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "list" -d 'List the jobs'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "ls" -d 'List the jobs'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "status" -d 'Tell whether anything will fire'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "show" -d 'Show one job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "create" -d 'Create a job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "add" -d 'Create a job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "edit" -d 'Change a job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "pause" -d 'Pause a job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "resume" -d 'Resume a paused job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "remove" -d 'Remove a job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "rm" -d 'Remove a job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "delete" -d 'Remove a job'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "run" -d 'Run a job now'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "runs" -d 'List runs, the newest first'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "history" -d 'List runs, the newest first'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "logs" -d 'Show what a run prints, while it runs and after'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "cancel" -d 'End a run that goes on'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "incidents" -d 'List incidents, the last seen first'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "doctor" -d 'Look for what keeps scheduled work from running'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "next" -d 'Show how a schedule text is read, and when it fires'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and not __fish_seen_subcommand_from list ls status show create add edit pause resume remove rm delete run runs history logs cancel incidents doctor next tick" -f -a "tick" -d 'Run what is due once, and wait for it'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from list" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from list" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from list" -s a -l all -d 'Jobs that have ended or are switched off, too'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from list" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from ls" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from ls" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from ls" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from ls" -s a -l all -d 'Jobs that have ended or are switched off, too'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from ls" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from ls" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from status" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from status" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from status" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from show" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from show" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from show" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l name -d 'Name of the job [default: the start of its prompt, or its script]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l script -d 'Script under scripts/ of the home; its output goes before the prompt' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l interpreter -d 'Program that runs the script [default: by its ending, or by its own first line]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l monitor-script -d 'Script under scripts/; the agent is asked only when its output has changed' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l workdir -d 'Directory to run in [default: the home]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l repeat -d 'How often to run: a number, \'once\' or \'forever\'' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l deliver -d 'Where the result goes: \'local\' keeps it in the home' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l deliver-command -d 'Command that gets each result on its stdin, in words as a shell has them' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l timeout -d 'Longest run, like 90s or 2h; 0 is no limit' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l env-file -d 'File of variables (NAME=value) for the run' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l catch-up -d 'What to do with a slot that was missed: once, skip, or max-lateness=TIME' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l stagger -d 'Start up to so much later than the slot, so that jobs do not start all at once' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l paused-reason -d 'Why it is paused' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l no-agent -d 'Run the script alone, without an agent'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l paused -d 'Create it paused'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l dry-run -d 'Only show what would be kept'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l name -d 'Name of the job [default: the start of its prompt, or its script]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l script -d 'Script under scripts/ of the home; its output goes before the prompt' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l interpreter -d 'Program that runs the script [default: by its ending, or by its own first line]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l monitor-script -d 'Script under scripts/; the agent is asked only when its output has changed' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l workdir -d 'Directory to run in [default: the home]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l repeat -d 'How often to run: a number, \'once\' or \'forever\'' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l deliver -d 'Where the result goes: \'local\' keeps it in the home' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l deliver-command -d 'Command that gets each result on its stdin, in words as a shell has them' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l timeout -d 'Longest run, like 90s or 2h; 0 is no limit' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l env-file -d 'File of variables (NAME=value) for the run' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l catch-up -d 'What to do with a slot that was missed: once, skip, or max-lateness=TIME' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l stagger -d 'Start up to so much later than the slot, so that jobs do not start all at once' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l paused-reason -d 'Why it is paused' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l no-agent -d 'Run the script alone, without an agent'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l paused -d 'Create it paused'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l dry-run -d 'Only show what would be kept'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l schedule -d 'When it fires' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l prompt -d 'What the agent is asked' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l name -d 'Name of the job [default: the start of its prompt, or its script]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l script -d 'Script under scripts/ of the home; its output goes before the prompt' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l interpreter -d 'Program that runs the script [default: by its ending, or by its own first line]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l monitor-script -d 'Script under scripts/; the agent is asked only when its output has changed' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l workdir -d 'Directory to run in [default: the home]' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l repeat -d 'How often to run: a number, \'once\' or \'forever\'' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l deliver -d 'Where the result goes: \'local\' keeps it in the home' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l deliver-command -d 'Command that gets each result on its stdin, in words as a shell has them' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l timeout -d 'Longest run, like 90s or 2h; 0 is no limit' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l env-file -d 'File of variables (NAME=value) for the run' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l catch-up -d 'What to do with a slot that was missed: once, skip, or max-lateness=TIME' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l stagger -d 'Start up to so much later than the slot, so that jobs do not start all at once' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l no-agent -d 'Run the script alone, without an agent'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l agent -d 'Ask the agent again, where the script ran alone'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l unpin -d 'Take the pinned model, provider, endpoint and reasoning effort off'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l clear-skills -d 'Take the skills off'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l clear-toolsets -d 'Take the choice of toolsets off'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l clear-context -d 'Take the output of other jobs off its prompt'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l clear-monitor-url -d 'Take the monitored URL off'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l clear-failure-deliver -d 'Take the target of failures off'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l dry-run -d 'Only show what would be changed'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -l reason -d 'Why' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -l dry-run -d 'Only show what would be changed'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -l at -d 'Run it first at this time; its slots start after that' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -l run-now -d 'Run it first at the next tick; its slots start after that'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -l dry-run -d 'Only show what would be changed'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -s y -l yes -d 'Do not ask'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -l dry-run -d 'Only show what would be removed'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -s y -l yes -d 'Do not ask'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -l dry-run -d 'Only show what would be removed'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -s y -l yes -d 'Do not ask'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -l dry-run -d 'Only show what would be removed'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -l execution -d 'Id of the execution, for the process that goes on in the background' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -l detach -d 'Come back as soon as it runs'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -l dry-run -d 'Only show what would be run'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -s n -l limit -d 'How many to show' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -l failed -d 'Only what did not end well: failed, unknown or not delivered, and slots that were missed or refused'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from runs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -s n -l limit -d 'How many to show' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -l failed -d 'Only what did not end well: failed, unknown or not delivered, and slots that were missed or refused'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from logs" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from logs" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from logs" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from logs" -s f -l follow -d 'Go on until the run has ended, or nobody runs it any more'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from logs" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from logs" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from logs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from cancel" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from cancel" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from cancel" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from cancel" -l dry-run -d 'Only show what would be ended'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from cancel" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from cancel" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from cancel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -l state -d 'Which ones' -r -f -a "open\t'Those that go on'
resolved\t'Those that a good run ended'
closed\t'Those that a person closed, or that ended with their job'
all\t'All of them'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -s n -l limit -d 'How many to show' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -f -a "list" -d 'List incidents, the last seen first'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -f -a "ack" -d 'Mark an incident as seen'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from incidents" -f -a "close" -d 'Close incidents that are dealt with'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l unit -d 'Judge for the process of this unit, or for the one that it would start' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l pid -d 'Judge for this process' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l user -d 'Judge for this account, by name or uid, and its home' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l only -d 'Run only these checks or groups, or look only for these codes' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l skip -d 'Leave out these checks, groups or codes' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l deadline -d 'Answer within this time, whatever hangs' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l fail-on -d 'The least severity that sets the exit status' -r -f -a "info\t'Worth knowing'
warning\t'Will bite, or bites a little'
error\t'Something does not work'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l print -d 'The least severity that is printed as text; JSON always has all' -r -f -a "info\t'Worth knowing'
warning\t'Will bite, or bites a little'
error\t'Something does not work'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l shell -d 'Judge for this shell'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l strict -d 'Let everything that could not be checked set the exit status'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l plain -d 'Print tab-separated records'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l json -d 'Print one JSON document, schema hermes.doctor/1'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -s q -l quiet -d 'Print nothing when the exit status is 0'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -s v -l verbose -d 'Print every check with its duration, and all evidence'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l count -d 'How many instants to show' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l from -d 'Count from this instant instead of now' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l tz -d 'Zone to read the text in, instead of the configured one' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l last-run -d 'When the job last ran: intervals and cron expressions count from there' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from next" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -l at -d 'Look at this instant instead of now' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -l dry-run -d 'Only show it: nothing is run and nothing is written'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand cron; and __fish_seen_subcommand_from tick" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "start" -d 'Set a loop, or show how a text would be read as one'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "list" -d 'List the loops of a home, and who drives each'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "status" -d 'Show the loop of a session'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "pause" -d 'Pause the loop of a session'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "resume" -d 'Let the loop of a session go on'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "stop" -d 'End the loop of a session'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "history" -d 'Show past wake-ups of a loop, the newest first'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l session -d 'In this session: its id or the begin of it, or its title [default: a new one]' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l times -d 'End after so many wake-ups' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l until -d 'End when this holds' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l dry-run -d 'Only show how the text is read'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l foreground -d 'Run it in this terminal, without any serve; Ctrl-C ends it'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from list" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from list" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from list" -l all -d 'Show those that have ended, too'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from list" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from status" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from status" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from status" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from pause" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from pause" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from pause" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from pause" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from pause" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from resume" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from resume" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from resume" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from resume" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from resume" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from stop" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from stop" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from stop" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from stop" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from stop" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from history" -l limit -d 'At most so many wake-ups' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from history" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from history" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from history" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from history" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from history" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand loop; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "start" -d 'Set a heartbeat, or show how a text would be read as one'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "list" -d 'List the heartbeats of a home, and who drives each'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "status" -d 'Show the heartbeat of a session'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "pause" -d 'Pause the heartbeat of a session'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "resume" -d 'Let the heartbeat of a session go on'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "stop" -d 'End the heartbeat of a session'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and not __fish_seen_subcommand_from start list status pause resume stop history" -f -a "history" -d 'Show past beats, the newest first'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -l session -d 'In this session: its id or the begin of it, or its title [default: a new one]' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -l dry-run -d 'Only show how the text is read'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from list" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from list" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from list" -l all -d 'Show those that have ended, too'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from list" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from status" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from status" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from status" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from status" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from status" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from pause" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from pause" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from pause" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from pause" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from pause" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from resume" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from resume" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from resume" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from resume" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from resume" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from stop" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from stop" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from stop" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from stop" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from stop" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from history" -l limit -d 'At most so many wake-ups' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from history" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from history" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from history" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from history" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from history" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand heartbeat; and __fish_seen_subcommand_from history" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -f -a "list" -d 'List the open sessions of a home: who holds each, and what drives its timers'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -f -a "show" -d 'Show a session: what it does, who holds it, what was said last'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -f -a "title" -d 'Show what a session is known by, or give it another title'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -f -a "attach" -d 'Talk to a session: each line is a message, what it says is shown as it comes'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -f -a "close" -d 'Close a session that serve holds, or that nobody holds any more; its transcript stays'
complete -c hermes -n "__fish_hermes_using_subcommand session; and not __fish_seen_subcommand_from list show title attach close reap" -f -a "reap" -d 'Let the reapers run now, or show what they would do with each session, and why'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from list" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from list" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from list" -l all -d 'Show those that have ended, too, when and why: the newest thousand'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from list" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from list" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from show" -l messages -d 'So many of its newest messages' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from show" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from show" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from show" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from title" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from title" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from title" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from title" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from title" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from title" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from attach" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from attach" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from attach" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from attach" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from attach" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from close" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from close" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from close" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from close" -l dry-run -d 'Only show which session that is, and what it does'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from close" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from close" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from close" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -l reaper -d 'Ask only this reaper; may be given again' -r -f -a "orphan\t'Nobody came back within the grace'
idle\t'Nobody used it for hours'
cap\t'Too many are held'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -l dry-run -d 'Only show the plan; nothing is written'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand session; and __fish_seen_subcommand_from reap" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand agent; and not __fish_seen_subcommand_from check" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand agent; and not __fish_seen_subcommand_from check" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand agent; and not __fish_seen_subcommand_from check" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand agent; and not __fish_seen_subcommand_from check" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand agent; and not __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand agent; and not __fish_seen_subcommand_from check" -f -a "check" -d 'Ask the agent for one word, and tell what happened'
complete -c hermes -n "__fish_hermes_using_subcommand agent; and __fish_seen_subcommand_from check" -l timeout -d 'Longest wait for the answer; 0 leaves it to agent.timeout' -r
complete -c hermes -n "__fish_hermes_using_subcommand agent; and __fish_seen_subcommand_from check" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand agent; and __fish_seen_subcommand_from check" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand agent; and __fish_seen_subcommand_from check" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand agent; and __fish_seen_subcommand_from check" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand agent; and __fish_seen_subcommand_from check" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand agent; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand pause" -l reason -d 'Why' -r
complete -c hermes -n "__fish_hermes_using_subcommand pause" -l for -d 'Let it end by itself after so long, like 90s, 2h or 1d' -r
complete -c hermes -n "__fish_hermes_using_subcommand pause" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand pause" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand pause" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand pause" -l dry-run -d 'Only show what would be set'
complete -c hermes -n "__fish_hermes_using_subcommand pause" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand pause" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand resume" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand resume" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand resume" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand resume" -l dry-run -d 'Only show what would be lifted'
complete -c hermes -n "__fish_hermes_using_subcommand resume" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand resume" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand resume" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l unit -d 'Judge for the process of this unit, or for the one that it would start' -r
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l pid -d 'Judge for this process' -r
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l user -d 'Judge for this account, by name or uid, and its home' -r
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l only -d 'Run only these checks or groups, or look only for these codes' -r
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l skip -d 'Leave out these checks, groups or codes' -r
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l deadline -d 'Answer within this time, whatever hangs' -r
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l fail-on -d 'The least severity that sets the exit status' -r -f -a "info\t'Worth knowing'
warning\t'Will bite, or bites a little'
error\t'Something does not work'"
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l print -d 'The least severity that is printed as text; JSON always has all' -r -f -a "info\t'Worth knowing'
warning\t'Will bite, or bites a little'
error\t'Something does not work'"
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l shell -d 'Judge for this shell'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l strict -d 'Let everything that could not be checked set the exit status'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l plain -d 'Print tab-separated records'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l json -d 'Print one JSON document, schema hermes.doctor/1'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -s q -l quiet -d 'Print nothing when the exit status is 0'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -s v -l verbose -d 'Print every check with its duration, and all evidence'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -f -a "show" -d 'Show each setting, its value, and where that comes from'
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -f -a "check" -d 'Check the files of the configuration and the variables that set something'
complete -c hermes -n "__fish_hermes_using_subcommand config; and not __fish_seen_subcommand_from show check path" -f -a "path" -d 'Print where the files of the configuration are looked for'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -l set -d 'Only what somebody set'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -l markdown -d 'Print the page of the documentation about all settings'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from check" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from check" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from check" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from check" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from check" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from path" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from path" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from path" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from path" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from path" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand explain" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand explain" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand explain" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand explain" -l all -d 'List every code'
complete -c hermes -n "__fish_hermes_using_subcommand explain" -l json -d 'Print JSON'
complete -c hermes -n "__fish_hermes_using_subcommand explain" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand completions" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand completions" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand completions" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand man" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand man" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand man" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand man" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hermes -n "__fish_hermes_using_subcommand help" -l home -d 'Home directory [default: HERMES_HOME, else ~/.hermes]' -r -F
complete -c hermes -n "__fish_hermes_using_subcommand help" -s p -l profile -d 'Profile to look at; \'all\' where the command only reads' -r
complete -c hermes -n "__fish_hermes_using_subcommand help" -l color -d 'When to use colour' -r -f -a "auto\t'As the environment and the terminal say'
always\t'Always'
never\t'Never'"
complete -c hermes -n "__fish_hermes_using_subcommand help" -l ascii -d 'Print ASCII only'
complete -c hermes -n "__fish_hermes_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'

function __fish_hermes_named
    set -l words (commandline -opc) (commandline -ct)
    command $words[1] offer -- $words[2..-1] 2>/dev/null
end
complete -c hermes -n "__fish_hermes_using_subcommand cron" -a "(__fish_hermes_named)"
