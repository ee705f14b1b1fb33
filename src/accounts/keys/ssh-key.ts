import type { SshKeyRow } from '../schema/ssh-key-schema.ts';
import { worksWithBuiltInServer } from './ssh-public-key.ts';

/** An SSH key that opens somebody's account. */
export interface SshKey {
  id: string;
  personId: string;
  title: string;
  type: string;
  /** `SHA256:…` */
  fingerprint: string;
  /** False for keys on security tokens (`sk-…`): they need a server that lets OpenSSH do the work. */
  worksWithBuiltInServer: boolean;
  createdAt: number;
  /** At most a minute behind. */
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
}

export function toSshKey({ userId: personId, blobBase64: _, ...rest }: SshKeyRow): SshKey {
  return { ...rest, personId, worksWithBuiltInServer: worksWithBuiltInServer(rest.type) };
}
