import type { OptionType } from './option-types.ts';

/** Membership that users in a provider's group get. */
export interface GroupMapping {
  /** As spelled by the provider in the groups claim. */
  readonly group: string;
  /** Name of an organisation here. */
  readonly organisation: string;
  readonly role: 'GUEST' | 'MEMBER' | 'OWNER';
}

/** An OpenID Connect provider (OpenID Connect Discovery 1.0). */
export interface OidcProvider {
  /** Part of its redirect address: `/login/oidc/NAME/callback`. */
  readonly name: string;
  /** Display name on pages. */
  readonly title: string;
  /** Issuer identifier, exactly as the provider states it. */
  readonly issuer: string;
  readonly clientId: string;
  /** A confidential client has one of these two; a public client has none. */
  readonly clientSecret: string | null;
  /** A file whose first line is the secret, read when it is needed. */
  readonly clientSecretFile: string | null;
  readonly scopes: readonly string[];
  /** Whether a user of the provider without an account gets one. */
  readonly signUp: boolean;
  /** Whether the provider itself requires a second factor, so that none is required here. */
  readonly skipsSecondFactor: boolean;
  /** The claim from which a new username is derived. */
  readonly usernameClaim: string;
  /** The claim with a list of groups. */
  readonly groupsClaim: string;
  readonly groups: readonly GroupMapping[];
}

/** The error for one field of one provider; never contains its value, which may be a secret. */
class Mistake extends Error {}

type Table = Readonly<Record<string, unknown>>;

const maxProviders = 50;
const maxMappings = 1_000;
const providerKeys = [
  'name',
  'title',
  'issuer',
  'client_id',
  'client_secret',
  'client_secret_file',
  'scopes',
  'sign_up',
  'skip_second_factor',
  'username_claim',
  'groups_claim',
  'groups',
];
const mappingKeys = ['group', 'organisation', 'role'];
const roles = ['GUEST', 'MEMBER', 'OWNER'] as const;

function tableOf(raw: unknown, known: readonly string[], what: string): Table {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw new Mistake(`${what} must be a table`);
  const unknown = Object.keys(raw).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new Mistake(`${what} has an unknown key ${unknown}; known keys are ${known.join(', ')}`);
  return raw as Table;
}

function readLine(table: Table, key: string, maxLength = 1_000): string | null {
  const value = table[key];
  if (value === undefined) return null;
  if (typeof value !== 'string' || value.trim() === '' || value.length > maxLength || /\p{Cc}/u.test(value))
    throw new Mistake(`${key} must be one line of text of up to ${maxLength} characters`);
  return value.trim();
}

function requireLine(table: Table, key: string): string {
  const value = readLine(table, key);
  if (value === null) throw new Mistake(`${key} is missing`);
  return value;
}

function readSwitch(table: Table, key: string): boolean {
  const value = table[key] ?? false;
  if (typeof value !== 'boolean') throw new Mistake(`${key} must be true or false`);
  return value;
}

/** OpenID Connect Discovery 1.0, section 3: a URL without query and fragment. */
function readIssuer(table: Table): string {
  const text = requireLine(table, 'issuer');
  const url = URL.parse(text);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!isWeb || /[?#\s]/.test(text) || url.username !== '' || url.password !== '')
    throw new Mistake('issuer must be an https URL without a query or fragment');
  return text;
}

function readList<Item>(table: Table, key: string, max: number, read: (raw: unknown) => Item): Item[] | null {
  const value = table[key];
  if (value === undefined) return null;
  if (!Array.isArray(value) || value.length > max) throw new Mistake(`${key} must be a list of at most ${max} items`);
  return value.map(read);
}

/** RFC 6749, section 3.3. */
function readScope(raw: unknown): string {
  if (typeof raw !== 'string' || !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(raw))
    throw new Mistake('scopes contains an invalid entry');
  return raw;
}

function readMapping(raw: unknown): GroupMapping {
  const table = tableOf(raw, mappingKeys, 'an entry of groups');
  const given = requireLine(table, 'role').toUpperCase();
  const role = roles.find((each) => each === given);
  if (role === undefined) throw new Mistake(`role must be ${roles.join(', ')}`);
  return { group: requireLine(table, 'group'), organisation: requireLine(table, 'organisation'), role };
}

function readProvider(raw: unknown): OidcProvider {
  const table = tableOf(raw, providerKeys, 'it');
  const name = requireLine(table, 'name');
  if (!/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name))
    throw new Mistake('name must be 1 to 32 of a-z, 0-9 and inner hyphens');
  const [clientSecret, clientSecretFile] = [readLine(table, 'client_secret'), readLine(table, 'client_secret_file')];
  if (clientSecret !== null && clientSecretFile !== null)
    throw new Mistake('set client_secret or client_secret_file, not both');
  return {
    name,
    title: readLine(table, 'title', 60) ?? name,
    issuer: readIssuer(table),
    clientId: requireLine(table, 'client_id'),
    clientSecret,
    clientSecretFile,
    scopes: [...new Set(['openid', ...(readList(table, 'scopes', 50, readScope) ?? ['profile', 'email'])])],
    signUp: readSwitch(table, 'sign_up'),
    skipsSecondFactor: readSwitch(table, 'skip_second_factor'),
    usernameClaim: readLine(table, 'username_claim') ?? 'preferred_username',
    groupsClaim: readLine(table, 'groups_claim') ?? 'groups',
    groups: readList(table, 'groups', maxMappings, readMapping) ?? [],
  };
}

/** Throws a `Mistake` that names the provider. */
function readProviders(raw: unknown): OidcProvider[] {
  if (!Array.isArray(raw) || raw.length > maxProviders)
    throw new Mistake(`it must be a list of at most ${maxProviders} tables [[oidc.providers]]`);
  const read = raw.map((each: unknown, index) => {
    try {
      return readProvider(each);
    } catch (error) {
      if (!(error instanceof Mistake)) throw error;
      const { name } = (each ?? {}) as { name?: unknown };
      throw new Mistake(`provider ${typeof name === 'string' ? name : index + 1}: ${error.message}`);
    }
  });
  for (const key of ['name', 'issuer'] as const) {
    const known = new Set<string>();
    for (const each of read) {
      if (known.has(each[key])) throw new Mistake(`provider ${each.name}: another provider has the same ${key}`);
      known.add(each[key]);
    }
  }
  return read;
}

function tryRead(raw: unknown): { providers: OidcProvider[] } | { mistake: string } {
  try {
    return { providers: readProviders(raw) };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return { mistake: error.message };
  }
}

/** The tables `[[oidc.providers]]`; in the environment the same as a JSON list. */
export const oidcProviders: OptionType<readonly OidcProvider[]> = {
  expects: 'a list of tables [[oidc.providers]]',
  suffix: '',
  read(raw) {
    const result = tryRead(raw);
    return 'providers' in result ? result.providers : undefined;
  },
  fromText(text) {
    if (text.trim() === '') return [];
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  },
  // Without secrets: this text is shown.
  toText: (value) => value.map(({ name, issuer }) => `${name} (${issuer})`).join(', '),
  mayBeEmpty: true,
  explain(raw) {
    const result = tryRead(raw);
    return 'mistake' in result ? result.mistake : 'the file cannot be read';
  },
};
