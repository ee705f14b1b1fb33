import type { EmailAddressRow } from '../schema/email-address-schema.ts';

/** An e-mail address of a person, as they see it themselves. */
export interface EmailAddress {
  id: string;
  address: string;
  /** The one that mail about the account goes to; always a verified one. */
  isPrimary: boolean;
  /** Whether others see it on the profile and in the API. */
  isPublic: boolean;
  /** `null` until its link was used or an administrator vouched for it. */
  verifiedAt: number | null;
  createdAt: number;
}

export const toEmailAddress = ({ userId: _, addressKey: __, ...address }: EmailAddressRow): EmailAddress => address;
