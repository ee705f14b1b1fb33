import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { z } from 'zod';
import { invalid } from '../../kernel/index.ts';

/** Exceeds any authenticator's response without attestation. */
const maxResponseCharacters = 32 * 1024;

/** Loaded with the first passkey: most starts do not need the schemas. */
const schemas = () => import('./response-schemas.ts');

/** The result of `navigator.credentials.create`, as JSON (WebAuthn Level 3, §5.1.8). Throws `passkey_refused`. */
export async function readRegistration(text: string): Promise<RegistrationResponseJSON> {
  const { registration } = await schemas();
  return { ...read(text, registration), clientExtensionResults: {} } as RegistrationResponseJSON;
}

/** The result of `navigator.credentials.get`. Throws `passkey_refused`. */
export async function readAssertion(text: string): Promise<AuthenticationResponseJSON> {
  const { assertion } = await schemas();
  const { response, ...rest } = read(text, assertion);
  const { userHandle, ...signed } = response;
  const handle = userHandle == null ? {} : { userHandle };
  return { ...rest, response: { ...signed, ...handle }, clientExtensionResults: {} } as AuthenticationResponseJSON;
}

function read<Value>(text: string, schema: z.ZodType<Value>): Value {
  if (text === '' || text.length > maxResponseCharacters) throw passkeyRefused();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw passkeyRefused();
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw passkeyRefused();
  return parsed.data;
}

/** The challenge of a response, as base64url; '' if unreadable. The library reads it again. */
export function challengeIn(clientDataJson: string): string {
  try {
    const data = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString()) as { challenge?: unknown };
    return typeof data.challenge === 'string' ? data.challenge : '';
  } catch {
    return '';
  }
}

/** The same error for any invalid response; the log has the reason. */
export const passkeyRefused = () =>
  invalid('passkey_refused', 'This passkey was not accepted, or the page was open for too long. Try again.');
