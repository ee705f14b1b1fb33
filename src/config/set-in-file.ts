import { parse } from 'smol-toml';
import { invalid } from '../kernel/index.ts';

/** A value in the form of the file. */
export type TomlValue = string | number | boolean | readonly string[];

/**
 * The text of a settings file with one setting changed; comments and everything else stay. A line that sets it is
 * replaced, the comment that shows its default gets the line below, a missing section is added at the end. Throws
 * `invalid_settings_file` if the resulting text does not contain the requested value.
 * @param key with its section: `ci.actions_url`; `base_url` for one above the first section
 */
export function setInFile(toml: string, key: string, value: TomlValue): string {
  const [section, name] = key.includes('.') ? (key.split('.') as [string, string]) : [null, key];
  // Strings, numbers, booleans and lists of strings are the same in JSON and TOML.
  const line = `${name} = ${JSON.stringify(value)}`;
  const lines = toml.split('\n');
  const start =
    section === null
      ? -1
      : lines.findIndex((text) => new RegExp(`^\\s*\\[\\s*${section}\\s*\\]\\s*(?:#.*)?$`).test(text));
  if (start === -1 && section !== null) {
    while (lines.at(-1)?.trim() === '') lines.pop();
    lines.push(...(lines.length > 0 ? [''] : []), `[${section}]`, line, '');
  } else {
    const next = lines.findIndex((text, at) => at > start && /^\s*\[/.test(text));
    const end = next === -1 ? lines.length : next;
    const within = (shape: RegExp): number => lines.findIndex((text, at) => at > start && at < end && shape.test(text));
    const present = within(new RegExp(`^\\s*${name}\\s*=`));
    const commented = within(new RegExp(`^\\s*#\\s*${name}\\s*=`));
    if (present !== -1) lines[present] = line;
    else lines.splice((commented === -1 ? start : commented) + 1, 0, line);
  }
  const changed = lines.join('\n');
  if (JSON.stringify(readBack(changed, section, name)) !== JSON.stringify(value))
    throw invalid(
      'invalid_settings_file',
      `The settings file has a format that cannot be edited automatically. Add ${line} ${section === null ? 'above its first section' : `to [${section}]`}.`,
    );
  return changed;
}

function readBack(toml: string, section: string | null, name: string): unknown {
  try {
    const root = parse(toml);
    const table = section === null ? root : root[section];
    return typeof table === 'object' && table !== null ? (table as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}
