# Completion of warpbook's commands and flags; files for the rest.
_warpbook() {
  local word=${COMP_WORDS[COMP_CWORD]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="COMMANDS"
  elif [ "${word#-}" != "$word" ]; then
    words=$("${COMP_WORDS[0]}" "${COMP_WORDS[1]}" --help 2>/dev/null | sed -n 's/^  \(--[a-z-]*\).*/\1/p')
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _warpbook warpbook
