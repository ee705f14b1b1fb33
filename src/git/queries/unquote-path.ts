const letters: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};

/** Decodes a name from git's output, which quotes names with unusual bytes. @param name decoded as Latin-1 */
export function unquotePath(name: string): Buffer {
  const inner = /^"(.*)"$/s.exec(name)?.[1];
  const text = inner?.replace(
    /\\([0-7]{3}|.)/g,
    (_all, code: string) => letters[code] ?? String.fromCharCode(parseInt(code, 8)),
  );
  return Buffer.from(text ?? name, 'latin1');
}
