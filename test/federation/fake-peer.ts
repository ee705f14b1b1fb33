// startFakePeer(t, {host?}) → a server that speaks federation and is not ours: it serves actors, records what it is
// asked,
//   signs with node:crypto alone, and does whatever a test tells it to.
// rowsOf(hearth) → every row of the federation tables, to see that nothing was written.
import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Hearth } from '../fixtures/start-hearth.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

export interface Keys {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

export interface FakeActor {
  id: string;
  keyId: string;
  keys: Keys;
  inbox: string;
  document: Record<string, unknown>;
}

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Making a key takes a while; tests share a few. */
const pool: Keys[] = [];
export function keysNumber(index: number): Keys {
  while (pool.length <= index) pool.push(generateKeyPairSync('rsa', { modulusLength: 2048 }));
  return pool[index]!;
}

export const pemOf = ({ publicKey }: Keys): string => publicKey.export({ type: 'spki', format: 'pem' }) as string;

export const sha256 = (body: string | Buffer): string => createHash('sha256').update(body).digest('base64');

export interface Signing {
  url: string;
  method?: string;
  body: string | Buffer;
  keyId: string;
  privateKey: KeyObject;
  date?: string;
  covered?: string[];
  algorithm?: string | null;
  /** Values to sign, where they differ from what is sent. */
  signed?: Record<string, string>;
}

/** Headers of a signed request, made without a line of ours. */
export function sign({
  url,
  method = 'POST',
  body,
  keyId,
  privateKey,
  date = new Date().toUTCString(),
  ...more
}: Signing): Record<string, string> {
  const { covered = ['(request-target)', 'host', 'date', 'digest'], algorithm = 'rsa-sha256', signed = {} } = more;
  const target = new URL(url);
  const values: Record<string, string> = {
    '(request-target)': `${method.toLowerCase()} ${target.pathname}${target.search}`,
    host: target.host,
    date,
    digest: `SHA-256=${sha256(body)}`,
    'content-type': 'application/activity+json',
    ...signed,
  };
  const text = covered.map((name) => `${name}: ${values[name]}`).join('\n');
  const signature = createSign('RSA-SHA256').update(text).sign(privateKey, 'base64');
  const parts = [
    `keyId="${keyId}"`,
    ...(algorithm === null ? [] : [`algorithm="${algorithm}"`]),
    `headers="${covered.join(' ')}"`,
    `signature="${signature}"`,
  ];
  return {
    Host: target.host,
    Date: date,
    Digest: `SHA-256=${sha256(body)}`,
    'Content-Type': 'application/activity+json',
    Signature: parts.join(','),
  };
}

interface RawRequest {
  url: string;
  method?: string;
  /** Pairs, so that a name may come twice. */
  headers: [name: string, value: string][];
  body?: string | Buffer;
}

export interface RawResponse {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

export function sendRaw({ url, method = 'POST', headers, body = '' }: RawRequest): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const path = url.slice(new URL(url).origin.length) || '/';
    const length: [string, string][] = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
      ? []
      : [['Content-Length', String(Buffer.byteLength(body))]];
    const sent = httpRequest(
      { hostname, port, path, method, setHost: false, agent: false, headers: [...headers, ...length].flat() as never },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(parts).toString(),
          }),
        );
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

type Responder = (request: Received, response: ServerResponse) => void;

export interface FakePeer {
  origin: string;
  host: string;
  received: Received[];
  /** Connections that were ever made to it. */
  connections(): number;
  /** Adds an actor at a path, `/users/mallory`, and serves it. */
  addActor(path: string, more?: Record<string, unknown>, keys?: Keys): FakeActor;
  /** What a path responds with; over actors. */
  respond(path: string, reply: Responder | Record<string, unknown>): void;
  /** Activities that came to inboxes. */
  activities(): Record<string, unknown>[];
  /** Signs an activity as one of its actors and posts it. */
  deliver(actor: FakeActor, inbox: string, activity: Record<string, unknown>): Promise<RawResponse>;
  /** An activity id on this host. */
  newId(): string;
  stop(): Promise<void>;
}

export async function startFakePeer(
  t: Owner,
  { host = '127.0.0.3', port = 0 }: { host?: string; port?: number } = {},
): Promise<FakePeer> {
  const responses = new Map<string, Responder>();
  const received: Received[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const got = { method, path: url, headers, body: Buffer.concat(parts).toString() };
      received.push(got);
      const reply = responses.get(url) ?? responses.get(url.split('?')[0]!);
      if (reply !== undefined) return reply(got, response);
      response.writeHead(method === 'POST' ? 202 : 404).end();
    });
  });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const { port: at } = server.address() as AddressInfo;
  const origin = `http://${host}:${at}`;
  let stopped: Promise<void> | undefined;
  const stop = () =>
    (stopped ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    }));
  t.teardown(stop);

  const json =
    (document: Record<string, unknown>): Responder =>
    (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'application/activity+json' }).end(JSON.stringify(document));

  return {
    origin,
    host: `${host}:${at}`,
    received,
    connections: () => connections,
    addActor(path, more = {}, keys = keysNumber(0)) {
      const id = origin + path;
      const keyId = `${id}#main-key`;
      const inbox = `${id}/inbox`;
      const document = {
        '@context': ['https://www.w3.org/ns/activitystreams', 'https://w3id.org/security/v1'],
        id,
        type: 'Person',
        preferredUsername: path.split('/').at(-1),
        inbox,
        publicKey: { id: keyId, owner: id, publicKeyPem: pemOf(keys) },
        ...more,
      };
      responses.set(path, json(document));
      return { id, keyId, keys, inbox: String(document.inbox), document };
    },
    respond(path, reply) {
      responses.set(path, typeof reply === 'function' ? reply : json(reply));
    },
    activities: () =>
      received.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body) as Record<string, unknown>),
    deliver(actor, inbox, activity) {
      const body = JSON.stringify(activity);
      const headers = sign({ url: inbox, body, keyId: actor.keyId, privateKey: actor.keys.privateKey });
      return sendRaw({ url: inbox, headers: Object.entries(headers), body });
    },
    newId: () => `${origin}/activities/${randomUUID()}`,
    stop,
  };
}

const tables = [
  'federation_inbox',
  'federation_outbox',
  'federation_delivery',
  'repository_followers',
  'remote_follows',
  'remote_user_follows',
  'received_pushes',
];

export async function rowsOf({ modules }: Pick<Hearth, 'modules'>): Promise<string> {
  const all = await Promise.all(
    tables.map(async (table) => [table, await modules.db.read.query(`SELECT * FROM ${table}`)]),
  );
  return JSON.stringify(all);
}
