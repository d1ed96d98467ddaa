# Prints what zsh offers for a line: zsh complete.zsh PROGRAM LINE.
# It types to another zsh, on a terminal of its own, which sources this file too.
if [[ -z $offers ]]; then
  export program=$1 offers=$(mktemp)
  zmodload zsh/zpty
  zpty terminal zsh -f -i
  zpty -w terminal "source ${(q)0:A}"
  zpty -r terminal said $'*\1ready\1*'
  zpty -w -n terminal $2$'\t'
  zpty -r terminal said $'*\1done\1*'
  zpty -d terminal
  cat $offers
  rm $offers
  return
fi

PROMPT= RPROMPT=
bindkey '^I' complete-word
autoload -Uz compinit
compinit -u -D
source <($program completion zsh)

# compadd is what all completion ends in. With -A, -D or -O it offers nothing.
compadd() {
  local -a hits
  if [[ ${@[1,(i)(-|--)]} != *-[ADO]\ * ]]; then
    builtin compadd -A hits "$@"
    print -rl -- $hits >>$offers
  fi
  builtin compadd "$@"
}
done-completing() { print -n '\1done\1' }
comppostfuncs=(done-completing)
print -n '\1ready\1'
