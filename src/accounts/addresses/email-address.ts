import type { EmailAddressRow } from '../schema/email-address-schema.ts';

/** A user's e-mail address, as they see it themselves. */
export interface EmailAddress {
  id: string;
  address: string;
  /** The primary address, which receives mail about the account; always verified. */
  isPrimary: boolean;
  /** Whether others see it on the profile and in the API. */
  isPublic: boolean;
  /** `null` until its link was used or an administrator vouched for it. */
  verifiedAt: number | null;
  createdAt: number;
}

export const toEmailAddress = ({ userId: _, addressKey: __, ...address }: EmailAddressRow): EmailAddress => address;
