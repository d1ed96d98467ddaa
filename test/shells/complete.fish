# Prints what fish offers for a line: fish complete.fish PROGRAM LINE.
$argv[1] completion fish | source
complete -C $argv[2]
