# Completion of warpbook's commands and flags; files for the rest.
function __warpbook_flags
  set -l words (commandline -opc)
  string match -q -- '-*' (commandline -ct); or return
  $words[1] $words[2] --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\)\( [A-Z=]*\)\{0,1\}  */\1\t/p'
end
complete -c warpbook -n '__fish_is_nth_token 1' -f -a 'COMMANDS'
complete -c warpbook -n 'not __fish_is_nth_token 1' -a '(__warpbook_flags)'
