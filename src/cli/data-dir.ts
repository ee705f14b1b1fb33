import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { forbidden, invalid, unavailable } from '../kernel/index.ts';
import type { CliProcess } from './cli-process.ts';
import { withHint } from './report-error.ts';

/**
 * Commands other than `serve` and `migrate` need an existing data folder: a mistyped path must not create a second,
 * empty instance. Throws `no_data_dir`, and `data_dir_forbidden` for the folder of another user.
 */
export function requireDataDir(dataDir: string, databaseFile: string, origin: string): void {
  refuseForeign(dataDir);
  // `hearth init` creates the folder; the first command that needs the database creates it.
  if (existsSync(databaseFile) || existsSync(join(dataDir, readmeName))) return;
  throw invalid('no_data_dir', `No Hearth data folder found in ${dataDir} (from ${origin}).`);
}

/** A folder without permission is reported as such, not as missing. Throws `data_dir_forbidden`. */
export function refuseForeign(dataDir: string): void {
  try {
    if (statSync(dataDir, { throwIfNoEntry: false }) !== undefined)
      accessSync(dataDir, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw withHint(
      forbidden('data_dir_forbidden', `This user cannot access the data folder ${dataDir}${ownerOf(dataDir)}.`),
      'run the command as that user, or with sudo, which switches to that user',
    );
  }
}

const isForbidden = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');

/** `, which belongs to hearth`; empty if the owner cannot be read. */
function ownerOf(folder: string): string {
  try {
    const { uid } = statSync(folder);
    const name = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .find(([, , id]) => Number(id) === uid)?.[0];
    return `, which belongs to ${name ?? `user ${uid}`}`;
  } catch {
    return '';
  }
}

/**
 * Creates the data folder, or checks that it can be used. Throws `data_dir_unusable` with the command that fixes it,
 * `data_dir_read_only`, and `network_file_system`, where SQLite's write-ahead log would lose rows.
 */
export function prepareDataDir(
  dataDir: string,
  { getuid }: Pick<CliProcess, 'getuid'>,
  access: typeof accessSync = accessSync,
): void {
  try {
    makeFolder(dataDir);
    access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EROFS')
      throw withHint(
        unavailable('data_dir_read_only', `The data folder ${dataDir} is on a read-only file system.`, {
          cause,
        }),
        'see dmesg for the cause, then run: mount -o remount,rw …',
      );
    const user = getuid?.() ?? 'USER';
    throw withHint(
      unavailable('data_dir_unusable', `User ${user} cannot write to the data folder ${dataDir}.`),
      existsSync(dataDir) ? `chown -R ${user} ${dataDir}` : `mkdir -p ${dataDir} && chown ${user} ${dataDir}`,
    );
  }
  const network = networkFileSystems.get(statfsSync(dataDir).type);
  if (network !== undefined) {
    throw withHint(
      unavailable(
        'network_file_system',
        `The data folder ${dataDir} is on ${network}, which is not safe for a database.`,
      ),
      'use a local disk: --data-dir or SERVICE_DATA_DIR',
    );
  }
  const readme = join(dataDir, readmeName);
  if (!existsSync(readme)) writeFileSync(readme, readmeText, { mode: 0o600 });
}

/**
 * Returns the topmost created folder. One level at a time: with `recursive`, Node never returns on file systems that
 * cannot have new folders, such as /proc.
 */
export function makeFolder(folder: string, mode = 0o700): string | undefined {
  if (existsSync(folder)) return undefined;
  const first = makeFolder(dirname(folder), mode);
  mkdirSync(folder, { mode });
  return first ?? folder;
}

/** Types of statfs(2). */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x01021997, '9p'],
]);

/**
 * `sudo hearth user add` must not leave files in the data folder that the server's user cannot write, so root first
 * becomes the folder's owner. Returns the new user id, or null.
 */
export function dropPrivilegesToOwnerOf(
  dataDir: string,
  process: Pick<CliProcess, 'getuid' | 'setgroups' | 'setgid' | 'setuid'>,
): number | null {
  if (process.getuid?.() !== 0 || !existsSync(dataDir)) return null;
  const { uid, gid } = statSync(dataDir);
  if (uid === 0) return null;
  process.setgroups?.([]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  return uid;
}

const readmeName = 'README';
const readmeText = `This folder holds everything that Hearth keeps.

hearth.db, -wal, -shm   all rows: people, keys, repositories
repositories/           bare git repositories, by id of owner and repository
repo-images/            images of repositories
objects/                attachments of issues
ssh/                    the server's SSH host key; keep it secret
trash/                  deleted repositories that can still be restored
backups/                nightly backups, and copies of the database from before a migration
run/                    state of the running server
tmp/, cache/            may be deleted at any time while the server is stopped

Copying a running database file can give a broken copy: hearth backup create makes a good one.
`;
