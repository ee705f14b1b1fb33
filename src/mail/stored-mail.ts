import { rows } from '../db/index.ts';
import { internal } from '../kernel/index.ts';
import { decrypt, encrypt, reencrypt } from '../sealing/index.ts';
import type { MailDeps } from './deps.ts';

/** Kind of the outbox messages that are mails. */
export const mailKind = 'mail';

/** The encrypted part of a mail's payload. */
interface MailContents {
  /** Input of `render`; deleted once the mail is sent. */
  data?: unknown;
  /** Error of the last attempt, for administrators. */
  to?: string;
  subject?: string;
  /** The mail server's response to a mail that it accepted. */
  response?: string;
  /** Nothing was sent: its subject was deleted, or the recipient can no longer see it. */
  isDropped?: true;
}

/** A mail in the payload of an outbox message. */
export interface StoredMail {
  kind: string;
  /** Unique; the Message-ID of a mail without a thread begins with it. */
  id: string;
  contents: MailContents;
}

interface Payload {
  kind: string;
  id: string;
  sealed: string;
}

/** Additional data of the encryption: a ciphertext can be decrypted only for its own mail. */
const placeOf = ({ kind, id }: Pick<Payload, 'kind' | 'id'>): string => `mail:${kind}:${id}`;

export function writePayload({ key, random }: Pick<MailDeps, 'key' | 'random'>, mail: StoredMail): string {
  const { kind, id, contents } = mail;
  const sealed = encrypt(key.for('messages'), random, placeOf(mail), JSON.stringify(contents));
  return JSON.stringify({ kind, id, sealed } satisfies Payload);
}

/** Throws if the instance key has changed. */
export function readPayload({ key }: Pick<MailDeps, 'key'>, payload: string | null): StoredMail {
  const { kind, id, sealed } = JSON.parse(payload ?? '{}') as Payload;
  const contents = decrypt(key.decrypting('messages'), placeOf({ kind, id }), sealed ?? '');
  if (contents === null) throw internal('a mail does not open with this data folder’s key');
  return { kind, id, contents: JSON.parse(contents) as MailContents };
}

/** Limit of mails that one write re-encrypts. */
const perWrite = 200;

/** After a rotation of the instance key: see `reencrypt`. @returns number of re-encrypted mails */
export async function reencryptMails({ db, key, random }: Pick<MailDeps, 'db' | 'key' | 'random'>): Promise<number> {
  let changed = 0;
  let after = 0;
  for (;;) {
    const messages = await rows<{ id: number; payload: string | null }>(
      db.read,
      'SELECT id, payload FROM outbox WHERE kind = ? AND id > ? ORDER BY id LIMIT ?',
      [mailKind, after, perWrite],
    );
    if (messages.length === 0) return changed;
    after = Number(messages.at(-1)!.id);
    await db.write(async ({ manager }) => {
      for (const { id, payload } of messages) {
        const mail = JSON.parse(payload ?? '{}') as Partial<Payload>;
        if (mail.sealed === undefined || mail.kind === undefined || mail.id === undefined) continue;
        const place = placeOf({ kind: mail.kind, id: mail.id });
        const sealed = reencrypt(key, random, { use: 'messages', place, text: mail.sealed });
        if (sealed === null) continue;
        await manager.query('UPDATE outbox SET payload = ? WHERE id = ?', [JSON.stringify({ ...mail, sealed }), id]);
        changed += 1;
      }
    });
  }
}
