import type { GroupMapping, OidcProvider } from '../config/index.ts';

/** An account of a provider, as a verified answer describes it. */
export interface ProviderAccount {
  /** The provider's name in the settings. */
  provider: string;
  issuer: string;
  subject: string;
  /** What the provider calls the account; may be empty. */
  label: string;
  /** Made from claims; unchecked. */
  username: string;
  displayName: string;
  /** The e-mail address, when the provider says that it has verified it. */
  verifiedAddress: string | null;
  /** Groups that the settings map. Others are not kept. */
  groups: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;

/** OpenID Connect Core 1.0, section 2: at most 255 ASCII characters. Some providers have longer ones. */
export const maxSubjectLength = 1_000;

/** Of each claim that is kept: together they have to fit into a cookie. */
const maxTextLength = 255;

const textOf = (value: unknown): string => (typeof value === 'string' ? value.slice(0, maxTextLength) : '');

/**
 * Picks what is used of the claims.
 * @param claims of the ID token and the userinfo endpoint; the ID token counts where both have one
 */
export function readAccount(provider: OidcProvider, issuer: string, claims: Claims): ProviderAccount {
  const email = textOf(claims.email);
  const preferred = textOf(claims.preferred_username);
  return {
    provider: provider.name,
    issuer,
    // Whole: a part of it would be another account.
    subject: typeof claims.sub === 'string' ? claims.sub : '',
    label: preferred || email || textOf(claims.name),
    username: textOf(claims[provider.usernameClaim]) || preferred || textOf(claims.nickname) || email,
    displayName: textOf(claims.name),
    // A text "true" is what some providers send; anything else is no verification.
    verifiedAddress:
      email !== '' && (claims.email_verified === true || claims.email_verified === 'true') ? email : null,
    groups: groupsOf(provider, claims),
  };
}

/** A single group may be a text. A claim that is absent, or anything else, is no group. */
function groupsOf({ groupsClaim, groups }: OidcProvider, claims: Claims): string[] {
  const raw = claims[groupsClaim];
  const given = new Set<unknown>(Array.isArray(raw) ? raw : [raw]);
  return [...new Set(groups.map(({ group }) => group))].filter((group) => given.has(group));
}

/** The mappings of the groups that an account has. */
export const mappingsOf = ({ groups: mappings }: OidcProvider, { groups }: ProviderAccount): GroupMapping[] =>
  mappings.filter(({ group }) => groups.includes(group));
