import { parse } from 'smol-toml';
import { invalid } from '../kernel/index.ts';

/**
 * The text of a settings file with one setting changed; comments and everything else stay. A line that sets it is
 * replaced, the comment that shows its default gets the line below, a missing section is added at the end. Refuses
 * `invalid_settings_file` where the text does not say afterwards what was asked for.
 * @param key with its section: `ci.actions_url`
 */
export function setInFile(toml: string, key: string, value: string): string {
  const [section = '', name = ''] = key.split('.');
  const line = `${name} = ${JSON.stringify(value)}`;
  const lines = toml.split('\n');
  const start = lines.findIndex((text) => new RegExp(`^\\s*\\[\\s*${section}\\s*\\]\\s*(?:#.*)?$`).test(text));
  if (start === -1) {
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
  const read = readBack(changed, section, name);
  if (read !== value)
    throw invalid(
      'invalid_settings_file',
      `The settings file has a form that is not changed here. Write ${line} into [${section}].`,
    );
  return changed;
}

function readBack(toml: string, section: string, name: string): unknown {
  try {
    const table = parse(toml)[section];
    return typeof table === 'object' && table !== null ? (table as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}
