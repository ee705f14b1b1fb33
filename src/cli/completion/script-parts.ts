import type { CommandSpec, OptionSpec, CompletionSource } from './command-specs.ts';

/** The parts of a script; the same for every shell. */
export interface Tree {
  readonly shapes: readonly CommandSpec[];
  /** Options of every command. */
  readonly everywhere: readonly OptionSpec[];
}

/** Single-quoted for bash and zsh. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A completion as the scripts encode it: `file`, `names:user`, `words:on off`, or nothing. */
function wantedText(wanted: CompletionSource): string {
  if (wanted === 'file') return 'file';
  if (wanted === 'anything') return '';
  return 'names' in wanted ? `names:${wanted.names}` : `words:${wanted.words.join(' ')}`;
}

/** `user/create` → `user add`: from a position and the next word to the following position. */
export function steps({ shapes }: Tree): { from: string; word: string; to: string }[] {
  return shapes.flatMap(({ path, commands }) =>
    commands.flatMap(({ name, aliases }) =>
      [name, ...aliases].map((word) => ({ from: path, word, to: path === '' ? name : `${path} ${name}` })),
    ),
  );
}

/** Every option that takes a value, with its command; null for all commands. */
export function valueOptions({
  shapes,
  everywhere,
}: Tree): { path: string | null; names: string[]; wanted: CompletionSource }[] {
  const of = (path: string | null, options: readonly OptionSpec[]) =>
    options.flatMap(({ long, short, value }) =>
      value === null ? [] : [{ path, names: short === null ? [long] : [long, short], wanted: value }],
    );
  return [...shapes.flatMap(({ path, options }) => of(path, options)), ...of(null, everywhere)];
}

/**
 * The functions that bash and zsh share; both return their result in REPLY. `_hearth_step FROM WORD` follows a word,
 * `_hearth_value PATH OPTION` returns the completion of an option's value (and fails for one without a value),
 * `_hearth_argument PATH PLACE` that of an argument.
 */
export function sharedFunctions(tree: Tree): string {
  const argumentLines = tree.shapes.flatMap(({ path, arguments: wanted, isVariadic }) =>
    wanted.flatMap((one, place) => {
      const text = wantedText(one);
      const pattern = isVariadic && place === wanted.length - 1 ? `${quoted(`${path} `)}*` : quoted(`${path} ${place}`);
      return text === '' ? [] : [`    ${pattern}) REPLY=${quoted(text)} ;;`];
    }),
  );
  return `
_hearth_step() {
  case "$1/$2" in
${steps(tree)
  .map(({ from, word, to }) => `    ${quoted(`${from}/${word}`)}) REPLY=${quoted(to)} ;;`)
  .join('\n')}
    *) return 1 ;;
  esac
}

_hearth_value() {
  case "$1 $2" in
${valueOptions(tree)
  .map(
    ({ path, names, wanted }) =>
      `    ${names.map((name) => (path === null ? `*${quoted(` ${name}`)}` : quoted(`${path} ${name}`))).join('|')}) REPLY=${quoted(wantedText(wanted))} ;;`,
  )
  .join('\n')}
    *) return 1 ;;
  esac
}

_hearth_argument() {
  REPLY=''
  case "$1 $2" in
${argumentLines.join('\n')}
  esac
}
`;
}
