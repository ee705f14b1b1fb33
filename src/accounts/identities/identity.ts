import { cleanText } from '../validate-text.ts';
import type { IdentityRow } from '../schema/identity-schema.ts';

/** An account of an OpenID Connect provider, as a provider has just confirmed it. */
export interface VerifiedIdentity {
  issuer: string;
  subject: string;
  /** What the provider calls the account, such as its address there; may be empty. */
  label: string;
}

/** An account of a provider that a person signs in with. */
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
