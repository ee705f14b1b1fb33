import { quoted, sharedFunctions } from './script-parts.ts';
import type { Tree } from './script-parts.ts';

/** The script for bash: tables made from the tree, and a function that follows the typed words. */
export function bashScript(tree: Tree): string {
  const long = (options: Tree['everywhere']): string => options.map((option) => option.long).join(' ');
  const tables = tree.shapes.map(
    ({ path, commands, options }) =>
      `    ${quoted(path)}) commands=${quoted(commands.map(({ name }) => name).join(' '))}; options=${quoted(long(options))} ;;`,
  );
  return `# Completion of hearth for bash. Made by: hearth completion bash
${sharedFunctions(tree)}
_hearth_known() {
  case $1 in
${tables.join('\n')}
    *) commands=''; options='' ;;
  esac
}

_hearth() {
  local REPLY word path='' commands options wanted='' place=0 position=1 flag=''
  local IFS=$' \\t\\n' given=() current=$2
  COMPREPLY=()
  # bash takes --color=never for three words.
  if [[ $current == '=' ]]; then current=''; fi
  while ((position < COMP_CWORD)); do
    word=\${COMP_WORDS[position]}
    position=$((position + 1))
    if [[ $word == '=' ]]; then continue; fi
    if [[ $word == -* ]]; then
      if _hearth_value "$path" "$word"; then
        wanted=$REPLY
        [[ \${COMP_WORDS[position]} == '=' ]] && position=$((position + 1))
        if ((position >= COMP_CWORD)); then flag=$word; break; fi
        [[ $word == --data-dir || $word == --config ]] && given+=("$word" "\${COMP_WORDS[position]}")
        position=$((position + 1))
      fi
    elif ((place == 0)) && _hearth_step "$path" "$word"; then path=$REPLY
    else place=$((place + 1)); fi
  done
  if [[ -z $flag ]]; then
    _hearth_known "$path"
    if [[ $current == -* ]]; then wanted="words:$options ${long(tree.everywhere)}"
    elif [[ -n $commands ]]; then wanted="words:$commands"
    else _hearth_argument "$path" "$place"; wanted=$REPLY; fi
  fi
  case $wanted in
    file) COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null ;;
    words:*) COMPREPLY=($(compgen -W "\${wanted#words:}" -- "$current")) ;;
    names:*) COMPREPLY=($("\${COMP_WORDS[0]}" "\${given[@]}" complete-names "\${wanted#names:}" "$current" 2>/dev/null)) ;;
  esac
}

complete -F _hearth hearth
`;
}
