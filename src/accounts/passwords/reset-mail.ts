import { layout } from '../../mail/index.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import { userSchema } from '../schema/user-schema.ts';

/** Mail kind with a password reset link. */
export const resetMail = 'password.reset';

interface ResetMail {
  addressId: string;
  secret: string;
}

export function defineResetMail(deps: AccountsDeps): void {
  deps.mail.define<ResetMail>(
    resetMail,
    (data) => render(deps, data),
    'Links for a forgotten password. Without mail, an administrator creates one: hearth user reset-link.',
  );
}

async function render(deps: AccountsDeps, { addressId, secret }: ResetMail): Promise<MailMessage | null> {
  const row = await deps.db.read.findOneBy(emailAddressSchema, { id: addressId });
  const person = row && (await deps.db.read.findOneBy(userSchema, { id: row.userId }));
  if (!row || row.verifiedAt === null || !person || person.disabledAt !== null) return null;
  const host = new URL(deps.baseUrl!).host;
  const minutes = Math.round(deps.settings.resetLifetimeMs / 60_000);
  return {
    to: row.address,
    subject: `A new password for your account on ${host}`,
    ...layout({
      title: 'Choose a new password',
      parts: [
        `A new password was asked for, for the account ${person.username ?? ''} on ${host}. With the link below you choose one.`,
      ],
      action: { text: 'Choose a new password', url: `${deps.baseUrl}/login/reset?token=${secret}` },
      after: [
        `The link works once, for ${minutes === 60 ? 'one hour' : `${minutes} minutes`}. It ends all sessions; access tokens and SSH keys stay.`,
      ],
      footer: ['If it was not you who asked, do nothing: your password stays as it is.'],
    }),
  };
}
