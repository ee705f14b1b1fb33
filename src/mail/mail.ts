import type { Config } from '../config/index.ts';
import { bindDeps, conflict, internal, invalid } from '../kernel/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import type { MailDeps, NewMail } from './deps.ts';
import type { Tx } from '../db/index.ts';
import { checkedAddress, UnusableMail } from './message.ts';
import type { MailMessage } from './message.ts';
import { countMails, listMails, retryFailedMails, retryMail } from './mail-queue.ts';
import { createRateLimit } from './rate-limit.ts';
import { mailHandler, sendNow } from './send-mail.ts';
import { isUsable, mailSettings, missingSettings } from './settings.ts';
import { createSmtpConnections } from './smtp-connections.ts';
import { mailKind, reencryptMails, writePayload } from './stored-mail.ts';
import { testMail } from './test-mail.ts';

interface MailOptions extends Pick<MailDeps, 'db' | 'outbox' | 'clock' | 'random' | 'logger'> {
  config: Pick<Config, 'mail' | 'baseUrl' | 'caFile'>;
  /** The instance key, which encrypts queued mails. */
  keyFile: string;
}

/** Outgoing mail: modules define kinds of mail, which are queued in the outbox and delivered to the one mail server. */
export function createMail({ config, keyFile, ...tools }: MailOptions) {
  const settings = mailSettings(config);
  const connections = createSmtpConnections(settings);
  const deps: MailDeps = {
    ...tools,
    key: new InstanceKey(keyFile, tools.random, 'mail'),
    settings,
    connections,
    limit: createRateLimit(tools, settings),
    renderers: new Map(),
  };
  const { outbox, random, logger } = deps;
  const purposes = new Set<string>();
  const isConfigured = isUsable(settings);
  outbox.register(mailHandler(deps));
  const drain = (): Promise<number> => (isConfigured ? outbox.drain(mailKind) : Promise.resolve(0));

  const bind = bindDeps(deps);
  const wake = (): void => void drain().catch((error: unknown) => logger.error('mail.drain_failed', { error }));

  return {
    /** Whether mails are sent; if not, `enqueue` does nothing. */
    isConfigured,

    /** Option keys of required settings that are missing. */
    missing: missingSettings(settings),

    /**
     * Defines a kind of mail, once per kind. `render` runs when the mail is sent, so it checks permissions again; null
     * drops the mail, and an error is a failed attempt.
     * @param purpose a sentence for administrators about the feature that needs mail
     */
    define<Data>(kind: string, render: (data: Data) => Promise<MailMessage | null>, purpose?: string): void {
      if (deps.renderers.has(kind)) throw internal(`two modules write mails of kind ${kind}`);
      deps.renderers.set(kind, render as (data: unknown) => Promise<MailMessage | null>);
      if (purpose !== undefined) purposes.add(purpose);
    },

    /** Features that do not work without mail, a sentence each. */
    purposes: (): string[] => [...purposes],

    /** Queues a mail in the write of its cause: both happen, or neither. */
    async enqueue(tx: Tx, { kind, data, at, key }: NewMail): Promise<void> {
      if (!isConfigured) return;
      const id = random.uuid();
      const payload = writePayload(deps, { kind, id, contents: { data } });
      await outbox.enqueue(tx, { kind: mailKind, key: key ?? id, payload, ...(at === undefined ? {} : { at }) });
    },

    /** Called after the write of an `enqueue`: sends due mails now instead of at the next run of the scheduled task. */
    wake,

    /**
     * Sends a test message at once, bypassing the queue. @returns the mail server's response. Throws `invalid_address`;
     * `mail_not_sent` with the server's message.
     */
    async sendTest(to: string): Promise<string> {
      const address = to.trim();
      if (!isAddress(address)) throw invalid('invalid_address', 'Enter a valid email address.', { field: 'to' });
      const result = await sendNow(deps, testMail(settings, address));
      if ('error' in result) throw conflict('mail_not_sent', result.error);
      logger.info('mail.test_sent', { to: address });
      return result.response;
    },

    list: bind(listMails),
    count: bind(countMails),
    retry: bind(retryMail),
    retryFailed: bind(retryFailedMails),
    /** After a rotation of the instance key. */
    reencrypt: bind(reencryptMails),

    /** For the scheduled task: sends due mails. */
    drain,
    /** For the scheduled task. */
    removeOld: (): Promise<number> => outbox.removeOld(mailKind),
    /** After the outbox has stopped. */
    stop: (): void => connections.close(),
  };
}

export type Mail = ReturnType<typeof createMail>;

function isAddress(text: string): boolean {
  try {
    return checkedAddress(text) === text;
  } catch (error) {
    if (error instanceof UnusableMail) return false;
    throw error;
  }
}
