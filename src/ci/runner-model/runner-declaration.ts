/** Declaration of a runner, with bounded lengths. */
export interface RunnerDeclaration {
  version: string;
  labels: string[];
  capabilities: string[];
}

const maxNameBytes = 255;
const maxWords = 100;

/** Truncates a text to a number of bytes, never inside a character. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.toWellFormed());
  if (bytes.length <= maxBytes) return bytes.toString();
  let end = maxBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

export const cutName = (name: string): string => cutText(name.trim(), maxNameBytes);

/** Current runners send bare labels; older ones append the execution environment: `linux:docker://image`. */
export function readRunnerDeclaration({ version, labels, capabilities }: RunnerDeclaration): RunnerDeclaration {
  const words = (list: readonly string[], clean: (word: string) => string): string[] =>
    [...new Set(list.map((word) => cutName(clean(word))).filter((word) => word !== ''))].slice(0, maxWords);
  return {
    version: cutName(version),
    labels: words(labels, (label) => label.replace(/:(?:host|docker:\/\/.*|lxc(?::.*)?)$/, '')),
    capabilities: words(capabilities, (word) => word),
  };
}
