import { invalid, nullIfNotFound } from '../kernel/index.ts';
import type { AnnouncedEvent, SecurityEvent } from '../accounts/index.ts';
import type { Tx } from '../db/index.ts';
import { chooseLanguage, inLanguage } from '../translation/index.ts';
import type { NoticeDeps } from './deps.ts';
import { isUnknownSignIn } from './known-sign-ins.ts';
import { kindOf, noticeKinds } from './notice-kinds.ts';
import type { NoticeKind } from './notice-kinds.ts';
import { noticeMail } from './notice-mail.ts';
import type { NoticeData } from './notice-mail.ts';
import { mutedNoticeSchema } from './notice-schema.ts';

/** Kind of the mails of this module. */
const mailKind = 'account.notice';

/**
 * Notices about an account, by mail to its primary address: a sign-in from an unknown device or network, new keys and
 * tokens, a changed password, a changed primary address. Each kind can be switched off.
 */
export function createNotices(deps: NoticeDeps) {
  const { db, accounts, mail, logger, baseUrl, locale } = deps;

  mail.define<NoticeData>(
    mailKind,
    async (data) => {
      const person = await accounts.personById(data.personId).catch(nullIfNotFound);
      if (person === null || baseUrl === null) return null;
      return inLanguage(chooseLanguage(person.language, undefined, locale), () => noticeMail(data, person, baseUrl));
    },
    'Notices to people about their account: a sign-in from a new device, a new key or token, a changed password.',
  );

  async function onSecurityEvent(tx: Tx, { personId, primaryAddress, event }: AnnouncedEvent): Promise<void> {
    if (event.kind === 'signed_in' && !(await isUnknownSignIn(tx, personId, event))) return;
    const to = event.kind === 'primary_address_changed' ? event.from : primaryAddress;
    if (to === null || (await tx.manager.existsBy(mutedNoticeSchema, { userId: personId, kind: kindOf(event) })))
      return;
    const data: NoticeData = { personId, to, event: withoutOthers(event), at: tx.now };
    await mail.enqueue(tx, { kind: mailKind, data, key: personId });
  }
  return {
    /** For `accounts.onSecurityEvent`; null without mail. */
    onSecurityEvent: mail.isConfigured ? onSecurityEvent : null,
    kinds: noticeKinds,
    /** Whether notices are sent at all. */
    isAvailable: mail.isConfigured,

    /** The kinds that a person has switched off. */
    async mutedBy(personId: string): Promise<Set<NoticeKind>> {
      const rows = await db.read.findBy(mutedNoticeSchema, { userId: personId });
      const muted = new Set(rows.map(({ kind }) => kind));
      return new Set(noticeKinds.filter((kind) => muted.has(kind)));
    },

    /** Switches kinds off, and all others on. Throws `unknown_notice`. */
    async setMuted(personId: string, kinds: readonly string[]): Promise<void> {
      const muted = noticeKinds.filter((kind) => kinds.includes(kind));
      if (muted.length !== new Set(kinds).size) throw invalid('unknown_notice', 'This notice does not exist.');
      await db.write(async ({ manager }) => {
        await manager.delete(mutedNoticeSchema, { userId: personId });
        for (const kind of muted) await manager.insert(mutedNoticeSchema, { userId: personId, kind });
      });
      logger.info('notices.changed', { personId, muted: muted.join(', '), by: personId });
    },
  };
}

export type Notices = ReturnType<typeof createNotices>;

/** The other sessions have served their purpose; their addresses have no place in the queue. */
const withoutOthers = (event: SecurityEvent): SecurityEvent =>
  event.kind === 'signed_in' ? { ...event, others: [] } : event;
