import { rmSync } from 'node:fs';
import type { Config } from '../config/index.ts';
import { databaseTime, rows } from '../db/index.ts';
import { conflict, systemRandom } from '../kernel/index.ts';
import { beginRotation, endRotation } from '../sealing/index.ts';
import { openDatabase } from './database.ts';
import type { AppOptions } from './app-options.ts';
import type { Modules } from './modules.ts';

interface RotatedKey {
  /** Number of re-encrypted secrets. */
  reencrypted: number;
  /** Whether an earlier, interrupted rotation was continued. */
  resumed: boolean;
}

/**
 * Replaces the instance key and re-encrypts every stored secret with the new one. A kill in between leaves both keys in
 * the file, of which the first encrypts and both decrypt; the next call continues. No server may run on the data
 * folder. Throws `no_instance_key` if nothing was ever encrypted, `servers_running` while others serve the database.
 * @param open opens the modules, after the file has the new key
 */
export async function rotateInstanceKey(
  config: Config,
  options: AppOptions,
  open: () => Promise<Modules>,
): Promise<RotatedKey> {
  const file = config.instanceKeyFile;
  await refuseRunning(config, options);
  let begun: { resumed: boolean };
  try {
    begun = beginRotation(file, systemRandom);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (['EROFS', 'EACCES', 'EBUSY'].includes(code ?? ''))
      throw conflict('instance_key_read_only', `The file ${file} cannot be replaced: ${(error as Error).message}.`, {
        cause: error,
      });
    if (code !== 'ENOENT') throw error;
    throw conflict('no_instance_key', 'There is no instance key yet, so nothing is encrypted.', { cause: error });
  }
  const { accounts, ci, imports, mail, mirrors, oauth, sharedKeys, signing, webhooks, logger, ...own } = await open();
  let reencrypted = 0;
  const modules: { reencrypt(): Promise<number> }[] = [
    accounts.secondFactor,
    ci,
    imports,
    mail,
    mirrors,
    oauth,
    sharedKeys,
    signing,
    webhooks,
  ];
  for (const each of modules) reencrypted += await each.reencrypt();
  if (sharedKeys.isShared) await sharedKeys.agreeOnInstance(own.keyPrints());
  endRotation(file);
  // Left by a rotation that was killed before its first rename.
  rmSync(`${file}.new`, { force: true });
  logger.info('instance_key.rotated', { reencrypted, ...begun });
  return { reencrypted, ...begun };
}

/**
 * Accepts the key of the file for this database, when the one before it is lost: what that one has sealed cannot be
 * read any more. Throws `servers_running`. @returns how many shared keys were forgotten
 */
export async function adoptInstanceKey(
  config: Config,
  options: AppOptions,
  open: () => Promise<Modules>,
): Promise<number> {
  await refuseRunning(config, options);
  const { sharedKeys, logger } = await open();
  const forgotten = await sharedKeys.forget();
  logger.info('instance_key.adopted', { forgotten });
  return forgotten;
}

/** Before the file is changed: other servers of the database go on with the former key. */
async function refuseRunning(config: Config, options: AppOptions): Promise<void> {
  if (config.database.url === null) return;
  const db = await openDatabase(config, options, 'never');
  try {
    const found = await rows<{ host: string }>(db.read, `SELECT host FROM nodes WHERE until > ${databaseTime()}`, []);
    if (found.length > 0)
      throw conflict(
        'servers_running',
        `Stop all servers that use this database first: ${found.map(({ host }) => host).join(', ')}.`,
      );
  } finally {
    await db.close();
  }
}
