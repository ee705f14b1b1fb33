import { layout } from '../../mail/index.ts';
import type { MailMessage } from '../../mail/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { primaryAddressOf } from './find-addresses.ts';

/** Mail kind with the link that verifies an address. */
export const verificationMail = 'address.verify';

/** Mail kind that notifies the primary address of an added one: an intruder would add theirs. */
export const newAddressMail = 'address.added';

/** Data of the first kind; the address is looked up when the mail is sent. */
interface VerificationMail {
  addressId: string;
  /** Secret of the link; the queue encrypts messages. */
  secret: string;
}

export function defineAddressMails(deps: AccountsDeps): void {
  deps.mail.define<VerificationMail>(
    verificationMail,
    (data) => renderVerification(deps, data),
    'Email addresses that people verify by a link. Without mail, an administrator verifies them.',
  );
  deps.mail.define<{ addressId: string }>(newAddressMail, (data) => renderNewAddress(deps, data));
}

async function addressAndName({ db }: AccountsDeps, addressId: string) {
  const row = await db.read.findOneBy(emailAddressSchema, { id: addressId });
  const person = row && (await db.read.findOneBy(userSchema, { id: row.userId }));
  if (row === null || person === null) return null;
  return { row, isDisabled: person.disabledAt !== null, name: person.username ?? 'without a username yet' };
}

async function renderVerification(
  deps: AccountsDeps,
  { addressId, secret }: VerificationMail,
): Promise<MailMessage | null> {
  const found = await addressAndName(deps, addressId);
  if (found === null || found.isDisabled || found.row.verifiedAt !== null) return null;
  const { row, name } = found;
  const host = new URL(deps.baseUrl!).host;
  const hours = Math.round(deps.settings.verificationLifetimeMs / 3_600_000);
  return {
    to: row.address,
    subject: `Confirm your email address for ${host}`,
    ...layout({
      title: 'Confirm your email address',
      parts: [
        `The account ${name} on ${host} has added ${row.address}. If that was you, confirm that the address is yours. ` +
          'Commits with it are then shown with your name.',
      ],
      action: { text: 'Confirm address', url: `${deps.baseUrl}/settings/emails/verify?token=${secret}` },
      after: [`The link works once, for ${hours} hours, where you are signed in as ${name}.`],
      footer: ['If you do not know this account, do nothing: without the link, nobody can use your address here.'],
    }),
  };
}

async function renderNewAddress(deps: AccountsDeps, { addressId }: { addressId: string }): Promise<MailMessage | null> {
  const found = await addressAndName(deps, addressId);
  const to = found && (await primaryAddressOf(deps, found.row.userId));
  if (!found || found.isDisabled || !to || to === found.row.address) return null;
  const { row, name } = found;
  const host = new URL(deps.baseUrl!).host;
  return {
    to,
    subject: `A new email address of your account on ${host}`,
    ...layout({
      title: 'Your account has another email address',
      parts: [
        `${row.address} is now an address of the account ${name} on ${host}. Who reads its mail can set a new password.`,
      ],
      action: { text: 'See your addresses', url: `${deps.baseUrl}/settings/emails` },
      after: ['If it was not you who added it, remove it there, and change your password.'],
      footer: ['You get this mail because it is about the safety of your account.'],
    }),
  };
}
