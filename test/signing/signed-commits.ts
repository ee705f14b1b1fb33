// signedCommits(t, bare) → a repository with commits that were signed by real gpg and ssh-keygen, in twenty ways.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Owner } from '../fixtures/temporary-folder.ts';

interface GpgOptions {
  /** Unix seconds that gpg takes for now. */
  at?: number;
  input?: string | Buffer;
}

/** A key ring of its own, whose agent ends with the test. */
export class KeyRing {
  /** A short path: the socket of the agent lies in it. */
  readonly home = mkdtempSync(path.join(tmpdir(), 'gpg-'));

  constructor(t: Owner) {
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
    t.teardown(() => {
      execFileSync('gpgconf', ['--homedir', this.home, '--kill', 'all'], { stdio: 'ignore' });
      rmSync(this.home, { recursive: true, force: true });
    });
  }

  run(args: readonly string[], { at, input }: GpgOptions = {}): string {
    const time = at === undefined ? [] : ['--faked-system-time', `${at}!`];
    return execFileSync(
      'gpg',
      [
        '--homedir',
        this.home,
        '--batch',
        '--yes',
        '--quiet',
        '--no-tty',
        '--pinentry-mode',
        'loopback',
        '--passphrase',
        '',
        ...time,
        ...args,
      ],
      { input, stdio: ['pipe', 'pipe', 'ignore'], maxBuffer: 2 ** 24 },
    ).toString();
  }

  /** Makes a key and returns its fingerprint. */
  make(
    userId: string,
    algorithm: string,
    { usage = 'sign', expires = 'never', at }: { usage?: string; expires?: string; at?: number } = {},
  ): string {
    this.run(['--quick-generate-key', userId, algorithm, usage, expires], at === undefined ? {} : { at });
    return this.fingerprints(userId)[0]!;
  }

  /** Fingerprints of a key and its subkeys, the primary key first. */
  fingerprints(key: string): string[] {
    return this.run(['--list-keys', '--with-colons', key]).match(/(?<=^fpr:{9})[0-9A-F]+/gm) ?? [];
  }

  export(key: string): string {
    return this.run(['--armor', '--export', key]);
  }

  /** Revokes a key with the certificate that gpg made with it. */
  revoke(fingerprint: string): void {
    const file = path.join(this.home, 'openpgp-revocs.d', `${fingerprint}.rev`);
    // gpg puts a colon before the armour, so that the file is not imported by accident.
    this.run(['--import'], { input: readFileSync(file, 'utf8').replace(':-----BEGIN', '-----BEGIN') });
  }

  /** A detached signature. */
  sign(key: string, payload: string | Buffer, { at, ...options }: { at?: number; digest?: string } = {}): string {
    const digest = options.digest === undefined ? [] : ['--digest-algo', options.digest];
    return this.run([...digest, '--armor', '--detach-sign', '--local-user', `${key}!`], {
      input: payload,
      ...(at === undefined ? {} : { at }),
    });
  }
}

export function makeSshKey(folder: string, name: string, type: string, ...bits: string[]): string {
  const file = path.join(folder, name);
  execFileSync('ssh-keygen', ['-q', '-t', type, ...bits, '-N', '', '-C', name, '-f', file]);
  return file;
}

/** A detached SSH signature in the namespace of git. */
export function signWithSsh(key: string, payload: string | Buffer, namespace = 'git'): string {
  const file = `${key}.message`;
  writeFileSync(file, payload);
  execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', key, file], { stdio: 'ignore' });
  const text = readFileSync(`${file}.sig`, 'utf8');
  rmSync(`${file}.sig`);
  return text;
}

/** Stores a commit with a signature in its headers. Returns its id. */
export function storeSigned(bare: string, payload: string, armored: string): string {
  const header = `gpgsig ${armored.trimEnd().split('\n').join('\n ')}\n`;
  const end = payload.indexOf('\n\n') + 1;
  const object = payload.slice(0, end) + header + payload.slice(end);
  return execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], { cwd: bare, input: object })
    .toString()
    .trim();
}

/** The text of a commit without a signature. */
export function commitText(tree: string, parents: readonly string[], who: string, at: number, message: string): string {
  return [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${who} ${at} +0000`,
    `committer ${who} ${at} +0000`,
    '',
    `${message}\n`,
  ].join('\n');
}
