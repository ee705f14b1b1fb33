import { accessSync, constants, realpathSync } from 'node:fs';
import path from 'node:path';
import { invalid } from '../../kernel/index.ts';

interface GitVersion {
  major: number;
  minor: number;
  patch: number;
  /** As printed by git, without "git version ". */
  text: string;
}

/** The first version that supports all settings and output formats that Hearth uses. */
const oldest = { major: 2, minor: 39 };

/**
 * The absolute path of the program; synchronous, because a start waits for git's version. Throws `git_missing`.
 * @param program a path, or a name to look up
 * @param searchPath folders separated by colons
 */
export function findProgram(program: string, searchPath: string): string {
  const candidates = program.includes('/')
    ? [path.resolve(program)]
    : searchPath
        .split(':')
        .filter(path.isAbsolute)
        .map((folder) => path.join(folder, program));
  for (const candidate of candidates) {
    try {
      accessSync(candidate, constants.X_OK);
      return realpathSync(candidate);
    } catch {
      // Not in this folder.
    }
  }
  throw invalid(
    'git_missing',
    `Hearth needs the git program, and "${program}" was not found. Install git ${oldest.major}.${oldest.minor} or newer, or set git.program.`,
  );
}

/** Parses the output of `git version`. Throws `git_too_old`, and `git_missing` if the program is not git. */
export function readVersion(output: string, program: string): GitVersion {
  const [, text, major, minor, patch] = /^git version ((\d+)\.(\d+)(?:\.(\d+))?\S*)/.exec(output) ?? [];
  if (text === undefined) throw invalid('git_missing', `${program} does not behave like git.`);
  const version = { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0), text };
  if (version.major < oldest.major || (version.major === oldest.major && version.minor < oldest.minor)) {
    throw invalid('git_too_old', `Hearth needs git ${oldest.major}.${oldest.minor} or newer; ${program} is ${text}.`);
  }
  return version;
}

/** Whether this version lacks fixes for known attacks by repository content. */
export function lacksFixes({ major, minor, patch }: GitVersion): boolean {
  return major === 2 && minor === 39 && patch < 4;
}
