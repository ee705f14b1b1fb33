import { dirname, resolve } from 'node:path';
import type { Option } from './options.ts';
import type { Problem, ProblemReason } from './problems.ts';
import { readSettingsFile } from './read-settings-file.ts';
import type { FileSearch, SettingsFile } from './read-settings-file.ts';

export interface ConfigSources extends FileSearch {
  /** Values given as flags: option key → text. They override all other sources. */
  readonly argvOverrides?: Readonly<Record<string, string>>;
}

/** Source of a value. */
export interface Origin {
  readonly kind: 'flag' | 'environment' | 'file' | 'default';
  /** The name of the variable, or the path of the file. */
  readonly name: string | null;
}

interface ResolvedOptions {
  /** Checked values by option key; null if nothing is set and the default is none or depends on others. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly origins: ReadonlyMap<string, Origin>;
  readonly problems: readonly Problem[];
  readonly file: SettingsFile | null;
}

/** A value before its check, in the form of the TOML file. */
interface Given {
  readonly raw: unknown;
  readonly origin: Origin;
  /** Relative paths are resolved against this folder. */
  readonly folder: string;
}

/** Resolves each option of `table` on its own: flag, environment, file, default; the first wins. */
export function resolveOptions(table: readonly Option[], sources: ConfigSources): ResolvedOptions {
  const file = readSettingsFile(
    sources,
    table.map((option) => option.key),
  );
  const problems: Problem[] = [...(file?.problems ?? [])];
  const values = new Map<string, unknown>();
  const origins = new Map<string, Origin>();
  for (const option of table) {
    const { raw, origin, folder } = findValue(option, table, sources, file, problems);
    origins.set(option.key, origin);
    const value = raw === null ? null : option.type.read(raw);
    if (value !== undefined) {
      values.set(option.key, option.type.isPath && value !== null ? resolve(folder, String(value)) : value);
    } else {
      const shown = option.secret ? 'the value' : JSON.stringify(raw);
      const message =
        option.type.explain === undefined
          ? `${shown} is not allowed for ${option.key}: it must be ${option.type.expects}`
          : `${option.key} is not allowed: ${option.type.explain(raw)}`;
      problems.push(problemAt(option.key, origin, file, 'config_bad_value', message));
    }
  }
  return { values, origins, problems, file };
}

function findValue(
  option: Option,
  table: readonly Option[],
  sources: ConfigSources,
  file: SettingsFile | null,
  problems: Problem[],
): Given {
  const { argvOverrides = {}, env, cwd } = sources;
  const flag = argvOverrides[option.key];
  if (flag !== undefined) return { raw: option.type.fromText(flag), origin: { kind: 'flag', name: null }, folder: cwd };

  // The variable may belong to an option of its own: the code that needs the secret then reads the file.
  if (option.secret && !table.some(({ env }) => env === `${option.env}_FILE`)) {
    const secret = readSecretFile(option, sources, problems);
    if (secret !== null) return secret;
  }
  const variable = env[option.env];
  // Compose files and units write `NAME=` for "not set"; only a list has an empty value.
  if (variable !== undefined && (variable.trim() !== '' || option.type.mayBeEmpty)) {
    return { raw: option.type.fromText(variable), origin: { kind: 'environment', name: option.env }, folder: cwd };
  }
  if (file?.values.has(option.key)) {
    return { raw: file.values.get(option.key), origin: { kind: 'file', name: file.path }, folder: dirname(file.path) };
  }
  // A default below the data folder is resolved once that folder is known.
  const raw = isBelowDataDir(option.default) ? null : option.default;
  return { raw, origin: { kind: 'default', name: null }, folder: cwd };
}

/** Reads the `…_FILE` form of a secret. With both forms set, it would be unclear which one counts. */
function readSecretFile(option: Option, { env, cwd, readFile }: ConfigSources, problems: Problem[]): Given | null {
  const name = `${option.env}_FILE`;
  const path = env[name];
  if (path === undefined || path.trim() === '') return null;
  const origin: Origin = { kind: 'environment', name };
  if (env[option.env]) {
    problems.push(problemAt(option.key, origin, null, 'config_combination', `set ${option.env} or ${name}, not both`));
  }
  try {
    return { raw: option.type.fromText(readFile(resolve(cwd, path)).replace(/\r?\n$/, '')), origin, folder: cwd };
  } catch {
    problems.push(problemAt(option.key, origin, null, 'config_file', `the file ${path} cannot be read`));
    return { raw: null, origin, folder: cwd };
  }
}

export function isBelowDataDir(value: Option['default']): value is { belowDataDir: string } {
  return typeof value === 'object' && value !== null && 'belowDataDir' in value;
}

/** A problem with one option, located where its value was written. */
export function problemAt(
  key: string,
  origin: Origin,
  file: SettingsFile | null,
  reason: ProblemReason,
  message: string,
): Problem {
  if (origin.kind === 'file') {
    const line = file?.lineOf(key) ?? null;
    return { reason, where: `${origin.name}:${line}`, key, file: origin.name, line, message };
  }
  const where = origin.name ?? (origin.kind === 'flag' ? 'command line' : 'default');
  return { reason, where, key, file: null, line: null, message };
}
