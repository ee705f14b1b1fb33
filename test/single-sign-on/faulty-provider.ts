// startFaultyProvider(t) → a provider that does as `faults` says: {issuer, faults, settings(), stop()}
import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';
import type { Owner } from '../fixtures/temporary-folder.ts';

export interface Faults {
  /** Claims of the ID token over the right ones; a null takes one away. */
  claims: Record<string, unknown>;
  algorithm: 'RS256' | 'none' | 'HS256' | 'another key' | 'ES256 in name';
  /** What the discovery document says, over the right values. */
  metadata: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  /** The answer of the token endpoint, instead of tokens. */
  token: ((response: ServerResponse) => void) | null;
  /** Of the request that is answered. */
  nonce: string;
}

const clientSecret = 'the secret of the client';
const [right, wrong] = [1, 2].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(claims: object, algorithm: Faults['algorithm']): string {
  const alg = { RS256: 'RS256', none: 'none', HS256: 'HS256', 'another key': 'RS256', 'ES256 in name': 'ES256' }[
    algorithm
  ];
  const text = `${encode({ alg, kid: 'k1', typ: 'JWT' })}.${encode(claims)}`;
  if (algorithm === 'none') return `${text}.`;
  if (algorithm === 'HS256') return `${text}.${createHmac('sha256', clientSecret).update(text).digest('base64url')}`;
  const key = algorithm === 'another key' ? wrong! : right!;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key.privateKey).toString('base64url')}`;
}

export async function startFaultyProvider(t: Owner) {
  const faults: Faults = { claims: {}, algorithm: 'RS256', metadata: {}, userinfo: {}, token: null, nonce: '' };
  let issuer = '';
  const json = (response: ServerResponse, value: object): void =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
  const server = createServer((request, response) => {
    request.resume();
    const now = Math.floor(Date.now() / 1000);
    const path = request.url!.split('?')[0];
    if (path === '/.well-known/openid-configuration')
      return json(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/keys`,
        id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256', 'ES256'],
        ...faults.metadata,
      });
    if (path === '/keys')
      return json(response, {
        keys: [{ ...right!.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' }],
      });
    if (path === '/userinfo') return json(response, { sub: 's-1', ...faults.userinfo });
    if (path !== '/token') return void response.writeHead(404).end();
    if (faults.token !== null) return faults.token(response);
    const claims = {
      iss: issuer,
      sub: 's-1',
      aud: 'hearth',
      iat: now,
      exp: now + 60,
      nonce: faults.nonce,
      preferred_username: 'alice',
      ...faults.claims,
    };
    const kept = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
    return json(response, {
      access_token: 'a',
      token_type: 'Bearer',
      id_token: signed(kept, faults.algorithm),
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  issuer = `http://127.0.0.1:${port}`;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  t.teardown(stop);
  const config = {
    name: 'faulty',
    title: 'Faulty',
    issuer,
    client_id: 'hearth',
    client_secret: clientSecret,
    sign_up: true,
  };
  return {
    issuer,
    faults,
    stop,
    settings: (more: object = {}, others: object[] = []) => ({
      SERVICE_OIDC_ALLOWED_HOSTS: `127.0.0.1:${port}`,
      SERVICE_OIDC_PROVIDERS: JSON.stringify([{ ...config, ...more }, ...others]),
    }),
  };
}
