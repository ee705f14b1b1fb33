import { EntitySchema } from 'typeorm';

/** A row of `totp_secrets`: the secret shared by a user's authenticator app and the server. */
export interface TotpSecretRow {
  userId: string;
  /** Encrypted with the instance key. */
  ciphertext: string;
  /** The time step of the last accepted code; it and earlier ones are rejected. -1 before the first. */
  lastStep: number;
  createdAt: number;
  /** `null` until a first code has confirmed that the app has the secret. */
  enabledAt: number | null;
}

export const totpSecretSchema = new EntitySchema<TotpSecretRow>({
  name: 'TotpSecret',
  tableName: 'totp_secrets',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    ciphertext: { type: 'text' },
    lastStep: { name: 'last_step', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    enabledAt: { name: 'enabled_at', type: 'integer', nullable: true },
  },
});

/** A row of `recovery_codes`. */
interface RecoveryCodeRow {
  userId: string;
  /** SHA-256 of the code, hexadecimal. */
  codeHash: string;
  createdAt: number;
  usedAt: number | null;
}

export const recoveryCodeSchema = new EntitySchema<RecoveryCodeRow>({
  name: 'RecoveryCode',
  tableName: 'recovery_codes',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    codeHash: { name: 'code_hash', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
    usedAt: { name: 'used_at', type: 'integer', nullable: true },
  },
});
