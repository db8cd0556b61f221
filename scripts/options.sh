# shellcheck shell=bash
# How the scripts explain themselves, and what they say of a word that they do not know. To be sourced before the
# script changes its directory. The usage of a script is the comment at its head.
script_file=$(realpath -- "$0")
script_name=${script_file##*/scripts/}

usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$script_file"; }

# Ends a script that is used wrongly.
wrong_usage() { # what is wrong
  printf '%s: %s; scripts/%s --help says what there is\n' "$script_name" "$*" "$script_name" >&2
  exit 2
}

unknown() { # the word
  case $1 in
    -*) wrong_usage "unknown option $1" ;;
    *) wrong_usage "unknown argument '$1'" ;;
  esac
}

needs_value() { # option [value...], as they stand on the command line
  [[ $# -ge 2 ]] || wrong_usage "$1 needs a value"
}

needs_number() { # option [value...]
  needs_value "$@"
  [[ $2 =~ ^[0-9]+$ ]] || wrong_usage "$1 $2 is not a number"
}
