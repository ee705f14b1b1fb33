import { dirname, join, resolve } from 'node:path';
import { fieldName } from './config.ts';
import type { Config } from './config.ts';
import { findRisks, refuseCombinations } from './combinations.ts';
import { nearestName } from './nearest-name.ts';
import { options } from './options.ts';
import type { Option } from './options.ts';
import { problemsError } from './problems.ts';
import type { Problem, ProblemReason } from './problems.ts';
import { readSettingsFile } from './read-file.ts';
import type { FileSearch, SettingsFile } from './read-file.ts';

export interface ConfigSources extends FileSearch {
  /** Values given as flags: option key → text. They win over everything else. */
  readonly argvOverrides?: Readonly<Record<string, string>>;
}

/** Where a value comes from. */
export interface Origin {
  readonly kind: 'flag' | 'environment' | 'file' | 'default';
  /** The name of the variable, or the path of the file. */
  readonly name: string | null;
}

export interface LoadedConfig {
  /** Deep-frozen. */
  readonly config: Config;
  /** By option key. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly file: SettingsFile | null;
  /** Things that work but are probably not meant, one sentence each. */
  readonly warnings: readonly string[];
}

export type CheckedConfig = { problems: readonly Problem[]; loaded: null } | { problems: readonly []; loaded: LoadedConfig };

/** A value before it is checked, in the form of the TOML file. */
interface Given {
  readonly raw: unknown;
  readonly origin: Origin;
  /** Relative paths count from here. */
  readonly folder: string;
}

/**
 * Works out all settings: flag, environment, file, default; the first wins.
 * Nothing is used half: either every setting is right, or each problem is listed.
 */
export function checkConfig(sources: ConfigSources, table: readonly Option[] = options): CheckedConfig {
  const keys = table.map((option) => option.key);
  const file = readSettingsFile(sources, keys);
  const problems: Problem[] = [...(file?.problems ?? [])];
  const values = new Map<string, unknown>();
  const origins = new Map<string, Origin>();

  for (const option of table) {
    const given = findValue(option, sources, file, problems);
    origins.set(option.key, given.origin);
    if (given.raw === null) {
      values.set(option.key, null);
      continue;
    }
    const checked = option.type.schema.safeParse(given.raw);
    if (checked.success) {
      values.set(option.key, option.type.isPath ? resolve(given.folder, String(checked.data)) : checked.data);
    } else {
      const shown = option.secret ? 'the value' : JSON.stringify(given.raw);
      problems.push(problemAt(option.key, given.origin, file, 'config_bad_value', `${shown} is not allowed for ${option.key}: it must be ${option.type.expects}`));
    }
  }
  if (problems.length > 0) return { problems, loaded: null };

  const config = buildConfig(table, values);
  for (const { key, message } of refuseCombinations(config)) {
    problems.push(problemAt(key, origins.get(key)!, file, 'config_combination', message));
  }
  if (problems.length > 0) return { problems, loaded: null };
  const warnings = [...misspeltVariables(sources.env, table), ...findRisks(config)];
  return { problems: [], loaded: { config, origins, file, warnings } };
}

/** Like `checkConfig`, but throws one `invalid` error (its reason starts with `config_`) that lists all problems. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { problems, loaded } = checkConfig(sources);
  if (loaded === null) throw problemsError(problems);
  return loaded;
}

function findValue(option: Option, sources: ConfigSources, file: SettingsFile | null, problems: Problem[]): Given {
  const { argvOverrides = {}, env, cwd } = sources;
  const flag = argvOverrides[option.key];
  if (flag !== undefined) return { raw: option.type.fromText(flag), origin: { kind: 'flag', name: null }, folder: cwd };

  const variable = env[option.env];
  if (option.secret) {
    const secret = readSecretFile(option, sources, problems);
    if (secret !== null) return secret;
  }
  // Compose files and units write `NAME=` for "not set"; only a list has an empty value of its own.
  if (variable !== undefined && (variable.trim() !== '' || option.type.mayBeEmpty)) {
    return { raw: option.type.fromText(variable), origin: { kind: 'environment', name: option.env }, folder: cwd };
  }
  if (file?.values.has(option.key)) {
    return { raw: file.values.get(option.key), origin: { kind: 'file', name: file.path }, folder: dirname(file.path) };
  }
  // A default below the data folder stays as it is until that folder is known.
  const raw = isBelowDataDir(option.default) ? null : option.default;
  return { raw, origin: { kind: 'default', name: null }, folder: cwd };
}

/** The `…_FILE` form of a secret. Both forms at once would leave it open which one counts. */
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

function buildConfig(table: readonly Option[], values: ReadonlyMap<string, unknown>): Config {
  const dataDir = String(values.get('data_dir'));
  const root: Record<string, unknown> = {};
  for (const option of table) {
    const given = values.get(option.key);
    const value = given === null && isBelowDataDir(option.default) ? join(dataDir, option.default.belowDataDir) : given;
    const [first = '', second] = option.key.split('.');
    if (second === undefined) root[fieldName(first, option.type.suffix)] = value;
    else ((root[first] ??= {}) as Record<string, unknown>)[fieldName(second, option.type.suffix)] = value;
  }
  // The shape is the table's, which is what the Config type is derived from.
  return deepFreeze(root) as Config;
}

function isBelowDataDir(value: Option['default']): value is { belowDataDir: string } {
  return typeof value === 'object' && value !== null && 'belowDataDir' in value;
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part);
  return Object.freeze(value);
}

function problemAt(key: string, origin: Origin, file: SettingsFile | null, reason: ProblemReason, message: string): Problem {
  const line = origin.kind === 'file' ? (file?.lineOf(key) ?? null) : null;
  const path = origin.kind === 'file' ? origin.name : null;
  const where = path !== null ? `${path}:${line}` : (origin.name ?? (origin.kind === 'flag' ? 'command line' : 'default'));
  return { reason, where, key, file: path, line, message };
}

/**
 * Hosting tools set their own SERVICE_ variables, so an unknown one is no error;
 * one that is nearly ours is worth a word.
 */
function misspeltVariables(env: ConfigSources['env'], table: readonly Option[]): string[] {
  const prefix = 'SERVICE_';
  const names = ['SERVICE_CONFIG', ...table.flatMap((option) => (option.secret ? [option.env, `${option.env}_FILE`] : [option.env]))];
  const known = names.map((name) => name.slice(prefix.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !names.includes(name))
    .flatMap((name) => {
      const near = nearestName(name.slice(prefix.length), known);
      return near === null ? [] : [`environment variable ${name} is unknown and ignored, did you mean ${prefix}${near}?`];
    });
}
