import { rmSync } from 'node:fs';
import { conflict, systemRandom } from '../kernel/index.ts';
import { beginRotation, endRotation } from '../sealing/index.ts';
import { keyFile } from './data-folders.ts';
import type { Modules } from './modules.ts';

interface RotatedKey {
  /** Secrets that were encrypted again. */
  reencrypted: number;
  /** An earlier rotation that was cut short went on. */
  resumed: boolean;
}

/**
 * Replaces the instance key and encrypts every stored secret with the new one. A kill in between leaves both keys in
 * the file, of which the first encrypts and each decrypts; the next call goes on. No server may run on the data folder.
 * Refuses `no_instance_key` while nothing was ever encrypted.
 * @param open opens the modules, after the file has the new key
 */
export async function rotateInstanceKey(dataDir: string, open: () => Promise<Modules>): Promise<RotatedKey> {
  const file = keyFile(dataDir);
  let begun: { resumed: boolean };
  try {
    begun = beginRotation(file, systemRandom);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw conflict('no_instance_key', 'There is no instance key yet: nothing is encrypted.', { cause: error });
  }
  const { accounts, ci, imports, mail, mirrors, oauth, signing, webhooks, logger } = await open();
  let reencrypted = 0;
  const modules: { reencrypt(): Promise<number> }[] = [
    accounts.secondFactor,
    ci,
    imports,
    mail,
    mirrors,
    oauth,
    signing,
    webhooks,
  ];
  for (const each of modules) reencrypted += await each.reencrypt();
  endRotation(file);
  // Of a rotation that a kill ended before its first rename.
  rmSync(`${file}.new`, { force: true });
  logger.info('instance_key.rotated', { reencrypted, ...begun });
  return { reencrypted, ...begun };
}
