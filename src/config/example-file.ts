import { options } from './options.ts';
import type { Option } from './options.ts';

/**
 * The text of config.example.toml: every option, commented out, with its default, description and environment name.
 * Generated, so that it is always current.
 */
export function exampleFile(): string {
  const lines = [
    '# Hearth settings. All settings are optional and are shown with their defaults.',
    '# To change a setting, remove the # in front of its name.',
    '#',
    '# Order of precedence: flag, environment variable, this file, default.',
    '# Hearth looks for this file at --config PATH, $SERVICE_CONFIG, ./hearth.toml,',
    "# /etc/hearth/hearth.toml. Relative paths are relative to this file's folder.",
    '# Check this file with: hearth config check',
  ];
  let section = '';
  for (const option of options) {
    const [first, name] = option.key.includes('.') ? option.key.split('.') : ['', option.key];
    if (first !== section) lines.push('', `[${first}]`);
    section = first!;
    lines.push('', ...describe(option), `#${name} = ${literal(option)}`);
  }
  return lines.join('\n') + '\n';
}

function describe(option: Option): string[] {
  const secret = option.secret ? ` (or a file, specified by ${option.env}_FILE)` : '';
  const unset = option.default === null ? ' Not set by default.' : '';
  return [`# ${option.sentence}${unset}`, `# Environment: ${option.env}${secret}`];
}

function literal(option: Option): string {
  const value = option.default ?? option.example ?? '';
  if (typeof value === 'object' && 'belowDataDir' in value) return JSON.stringify(`./data/${value.belowDataDir}`);
  return JSON.stringify(value);
}
