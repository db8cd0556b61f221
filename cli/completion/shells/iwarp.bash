# shellcheck shell=bash
# Completion of `iwarp` in bash: at each Tab the program itself says what may stand next, one word a line behind a
# first line that says whether these are all (`iwarp complete`, cli/completion).

# Puts the words up to the cursor into `words`, as bash takes them apart at blanks alone and not at '=' and ':', and
# for each where it begins in COMP_WORDS into `begins`.
_iwarp_words() {
  local line=${COMP_LINE:0:COMP_POINT} i word
  words=() begins=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((i > 0)) && [[ $line != [[:blank:]]* && -n $line ]]; then
      words[-1]+=$word
    else
      words+=("$word")
      begins+=("$i")
    fi
    line=${line#"${line%%[![:blank:]]*}"}
    if ((i == COMP_CWORD)) && [[ -n $word ]]; then words[-1]=${words[-1]%"${word#"$line"}"}; fi
    line=${line#"$word"}
  done
}

# Another program's command line begins at this word.
_iwarp_program() {
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  else
    compopt -o default
  fi
}

_iwarp() {
  local words begins lines current breaks cut line
  _iwarp_words
  # As it was typed: what completes is the program that will run.
  mapfile -t lines < <("${words[0]/#\~\//${HOME-}/}" complete -- "${words[@]}" 2>/dev/null)
  current=${words[-1]}
  # What stands before the last '=' or ':' is a word of its own for bash, and stays, unless COMP_WORDBREAKS was changed.
  breaks=${COMP_WORDBREAKS//[^=:]/} cut=''
  [[ -z $breaks ]] || cut=${current%"${current##*["$breaks"]}"}
  COMPREPLY=()
  case ${lines[0]-} in
    candidates)
      for line in "${lines[@]:1}"; do
        line=${line%%$'\t'*}
        [[ $line != *: ]] || compopt -o nospace
        COMPREPLY+=("${line#"$cut"}")
      done
      ;;
    files) compopt -o default ;;
    directories) compopt -o dirnames ;;
    program\ *) _iwarp_program "${begins[${lines[0]#program }]}" ;;
  esac
}

complete -F _iwarp iwarp
