import { EntitySchema } from 'typeorm';

/** A row of `muted_notices`: a kind of notice that a person has switched off. */
interface MutedNoticeRow {
  userId: string;
  kind: string;
}

export const mutedNoticeSchema = new EntitySchema<MutedNoticeRow>({
  name: 'MutedNotice',
  tableName: 'muted_notices',
  columns: { userId: { name: 'user_id', type: 'text', primary: true }, kind: { type: 'text', primary: true } },
});

/** A row of `known_sign_ins`: a device on a network from which a person has signed in. */
interface KnownSignInRow {
  userId: string;
  /** `Firefox on Linux`. */
  device: string;
  /** The wide network of the address, `192.0.0.0/16`. */
  network: string;
  lastAt: number;
}

export const knownSignInSchema = new EntitySchema<KnownSignInRow>({
  name: 'KnownSignIn',
  tableName: 'known_sign_ins',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    device: { type: 'text', primary: true },
    network: { type: 'text', primary: true },
    lastAt: { name: 'last_at', type: 'integer' },
  },
});
