/** Faults that one message names. */
const maxFaults = 5;

/**
 * What git-apply(1) says of a patch that does not fit, file by file: `a.txt: the lines at 12 are others`. Its lines
 * `patch failed` (with the line of the hunk) and `patch does not apply` speak of the same.
 * @param errorText its stderr, in English
 */
export function patchFaults(errorText: string): string[] {
  const faults: string[] = [];
  for (const line of errorText.split('\n')) {
    const [, said] = /^(?:error|fatal): (.+)$/.exec(line) ?? [];
    if (said === undefined || said.endsWith(': patch does not apply') || said.startsWith('while searching for:'))
      continue;
    const [, file, at] = /^patch failed: (.+):(\d+)$/.exec(said) ?? [];
    faults.push(file === undefined ? wordOf(said) : `${file}: the hunk at line ${at} does not fit the file`);
  }
  const rest = faults.length > maxFaults ? [`${faults.length - maxFaults} more`] : [];
  return [...faults.slice(0, maxFaults), ...rest];
}

/** git's words, with those replaced that speak of what the server does and not of the repository. */
const wordOf = (said: string): string =>
  said
    .replace(/: does not exist in index$/, ': there is no such file')
    .replace(/: already exists in index$/, ': this file is there already')
    .replace(/ at (?:\/\S*\/)(?:patch(?:-\d+)?):(\d+)$/, ' at line $1')
    .replace(/ with only (\d+) lines? context$/, '');
