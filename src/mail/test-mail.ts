import { layout } from './layout.ts';
import type { MailMessage } from './message.ts';
import type { MailSettings } from './settings.ts';

/** The mail that an administrator sends to test the settings. */
export function testMail({ baseUrl }: MailSettings, to: string): MailMessage {
  const server = baseUrl === null ? 'this server' : new URL(baseUrl).host;
  return {
    to,
    subject: `Test message from ${server}`,
    ...layout({
      title: 'Mail works',
      parts: [
        `This is a test message from ${server}. An administrator has sent it to see whether mail arrives.`,
        'If it was sorted as spam, have a look at the SPF, DKIM and DMARC records of the sender’s domain.',
      ],
      footer: ['You do not need to do anything.'],
    }),
  };
}
