import { quoted, sharedFunctions } from './script-parts.ts';
import type { Tree } from './script-parts.ts';

/** The script for zsh, which shows descriptions of words. */
export function zshScript(tree: Tree): string {
  const described = (words: readonly { name: string; about: string }[]): string =>
    words.map(({ name, about }) => quoted(`${name.replaceAll(':', '\\:')}:${about}`)).join(' ');
  const optionsOf = (options: Tree['everywhere']): string =>
    described(options.map(({ long, about }) => ({ name: long, about })));
  const tables = tree.shapes.map(
    ({ path, commands, options }) =>
      `    ${quoted(path)}) commands=(${described(commands)}); options=(${optionsOf(options)}) ;;`,
  );
  return `#compdef hearth
# Completion of hearth for zsh. Made by: hearth completion zsh
${sharedFunctions(tree)}
_hearth_known() {
  case $1 in
${tables.join('\n')}
    *) commands=(); options=() ;;
  esac
}

_hearth() {
  local REPLY word where='' wanted='' flag='' current=\${words[CURRENT]}
  local -i place=0 position=2
  local -a commands options given found
  while ((position < CURRENT)); do
    word=\${words[position]}
    position+=1
    if [[ $word == -* ]]; then
      if [[ $word != *=* ]] && _hearth_value "$where" "$word"; then
        wanted=$REPLY
        if ((position >= CURRENT)); then flag=$word; break; fi
        [[ $word == --data-dir || $word == --config ]] && given+=("$word" "\${words[position]}")
        position+=1
      fi
    elif ((place == 0)) && _hearth_step "$where" "$word"; then where=$REPLY
    else place+=1; fi
  done
  if [[ -z $flag && $current == -*=* ]] && _hearth_value "$where" "\${current%%=*}"; then
    wanted=$REPLY flag=\${current%%=*} current=\${current#*=}
    compset -P '*='
  fi
  if [[ -z $flag ]]; then
    _hearth_known "$where"
    if [[ $current == -* ]]; then
      options+=(${optionsOf(tree.everywhere)})
      _describe -o option options
      return
    elif ((\${#commands} > 0)); then
      _describe command commands
      return
    fi
    _hearth_argument "$where" "$place"
    wanted=$REPLY
  fi
  case $wanted in
    file) _files ;;
    words:*) compadd -- \${=wanted#words:} ;;
    names:*)
      found=(\${(f)"$("\${words[1]}" "\${given[@]}" complete-names "\${wanted#names:}" "$current" 2>/dev/null)"})
      compadd -a found ;;
  esac
}

# Loaded from a file of $fpath, or by: source <(hearth completion zsh)
if [[ $funcstack[1] == _hearth ]]; then _hearth "$@"; else compdef _hearth hearth; fi
`;
}
