import { join } from 'node:path';
import { findRisks, findConflictingOptions } from './conflicting-options.ts';
import { fieldName } from './config.ts';
import type { Config } from './config.ts';
import { nearestName } from './nearest-name.ts';
import { options } from './options.ts';
import { problemsError } from './problems.ts';
import type { Problem } from './problems.ts';
import type { SettingsFile } from './read-settings-file.ts';
import { isBelowDataDir, problemAt, resolveOptions } from './resolve-options.ts';
import type { ConfigSources, Origin } from './resolve-options.ts';

export interface LoadedConfig {
  /** Deep-frozen. */
  readonly config: Config;
  /** By option key. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly file: SettingsFile | null;
  /** Settings that are valid but probably unintended, one sentence each. */
  readonly warnings: readonly string[];
}

type CheckedConfig = { problems: readonly Problem[]; loaded: null } | { problems: readonly []; loaded: LoadedConfig };

/**
 * Resolves all settings: flag, environment, file, default; the first wins. Either every setting is valid, or all
 * problems are returned.
 */
export function checkConfig(sources: ConfigSources): CheckedConfig {
  const { values, origins, problems, file } = resolveOptions(options, sources);
  if (problems.length > 0) return { problems, loaded: null };

  const config = buildConfig(values);
  const place = (key: string): Origin => origins.get(key) ?? { kind: 'default', name: null };
  const refusals = findConflictingOptions(config, (key) => place(key).kind !== 'default');
  if (refusals.length > 0) {
    return {
      problems: refusals.map(({ key, message }) => problemAt(key, place(key), file, 'config_combination', message)),
      loaded: null,
    };
  }
  const warnings = [...misspeltVariables(sources.env), ...findRisks(config)];
  return { problems: [], loaded: { config, origins, file, warnings } };
}

/** Like `checkConfig`, but throws one `invalid` error (its reason starts with `config_`) that lists all problems. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const { problems, loaded } = checkConfig(sources);
  if (loaded === null) throw problemsError(problems);
  return loaded;
}

function buildConfig(values: ReadonlyMap<string, unknown>): Config {
  const dataDir = String(values.get('data_dir'));
  const root: Record<string, unknown> = {};
  for (const option of options) {
    const given = values.get(option.key);
    const value = given === null && isBelowDataDir(option.default) ? join(dataDir, option.default.belowDataDir) : given;
    const [first = '', second] = option.key.split('.');
    if (second === undefined) root[fieldName(first, option.type.suffix)] = value;
    else ((root[first] ??= {}) as Record<string, unknown>)[fieldName(second, option.type.suffix)] = value;
  }
  // The options table determines the shape and the Config type.
  return deepFreeze(root) as Config;
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) deepFreeze(part);
  return Object.freeze(value);
}

/**
 * Hosting tools set SERVICE_ variables of their own, so an unknown one is not an error; one that resembles ours gets a
 * warning.
 */
function misspeltVariables(env: ConfigSources['env']): string[] {
  const prefix = 'SERVICE_';
  const names = [
    'SERVICE_CONFIG',
    ...options.flatMap((option) => ('secret' in option ? [option.env, `${option.env}_FILE`] : [option.env])),
  ];
  const known = names.map((name) => name.slice(prefix.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !names.includes(name))
    .flatMap((name) => {
      const near = nearestName(name.slice(prefix.length), known);
      return near === null
        ? []
        : [`environment variable ${name} is unknown and ignored, did you mean ${prefix}${near}?`];
    });
}
