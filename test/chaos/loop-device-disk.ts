// loopDeviceDisk(t, megabytes) → {folder, serve(), inside(...), breakDown(server), repair()}: a data folder on an
// ext4 file system of its own, which can be filled completely, and turns read-only under open files, as after a disk
// error. Each server has a mount namespace, so the file system is invisible outside. Needs root and a loop device,
// see `hasLoopDevices`.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startServerProcess } from '../e2e/server-process.ts';
import type { ServerProcess } from '../e2e/server-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const run = promisify(execFile);

export const hasLoopDevices = works(
  'sh',
  '-c',
  `
  set -e
  image=$(mktemp); folder=$(mktemp -d)
  trap 'rm -f "$image"; rmdir "$folder"' EXIT
  truncate -s 8M "$image"; PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F "$image"
  unshare -m sh -c 'mount -o loop "$1" "$2" && umount "$2"' sh "$image" "$folder"`,
);

/** strace can make system calls of a running process fail. */
export const hasFaultInjection =
  process.getuid?.() === 0 && works('strace', '-e', 'trace=fsync', '-e', 'inject=fsync:error=EIO', 'true');

/** Whether a small file system of its own can be mounted. */
export const hasTmpfs =
  process.getuid?.() === 0 &&
  works(
    'sh',
    '-c',
    'folder=$(mktemp -d) && mount -t tmpfs -o size=1m none "$folder" && umount "$folder" && rmdir "$folder"',
  );

function works(file: string, ...words: string[]): boolean {
  try {
    execFileSync(file, words, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface LoopDeviceDisk {
  folder: string;
  serve(env?: Record<string, string>): Promise<ServerProcess>;
  /** Runs a program in the mount namespace of this server. */
  inside(server: ServerProcess, ...words: string[]): Promise<string>;
  /** From now on the file system refuses every write, also to open files. */
  breakDown(server: ServerProcess): Promise<void>;
  /** With no server running: the check of a reboot. */
  repair(): Promise<void>;
}

export async function loopDeviceDisk(t: Owner, megabytes: number): Promise<LoopDeviceDisk> {
  const folder = temporaryFolder(t);
  const image = path.join(folder, 'disk.img');
  const data = path.join(folder, 'data');
  mkdirSync(data);
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
  await run('truncate', ['-s', `${megabytes}M`, image]);
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', image], { env });
  const inside = async ({ pid }: ServerProcess, ...words: string[]) =>
    (await run('nsenter', ['-t', String(pid), '-m', ...words])).stdout;
  return {
    folder,
    serve: (more = {}) =>
      startServerProcess(t, 'either', {
        folder,
        env: { SERVICE_STORAGE_LOW_DISK_FLOOR: '0B', ...more },
        wrapper: [
          'unshare',
          '-m',
          'sh',
          '-c',
          'mount -o loop,errors=remount-ro "$1" "$2" && chmod 700 "$2" && rm -rf "$2/lost+found" && shift 2 && exec "$@"',
          'sh',
          image,
          data,
        ],
      }),
    inside,
    async breakDown(server) {
      await inside(server, 'mount', '-o', 'remount,abort', data);
    },
    async repair() {
      // git's processes may outlive the server for a moment, and with them the mount: two mounts would write to one
      // disk.
      await waitUntil(async () => (await run('losetup', ['--associated', image], { env })).stdout === '');
      // 1: errors were corrected.
      await run('e2fsck', ['-p', '-f', image], { env }).catch((error: { code?: number }) => {
        if (error.code !== 1) throw error;
      });
    },
  };
}
