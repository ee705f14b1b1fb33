import type { SshKeyRow, SshKeyUse } from '../schema/ssh-key-schema.ts';
import { worksWithBuiltInServer } from './ssh-public-key.ts';

/** An SSH key of an account. */
export interface SshKey {
  id: string;
  personId: string;
  title: string;
  type: string;
  /** As a line of `authorized_keys` without a comment. */
  line: string;
  /** `SHA256:…` */
  fingerprint: string;
  uses: SshKeyUse;
  /** False for keys on security tokens (`sk-…`): they need the system's sshd. */
  worksWithBuiltInServer: boolean;
  createdAt: number;
  /** At most a minute late. */
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
}

export function toSshKey({ userId: personId, blobBase64, ...rest }: SshKeyRow): SshKey {
  return {
    ...rest,
    personId,
    line: `${rest.type} ${blobBase64}`,
    worksWithBuiltInServer: worksWithBuiltInServer(rest.type),
  };
}
