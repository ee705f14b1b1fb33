import { EntitySchema } from 'typeorm';

/** A row of `email_addresses`: an address entered by a user, verified or not. */
export interface EmailAddressRow {
  id: string;
  userId: string;
  /** The form that is shown and sent to: the letters as typed, the domain in ASCII. */
  address: string;
  /** The form for comparison (`addressKey`). */
  addressKey: string;
  /** Only set for a verified address, and for one per user. */
  isPrimary: boolean;
  /** Whether others see it on the profile and in the API. */
  isPublic: boolean;
  /** Time when the user proved control of the mailbox; verified addresses are unique. */
  verifiedAt: number | null;
  createdAt: number;
}

export const emailAddressSchema = new EntitySchema<EmailAddressRow>({
  name: 'EmailAddress',
  tableName: 'email_addresses',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    address: { type: 'text' },
    addressKey: { name: 'address_key', type: 'text' },
    isPrimary: { name: 'is_primary', type: 'boolean' },
    isPublic: { name: 'is_public', type: 'boolean' },
    verifiedAt: { name: 'verified_at', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
