import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from './release-in-progress.ts';

/** Name → SHA-256 in hexadecimal digits of each file of a folder, by name. */
export async function sumsOf(folder: string): Promise<Map<string, string>> {
  const sums = new Map<string, string>();
  for (const name of (await readdir(folder)).sort()) sums.set(name, await sumOf(join(folder, name)));
  return sums;
}

export async function sumOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Writes SHA256SUMS of all files and its signature (OpenSSH, PROTOCOL.sshsig), and verifies what it has written. */
export async function signSums(folder: string, { key, signers }: { key: string; signers: string }): Promise<void> {
  const sums = await sumsOf(folder);
  const file = join(folder, 'SHA256SUMS');
  await writeFile(file, [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join(''));
  await run('ssh-keygen', ['-Y', 'sign', '-q', '-n', 'hearth-release', '-f', key, file]);
  const principal = signers.split(' ')[0]!;
  const verify = `ssh-keygen -Y verify -f allowed_signers -I ${principal} -n hearth-release -s SHA256SUMS.sig <SHA256SUMS`;
  await run('sh', ['-c', `cd "$0" && ${verify} && sha256sum --quiet --check SHA256SUMS`, folder]);
}
