import type { OptionSpec, CompletionSource } from './command-specs.ts';
import { steps, valueOptions } from './script-parts.ts';
import type { Tree } from './script-parts.ts';

/** Single-quoted in fish's syntax. */
const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** The script for fish: one line for each word and option, and a function for the current position. */
export function fishScript(tree: Tree): string {
  return `# Completion of hearth for fish. Made by: hearth completion fish

# Whether the words before the cursor are this command, with so many arguments when a number is given.
function __hearth_at
    set -l path ''
    set -l place 0
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        set -l word $words[1]
        set -e words[1]
        if string match -q -- '-*' $word
            switch "$path $word"
                case ${valueOptions(tree)
                  .flatMap(({ path, names }) =>
                    names.map((name) => quoted(path === null ? `* ${name}` : `${path} ${name}`)),
                  )
                  .join(' ')}
                    set -e words[1]
            end
            continue
        end
        set -l next ''
        if test $place -eq 0
            switch "$path/$word"
${steps(tree)
  .map(
    ({ from, word, to }) =>
      `                case ${quoted(`${from}/${word}`)}\n                    set next ${quoted(to)}`,
  )
  .join('\n')}
            end
        end
        if test -n "$next"
            set path $next
        else
            set place (math $place + 1)
        end
    end
    test "$path" = "$argv[1]"; and begin
        not set -q argv[2]; or test $place -eq $argv[2]; or begin
            test "$argv[3]" = more; and test $place -gt $argv[2]
        end
    end
end

function __hearth_names
    set -l words (commandline -opc)
    set -l given
    for at in (seq 2 (count $words))
        contains -- $words[$at] --data-dir --config; and set -a given $words[$at] $words[(math $at + 1)]
    end
    $words[1] $given complete-names $argv[1] (commandline -ct) 2>/dev/null
end

complete -c hearth -f
${tree.everywhere.map((option) => `complete -c hearth${optionWords(option)}`).join('\n')}
${tree.shapes
  .flatMap(({ path, commands, options, arguments: places, isVariadic }) => [
    ...commands.map(
      ({ name, about }) =>
        `complete -c hearth -n ${quoted(`__hearth_at ${quoted(path)} 0`)} -a ${name} -d ${quoted(about)}`,
    ),
    ...options.map((option) => `complete -c hearth -n ${quoted(`__hearth_at ${quoted(path)}`)}${optionWords(option)}`),
    ...places.flatMap((wanted, place) => {
      const more = isVariadic && place === places.length - 1 ? ' more' : '';
      return wanted === 'anything'
        ? []
        : [`complete -c hearth -n ${quoted(`__hearth_at ${quoted(path)} ${place}${more}`)}${wantedWords(wanted)}`];
    }),
  ])
  .join('\n')}
`;
}

function optionWords({ long, short, about, value }: OptionSpec): string {
  const names = `${short === null ? '' : ` -s ${short.slice(1)}`} -l ${long.slice(2)}`;
  return `${names}${value === null ? '' : ` -r${wantedWords(value)}`} -d ${quoted(about)}`;
}

function wantedWords(wanted: CompletionSource): string {
  if (wanted === 'file') return ' -F';
  if (wanted === 'anything') return '';
  return 'names' in wanted
    ? ` -a ${quoted(`(__hearth_names ${wanted.names})`)}`
    : ` -a ${quoted(wanted.words.join(' '))}`;
}
