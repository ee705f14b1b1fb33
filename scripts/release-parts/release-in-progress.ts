import { spawn } from 'node:child_process';

/** What is wrong with the wish, in words; nothing was changed. */
export class Refusal extends Error {}

/** A release while it is made. */
export interface Release {
  version: string;
  /** Time of the commit that it is made of, in seconds: the date of everything in it. */
  seconds: number;
  /** The clone at the release's commit. */
  source: string;
  /** An empty folder on the file system of the output. */
  workFolder: string;
  /** The section of the changelog. */
  notes: string;
  /** The commit that it was made of, and the release's own. */
  base: string;
  commit: string;
  /** `name <address>` of the person who makes it, by git's settings. */
  maintainer: string;
}

/** Processors, in the words of Node, Debian and containers. */
export const architectures = [
  { node: 'x64', debian: 'amd64', container: 'amd64' },
  { node: 'arm64', debian: 'arm64', container: 'arm64' },
] as const;

/** Tells the person who waits which part is made now. @param part a noun phrase */
export const announce = (part: string): void => console.error(`scripts/release: ${part} …`);

/**
 * Runs a program.
 * @param env added to this process's
 * @returns its output without the last line feed
 * @throws Refusal with the last lines of its messages when it fails, or says that the disk is full
 */
export function run(program: string, words: readonly string[], env: Record<string, string> = {}): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(program, words, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', ...env },
    });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      fail(new Refusal(code === 'ENOENT' ? `${program} is missing.` : `${program} does not start.`)),
    );
    child.on('close', (code) => {
      if (code === 0) return done(texts.stdout.replace(/\n$/, ''));
      const lines = texts.stderr.trim().split('\n');
      const said = lines.filter((line) => /^\w*Error: |^\[cause\]/.test(line));
      const last = (said.length > 0 ? said : lines.slice(-5)).join('\n  ');
      fail(
        new Refusal(
          /No space left on device/i.test(last) ? 'The disk is full.' : `${program} ${words[0]} failed:\n  ${last}\n`,
        ),
      );
    });
  });
}
