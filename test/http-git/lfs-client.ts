// lfsClient(server, token) → a client of the LFS API: call(method, rest, body?), put(oid, …), batch(…) with one object;
// objectOf(text) → {oid, size, content}.
import { createHash } from 'node:crypto';
import type { GitServer } from './git-server.ts';

export const lfsType = 'application/vnd.git-lfs+json';

export interface TestObject {
  oid: string;
  size: number;
  content: Buffer;
}

export function objectOf(content: Buffer | string): TestObject {
  const bytes = Buffer.from(content as string);
  return { oid: createHash('sha256').update(bytes).digest('hex'), size: bytes.length, content: bytes };
}

interface Action {
  href: string;
  header?: Record<string, string>;
}

interface BatchedObject {
  oid: string;
  size: number;
  authenticated?: boolean;
  actions?: Record<'download' | 'upload' | 'verify', Action | undefined>;
  error?: { code: number; message: string };
}

interface ListedLock {
  id: string;
  path: string;
  locked_at: string;
  owner: { name: string };
}

/** The fields of all messages of the API. */
interface LfsMessage {
  message: string;
  request_id: string;
  transfer: string;
  hash_algo: string;
  objects: BatchedObject[];
  lock: ListedLock;
  locks: ListedLock[];
  ours: ListedLock[];
  theirs: ListedLock[];
  next_cursor?: string;
}

export interface LfsResponse {
  status: number;
  headers: Headers;
  type: string | null;
  /** Undefined fields where the response has no message. */
  json: LfsMessage;
  bytes: Buffer;
}

export function lfsClient({ origin }: Pick<GitServer, 'origin'>, name: string, token?: string, owner = 'alice') {
  const root = `${origin}/git/${owner}/${name}.git/info/lfs`;
  const credentials: Record<string, string> =
    token === undefined ? {} : { Authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` };

  async function send(
    method: string,
    url: string,
    { body, headers = {} }: { body?: Buffer | string | undefined; headers?: Record<string, string> } = {},
  ): Promise<LfsResponse> {
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: body as BodyInit }) });
    const bytes = Buffer.from(await response.arrayBuffer());
    const type = response.headers.get('content-type');
    const json = (type === lfsType && bytes.length > 0 ? JSON.parse(bytes.toString()) : {}) as LfsMessage;
    return { status: response.status, headers: response.headers, type, json, bytes };
  }

  const call = (method: string, rest: string, body?: unknown, headers: Record<string, string> = {}) =>
    send(method, `${root}/${rest}`, {
      headers: { Accept: lfsType, 'Content-Type': lfsType, ...credentials, ...headers },
      body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
    });
  const plan = (operation: string, objects: { oid: string; size: number }[], more: object = {}) =>
    call('POST', 'objects/batch', { operation, transfers: ['basic'], objects: objects.map(named), ...more });

  return {
    call,
    plan,
    /** The one object of a batch. */
    async batch(operation: 'upload' | 'download', object: { oid: string; size: number }): Promise<BatchedObject> {
      const { status, json } = await plan(operation, [object]);
      if (status !== 200) throw new Error(`batch: ${status} ${JSON.stringify(json)}`);
      return json.objects[0]!;
    },
    act: (method: string, action: Action, body?: Buffer | string, headers: Record<string, string> = {}) =>
      send(method, action.href, { body, headers: { ...action.header, ...headers } }),
    /** Uploads an object by its links, and verifies it. */
    async upload(object: TestObject): Promise<number> {
      const { actions, error } = await this.batch('upload', object);
      if (error !== undefined) throw new Error(error.message);
      if (actions?.upload === undefined) return 0;
      const { status } = await this.act('PUT', actions.upload, object.content);
      if (status !== 200) return status;
      const body = JSON.stringify(named(object));
      return (await this.act('POST', actions.verify!, body, { 'Content-Type': lfsType })).status;
    },
    async download(object: { oid: string; size: number }): Promise<Buffer | null> {
      const { actions } = await this.batch('download', object);
      return actions === undefined ? null : (await this.act('GET', actions.download!)).bytes;
    },
  };
}

const named = ({ oid, size }: { oid: string; size: number }) => ({ oid, size });
