import { createLru } from '../kernel/index.ts';
import type { Clock } from '../kernel/index.ts';

const hourMs = 3_600_000;
/** Recipients whose mails are counted at the same time. */
const maxRecipients = 10_000;

interface Window {
  startedAt: number;
  count: number;
}

/** How many mails go out in an hour: to everyone, and to one address. Counted in memory; a restart begins anew. */
export interface RateLimit {
  /** Counts a mail; or, when a limit is reached, counts nothing and returns when to come again. */
  take(recipient: string): { postponedTo: number; reason: string } | null;
}

export function createRateLimit(
  { clock }: { clock: Clock },
  { maxPerHour, maxPerRecipient }: { maxPerHour: number; maxPerRecipient: number },
): RateLimit {
  let everyone: Window = { startedAt: 0, count: 0 };
  const recipients = createLru<string, Window>({ name: 'mail recipients', maxWeight: maxRecipients });
  const current = (window: Window | undefined, now: number): Window =>
    window === undefined || now >= window.startedAt + hourMs || now < window.startedAt
      ? { startedAt: now, count: 0 }
      : window;
  return {
    take(recipient) {
      const now = clock.now();
      const key = recipient.toLowerCase();
      everyone = current(everyone, now);
      const own = current(recipients.get(key), now);
      const limits = [
        { window: everyone, max: maxPerHour, option: 'mail.max_per_hour', recipientText: '' },
        { window: own, max: maxPerRecipient, option: 'mail.max_per_recipient', recipientText: ' to this address' },
      ];
      for (const { window, max, option, recipientText } of limits)
        if (window.count >= max)
          return {
            postponedTo: window.startedAt + hourMs,
            reason: `It waits: ${max} mails${recipientText} were sent within an hour, which is the limit (${option}).`,
          };
      everyone.count += 1;
      own.count += 1;
      recipients.set(key, own);
      return null;
    },
  };
}
