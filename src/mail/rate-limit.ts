import { createLru, currentWindow } from '../kernel/index.ts';
import type { Clock, FixedWindow } from '../kernel/index.ts';

const hourMs = 3_600_000;
/** Limit of recipients that are counted at the same time. */
const maxRecipients = 10_000;

/** Hourly limits of mails: in total, and per address. Counted in memory; a restart resets them. */
export interface RateLimit {
  /** Counts a mail; if a limit is reached, counts nothing and returns the time of the next attempt. */
  take(recipient: string): { postponedTo: number; reason: string } | null;
}

export function createRateLimit(
  { clock }: { clock: Clock },
  { maxPerHour, maxPerRecipient }: { maxPerHour: number; maxPerRecipient: number },
): RateLimit {
  let everyone: FixedWindow | undefined;
  const recipients = createLru<string, FixedWindow>({ name: 'mail recipients', maxWeight: maxRecipients });
  return {
    take(recipient) {
      const now = clock.now();
      const key = recipient.toLowerCase();
      everyone = currentWindow(everyone, hourMs, now);
      const own = currentWindow(recipients.get(key), hourMs, now);
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
