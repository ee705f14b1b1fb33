import { reencrypt } from '../sealing/index.ts';
import type { MirrorDeps } from './deps.ts';
import { mirrorSchema } from './mirror-schema.ts';
import type { MirrorRow } from './mirror-schema.ts';
import { placeOfSecret } from './remote-credentials.ts';
import { placeOfKey } from './ssh-key.ts';

/** Called after a rotation of the instance key: see `reencrypt`. @returns the number of re-encrypted secrets */
export function reencryptSecrets({ db, key, random }: Pick<MirrorDeps, 'db' | 'key' | 'random'>): Promise<number> {
  const renewed = (place: string, text: string | null): string | null =>
    text === null ? null : reencrypt(key, random, { use: 'secrets', place, text });
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const { repositoryId, url, secretCiphertext, sshKeyCiphertext } of await manager.find(mirrorSchema)) {
      const secret = renewed(placeOfSecret(repositoryId, url), secretCiphertext);
      const sshKey = renewed(placeOfKey(repositoryId), sshKeyCiphertext);
      const columns: Partial<MirrorRow> = {
        ...(secret === null ? {} : { secretCiphertext: secret }),
        ...(sshKey === null ? {} : { sshKeyCiphertext: sshKey }),
      };
      const count = Object.keys(columns).length;
      if (count > 0) await manager.update(mirrorSchema, { repositoryId }, columns);
      changed += count;
    }
    return changed;
  });
}
