import { resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { isTable, locateTomlKeys } from './locate-toml-keys.ts';
import { nearestName } from './nearest-name.ts';
import type { Problem } from './problems.ts';

/** The settings file: values by dotted key, and its problems. */
export interface SettingsFile {
  readonly path: string;
  readonly values: ReadonlyMap<string, unknown>;
  readonly problems: readonly Problem[];
  /** Line of a key, from 1. Computed on the first call, which most runs never make. */
  lineOf(key: string): number | null;
}

export interface FileSearch {
  /** From `--config`. */
  readonly configPath?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Reads a text file; throws an error with code ENOENT if it is absent. */
  readFile(path: string): string;
}

const systemFile = '/etc/hearth/hearth.toml';

/** Paths at which a settings file is searched; the first that exists is used. */
export function searchPaths({ configPath, env, cwd }: Omit<FileSearch, 'readFile'>): readonly string[] {
  const named = configPath ?? (env['SERVICE_CONFIG'] || undefined);
  return named === undefined ? [resolve(cwd, 'hearth.toml'), systemFile] : [resolve(cwd, named)];
}

/** Finds and reads the settings file. A file named by flag or variable must exist; otherwise it is optional. */
export function readSettingsFile(search: FileSearch, knownKeys: readonly string[]): SettingsFile | null {
  const paths = searchPaths(search);
  const isExplicit = paths.length === 1;
  for (const path of paths) {
    let toml: string;
    try {
      toml = search.readFile(path);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if ((code === 'ENOENT' || code === 'ENOTDIR') && !isExplicit) continue;
      return unusable(path, 'config_file', null, `cannot be read (${reasonOf(code)})`);
    }
    return readToml(path, toml, knownKeys);
  }
  return null;
}

function reasonOf(code: unknown): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'no such file';
  if (code === 'EACCES') return 'permission denied: use sudo, or let its group read it';
  if (code === 'EISDIR') return 'it is a folder';
  return String(code ?? 'unknown reason');
}

function readToml(path: string, toml: string, knownKeys: readonly string[]): SettingsFile {
  let root: Record<string, unknown>;
  try {
    root = parse(toml);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    return unusable(path, 'config_syntax', error.line, `not valid TOML: ${what}`);
  }
  let lines: ReadonlyMap<string, number> | undefined;
  const lineOf = (key: string): number | null => (lines ??= locateTomlKeys(toml)).get(key) ?? null;
  const values = new Map<string, unknown>();
  const problems: Problem[] = [];
  collect(root, '');
  return { path, values, problems, lineOf };

  function collect(table: Record<string, unknown>, prefix: string): void {
    for (const [name, value] of Object.entries(table)) {
      const key = prefix + name;
      const isSection = knownKeys.some((known) => known.startsWith(`${key}.`));
      if (knownKeys.includes(key)) values.set(key, value);
      else if (isSection && isTable(value)) collect(value, `${key}.`);
      else problems.push(unknown(key, value, isSection));
    }
  }

  function unknown(key: string, value: unknown, isSection: boolean): Problem {
    const line = lineOf(key);
    const sections = new Set(knownKeys.filter((known) => known.includes('.')).map((known) => known.split('.')[0]!));
    const message = isSection
      ? `${key} is a section: add [${key}] followed by its options`
      : isTable(value)
        ? `unknown section [${key}]${suggest(nearestName(key, [...sections]), (name) => `[${name}]`)}`
        : `unknown key ${key}${suggest(nearestName(key, knownKeys), (name) => (key.includes('.') && !name.includes('.') ? `${name}, above the first [section]` : name))}`;
    return { reason: 'config_unknown_key', where: `${path}:${line}`, key, file: path, line, message };
  }
}

function suggest(name: string | null, show: (name: string) => string): string {
  return name === null ? '' : `, did you mean ${show(name)}?`;
}

function unusable(
  path: string,
  reason: 'config_file' | 'config_syntax',
  line: number | null,
  message: string,
): SettingsFile {
  const where = line === null ? path : `${path}:${line}`;
  return {
    path,
    values: new Map(),
    problems: [{ reason, where, key: null, file: path, line, message }],
    lineOf: () => null,
  };
}
