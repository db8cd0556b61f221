# Completion of `iwarp` in fish: at each Tab the program itself says what may stand next, one word a line with what it
# does behind a tab, behind a first line that says whether these are all (`iwarp complete`, cli/completion).

function __iwarp_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    # As it was typed: what completes is the program that will run.
    set -l program (string replace -r -- '^~/' "$HOME/" $before[1])
    command -q $program; or return
    set -l lines ($program complete -- $before $current 2>/dev/null)
    # What stands before a '=' in the same word stays.
    set -l kept (string match -r -- '^--[^=]*=' $current)
    set -l path (string replace -r -- '^--[^=]*=' '' $current)
    switch $lines[1]
        case candidates
            test (count $lines) -lt 2; or string join -- \n $lines[2..]
        case files
            string replace -r -- '^' "$kept" (__fish_complete_path "$path")
        case directories
            string replace -r -- '^' "$kept" (__fish_complete_directories "$path" '')
        case 'program *'
            set -l begin (math 1 + (string replace 'program ' '' $lines[1]))
            set -l words
            test (count $before) -lt $begin; or set words (string escape -- $before[$begin..])
            complete -C "$words $current"
    end
end

complete -c iwarp -f -a '(__iwarp_complete)'
