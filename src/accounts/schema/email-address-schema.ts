import { EntitySchema } from 'typeorm';

/** A row of `email_addresses`: an address that a person has entered, whether or not it is theirs. */
export interface EmailAddressRow {
  id: string;
  userId: string;
  /** As it is shown and written to: the letters as typed, the domain in ASCII. */
  address: string;
  /** As it is compared (`addressKey`). */
  addressKey: string;
  /** Only of a verified address, and of one per person. */
  isPrimary: boolean;
  /** Whether others see it on the profile and in the API. */
  isPublic: boolean;
  /** When it was shown that the mailbox is the person's; verified addresses are unique. */
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
