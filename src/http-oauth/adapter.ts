import type { errors } from 'oidc-provider';
import { isLoopback, isOwnScheme } from '../oauth/index.ts';
import type { OAuth, Payload } from '../oauth/index.ts';

/** Marks the stored hash of a secret, so that it is never compared as if it were the secret. */
export const hashMark = 'sha256:';

/** What the library keeps goes into rows, so that every process of the server sees it. */
export function createAdapter(oauth: OAuth, { InvalidGrant }: typeof errors) {
  const { records, applications } = oauth;
  return function adapterOf(kind: string) {
    return {
      async upsert(key: string, payload: Payload, expiresIn?: number): Promise<void> {
        await records.save(kind, key, payload, expiresIn);
      },
      async find(key: string): Promise<Payload | undefined> {
        if (kind === 'Client') return clientOf(applications, key);
        return (await records.find(kind, key))?.payload;
      },
      async findByUid(uid: string): Promise<Payload | undefined> {
        return (await records.findBy(kind, { uid }))?.payload;
      },
      async findByUserCode(userCode: string): Promise<Payload | undefined> {
        return (await records.findBy(kind, { userCode }))?.payload;
      },
      /** Of two requests with one code or refresh token, one wins; the library has looked before both came here. */
      async consume(key: string): Promise<void> {
        if (!(await records.consume(kind, key))) throw new InvalidGrant!('it was used a moment ago');
      },
      async destroy(key: string): Promise<void> {
        await records.remove(kind, key);
      },
      async revokeByGrantId(grantId: string): Promise<void> {
        await records.removeGrant(grantId);
      },
    };
  };
}

/** An application as the library reads its clients (RFC 7591, section 2). */
async function clientOf(applications: OAuth['applications'], clientId: string): Promise<Payload | undefined> {
  const application = await applications.find(clientId);
  if (application === null) return undefined;
  const { name, redirectUris, isConfidential, secretHash } = application;
  const isOfMachine = !isConfidential && redirectUris.every((uri) => isLoopback(uri) || isOwnScheme(uri));
  const origins = [...new Set(redirectUris.filter((uri) => !isOwnScheme(uri)).map((uri) => new URL(uri).origin))];
  return {
    client_id: clientId,
    client_name: name,
    application_type: isOfMachine ? 'native' : 'web',
    redirect_uris: [...redirectUris],
    // After a sign-out, the addresses of sign-in and the roots of their sites.
    post_logout_redirect_uris: [...new Set([...redirectUris, ...origins, ...origins.map((origin) => `${origin}/`)])],
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    ...(isConfidential
      ? { token_endpoint_auth_method: 'client_secret_basic', client_secret: hashMark + secretHash }
      : { token_endpoint_auth_method: 'none' }),
  };
}
