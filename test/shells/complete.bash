# Prints what bash offers for a line: bash complete.bash PROGRAM LINE.
# Bash has no way to ask it for that but the variables that it sets itself.
source /usr/share/bash-completion/bash_completion
source <("$1" completion bash)

# Words are parted at "=", too.
line=$2
read -ra COMP_WORDS <<<"${line//=/ = }"
[[ $line == *[[:space:]=] ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line} COMP_TYPE=9 COMP_KEY=9

compopt() { :; } # there is no line being edited
specification=($(complete -p "$1"))
for ((i = 0; i < ${#specification[@]}; i++)); do
  [[ ${specification[i]} == -F ]] && "${specification[i + 1]}" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
done
printf '%s\n' "${COMPREPLY[@]}"
