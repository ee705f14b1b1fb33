import { cleanText } from '../validate-text.ts';
import type { IdentityRow } from '../schema/identity-schema.ts';

/** An account of an OpenID Connect provider, as just confirmed by the provider. */
export interface VerifiedIdentity {
  issuer: string;
  subject: string;
  /** The provider's label of the account, such as its e-mail address there; may be empty. */
  label: string;
}

/** A provider account that a user signs in with. */
export interface Identity extends VerifiedIdentity {
  id: string;
  createdAt: number;
  lastUsedAt: number | null;
}

const maxLabelCharacters = 255;

export const cleanLabel = (label: string): string => cleanText(label, maxLabelCharacters);

export function toIdentity({ id, issuer, subject, label, createdAt, lastUsedAt }: IdentityRow): Identity {
  return { id, issuer, subject, label, createdAt, lastUsedAt };
}
