import type { PasskeyRow } from '../schema/passkey-schema.ts';

/** A passkey as its owner sees it. */
export interface Passkey {
  id: string;
  name: string;
  /** Whether it is synced between the user's devices. */
  isSynced: boolean;
  createdAt: number;
  lastUsedAt: number | null;
}

export function toPasskey({ id, name, isSynced, createdAt, lastUsedAt }: PasskeyRow): Passkey {
  return { id, name, isSynced, createdAt, lastUsedAt };
}
