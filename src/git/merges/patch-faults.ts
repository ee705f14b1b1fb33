/** Limit of faults named in one message. */
const maxFaults = 5;

/**
 * Messages of git-apply(1) about a patch that does not apply, file by file: `a.txt: the hunk at line 12 does not
 * fit the file`. git's lines `patch failed` (with the line of the hunk) and `patch does not apply` describe the same
 * fault.
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

/** git's message, with replacements for messages about the server rather than the repository. */
const wordOf = (said: string): string =>
  said
    .replace(/: does not exist in index$/, ': there is no such file')
    .replace(/: already exists in index$/, ': this file is there already')
    .replace(/ at (?:\/\S*\/)(?:patch(?:-\d+)?):(\d+)$/, ' at line $1')
    .replace(/ with only (\d+) lines? context$/, '');
