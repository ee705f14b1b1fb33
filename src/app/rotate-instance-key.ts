import { rmSync } from 'node:fs';
import { conflict, systemRandom } from '../kernel/index.ts';
import { beginRotation, endRotation } from '../sealing/index.ts';
import { keyFile } from './data-folders.ts';
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
 * folder. Throws `no_instance_key` if nothing was ever encrypted.
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
  // Left by a rotation that was killed before its first rename.
  rmSync(`${file}.new`, { force: true });
  logger.info('instance_key.rotated', { reencrypted, ...begun });
  return { reencrypted, ...begun };
}
