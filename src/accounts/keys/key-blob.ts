import type { AccountsDeps } from '../deps.ts';
import { deployKeySchema } from '../schema/deploy-key-schema.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';

/** The public key with this id, of a user or a repository, in wire form; `null` if it does not exist. */
export async function keyBlob({ db }: AccountsDeps, keyId: string): Promise<Buffer | null> {
  const key =
    (await db.read.findOneBy(sshKeySchema, { id: keyId })) ?? (await db.read.findOneBy(deployKeySchema, { id: keyId }));
  return key === null ? null : Buffer.from(key.blobBase64, 'base64');
}
