import type { Handled, Handler, Message, Outcome } from '../outbox/index.ts';
import { compose } from './compose.ts';
import type { MailDeps } from './deps.ts';
import { describeFailure } from './failure.ts';
import { headerText } from './message.ts';
import type { MailMessage } from './message.ts';
import { isUsable, missingSettings } from './settings.ts';
import { mailKind, readPayload, writePayload } from './stored-mail.ts';
import type { StoredMail } from './stored-mail.ts';

/** Time in milliseconds during which sent and failed mails are shown to administrators. */
const retentionMs = 14 * 86_400_000;
/** Time after which a mail postponed by a limit is dropped: it is no longer of interest. */
const maxAgeMs = 7 * 86_400_000;

const ok: Outcome = { error: null, mayRetry: false };

/** Outbox handler of mails: at most as many concurrent mails as the limit of connections to the mail server. */
export function mailHandler(deps: MailDeps): Handler {
  const { settings, logger } = deps;
  return {
    kind: mailKind,
    slots: settings.connections,
    // Longer than the time limit of a whole mail, whose error is more specific.
    timeoutMs: settings.timeoutMs + 10_000,
    maxAttempts: settings.maxAttempts,
    keepMs: retentionMs,
    handle: (message, signal) => sendMail(deps, message, signal),
    recorded({ id }, { outcome: { error }, state, tookMs }) {
      if (error !== null) logger.info('mail.not_sent', { message: id, error, state });
      else logger.debug('mail.sent', { message: id, tookMs });
    },
  };
}

/** Makes one attempt: renders the mail, so that its content is current and visible to its reader, and sends it. */
async function sendMail(deps: MailDeps, message: Message, signal: AbortSignal): Promise<Handled<null>> {
  const { settings, limit, connections, renderers, logger } = deps;
  const failed = (error: string, more: Partial<Outcome> = {}): Handled<null> => ({
    outcome: { error, mayRetry: true, ...more },
    details: null,
  });
  if (!isUsable(settings)) return failed(`Mail is off: ${missingSettings(settings).join(', ')} is not set.`);
  let stored: StoredMail;
  try {
    stored = readPayload(deps, message.payload);
  } catch (error) {
    logger.error('mail.unreadable', { message: message.id, error });
    return failed('It does not open with this server’s key.', { mayRetry: false });
  }
  const { data } = stored.contents;
  const render = renderers.get(stored.kind);
  if (render === undefined) return failed(`This server writes no mails of kind ${stored.kind}.`, { mayRetry: false });
  const rendered = await render(data);
  const payload = (contents: StoredMail['contents']): string => writePayload(deps, { ...stored, contents });
  if (rendered === null) return { outcome: ok, payload: payload({ isDropped: true }), details: null };
  const shown = { to: headerText(rendered.to), subject: headerText(rendered.subject) };
  const over = limit.take(rendered.to);
  if (over !== null) {
    const isTooOld = over.postponedTo > message.createdAt + maxAgeMs;
    const outcome = { error: over.reason, mayRetry: !isTooOld, ...(isTooOld ? {} : over) };
    return { outcome, payload: payload({ data, ...shown }), details: null };
  }
  try {
    const mail = await compose(settings, rendered, stored.id, message.createdAt);
    const response = headerText(await connections.send(mail, signal));
    // Deletes the data of a sent mail: it can contain a token.
    return { outcome: ok, payload: payload({ ...shown, response }), details: null };
  } catch (error) {
    // The outbox knows the reason of the abort.
    if (signal.aborted) throw error;
    return { outcome: describeFailure(error, settings), payload: payload({ data, ...shown }), details: null };
  }
}

/** Sends a message at once, bypassing the queue. @returns the server's response, or the reason why it was not sent */
export async function sendNow(
  { settings, connections, random, clock }: Pick<MailDeps, 'settings' | 'connections' | 'random' | 'clock'>,
  message: MailMessage,
): Promise<{ response: string } | { error: string }> {
  if (!isUsable(settings)) return { error: `Mail is off: ${missingSettings(settings).join(', ')} is not set.` };
  try {
    const mail = await compose(settings, message, random.uuid(), clock.now());
    return { response: headerText(await connections.send(mail)) };
  } catch (error) {
    return { error: describeFailure(error, settings).error! };
  }
}
