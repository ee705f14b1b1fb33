import { chmod, lstat, readdir, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { dayMs } from '../deps.ts';
import { storageFault } from '../storage-fault.ts';
import type { CheckGroup, CheckContext } from '../deps.ts';

const networkFileSystems = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997]);

/** Disk space and file permissions. */
export const checkStorage: CheckGroup = async (deps) => {
  const { dataDir, storage } = deps.config;
  const findings: CheckResult[] = [];
  const { bavail, bsize, type } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free < storage.lowDiskFloorBytes) {
    findings.push(
      problem('storage.full', `Only ${megabytes(free)} are free: pushes and uploads are refused.`, {
        remedy: 'free disk space, for example: hearth trash empty; hearth backup prune',
      }),
    );
  } else if ((await storageFault(deps.config)) === 'disk full') {
    findings.push(
      problem(
        'storage.full',
        `Nothing can be written in ${dataDir}: the disk or its inodes are full, or this user's quota is used up.`,
        { remedy: 'free disk space, for example: hearth trash empty; hearth backup prune' },
      ),
    );
  }
  if (networkFileSystems.has(type))
    findings.push(
      problem('storage.network', `${dataDir} is on a network file system, which is not safe for the database.`, {
        remedy: 'move it to a local disk',
      }),
    );
  const home = (await stat(dataDir)).dev;
  for (const folder of [storage.root, path.join(dataDir, 'trash'), path.join(dataDir, 'tmp')]) {
    const found = await stat(folder).catch(() => null);
    if (found !== null && found.dev !== home) {
      findings.push(
        problem(
          'storage.two_file_systems',
          `${folder} is on another file system than ${dataDir}: files cannot be moved between them.`,
          { remedy: 'put both on one file system' },
        ),
      );
    }
  }
  findings.push(...(await checkModes(deps)), ...(await checkLeftovers(deps)));
  return { area: 'storage', findings, summary: `${dataDir}, ${megabytes(free)} free` };
};

async function checkModes({ config: { dataDir }, userId }: CheckContext): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  const top = await lstat(dataDir);
  if ((top.mode & 0o007) !== 0) {
    findings.push(
      problem('storage.open_folder', `Every user of this machine can read ${dataDir}.`, {
        remedy: `chmod 700 ${dataDir}`,
        fix: async () => chmod(dataDir, 0o700).then(() => `restricted access to ${dataDir}`),
      }),
    );
  }
  for (const name of ['.', ...(await readdir(dataDir))]) {
    const found = await lstat(path.join(dataDir, name)).catch(() => null);
    if (found !== null && userId !== null && found.uid !== userId) {
      findings.push(
        problem(
          'storage.owner',
          `${path.join(dataDir, name)} belongs to user ${found.uid}, but the server runs as user ${userId}.`,
          { remedy: `chown -R ${userId} ${dataDir}` },
        ),
      );
    }
  }
  for (const name of ['host_ed25519', 'host_ecdsa'])
    findings.push(...(await checkHostKey(path.join(dataDir, 'ssh', name))));
  return findings;
}

async function checkHostKey(key: string): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  const found = await lstat(key).catch(() => null);
  if (found !== null && (found.mode & 0o077) !== 0) {
    findings.push(
      problem('ssh.key_mode', 'Other users can read the SSH host key.', {
        remedy: `chmod 600 ${key}`,
        fix: async () => chmod(key, 0o600).then(() => 'restricted access to the SSH host key'),
      }),
    );
  }
  if (found !== null && found.size === 0) {
    findings.push(
      problem('ssh.key_empty', 'The SSH host key is empty: the SSH server cannot start.', {
        remedy: `restore it from a backup; without one, remove ${key}, and every client will be prompted to accept the new key`,
      }),
    );
  }
  return findings;
}

/** Files that a killed process leaves in temporary folders. */
async function checkLeftovers({ config: { dataDir, backup }, now }: CheckContext): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  const old: [check: string, folder: string, shape: RegExp][] = [
    ['storage.old_temporary', path.join(dataDir, 'tmp'), /./],
    ['backup.unfinished', backup.folder, /^\.unfinished-/],
    ['storage.old_restore', dataDir, /^\.restoring-/],
  ];
  for (const [check, folder, shape] of old) {
    for (const name of (await readdir(folder).catch(() => [])).filter((each) => shape.test(each))) {
      const at = path.join(folder, name);
      const found = await lstat(at).catch(() => null);
      if (found === null || now - found.mtimeMs < dayMs) continue;
      findings.push(
        warning(check, `A killed process left ${at} behind.`, {
          remedy: `rm -r ${at}`,
          fix: async () => rm(at, { recursive: true, force: true }).then(() => `removed ${at}`),
        }),
      );
    }
  }
  return findings;
}

const megabytes = (bytes: number): string =>
  bytes >= 1e9 ? `${Math.round(bytes / 1e9)} GB` : `${Math.round(bytes / 1e6)} MB`;
