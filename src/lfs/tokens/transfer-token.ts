import { createHmac, timingSafeEqual } from 'node:crypto';
import { anonymous, recordCredential, viewerWithCredential } from '../../access/index.ts';
import type { PersonViewer, Scope, Viewer } from '../../access/index.ts';
import type { LfsDeps } from '../deps.ts';
import { isOid } from '../object-key.ts';

export type LfsOperation = 'upload' | 'download';

/** Scope of a token: an operation on one repository, or on one object of it. */
export interface TransferGrant {
  viewer: Viewer;
  repositoryId: string;
  operation: LfsOperation;
  /** Null for all objects: for a client that authenticated over SSH. */
  object: { oid: string; bytes: number } | null;
}

/** Lifetime of a token; git-lfs requests a new one in time. */
export const tokenTtlMs = 30 * 60_000;

/** Prefix that no other secret has. */
const prefix = 'hlfs_';
export const looksLikeTransferToken = (secret: string): boolean => secret.startsWith(prefix);

/** Signed content, with short names: the caller, with the limits of its credential in this repository. */
interface Payload {
  r: string;
  o: LfsOperation;
  e: number;
  i?: string;
  b?: number;
  /** A user. */
  p?: { i: string; v: PersonViewer['via']; s: Scope; in: boolean };
  /** A CI task. */
  t?: { i: number; r: string; s: 'read' | 'write' };
  /** A deploy key, by its id. */
  k?: string;
}

const signatureOf = ({ instanceKey }: Pick<LfsDeps, 'instanceKey'>, text: string): Buffer =>
  createHmac('sha256', instanceKey.for('transfer token')).update(text).digest();

/** Creates a token. Access is checked again when it is used. */
export function signTransfer(deps: Pick<LfsDeps, 'instanceKey' | 'clock'>, grant: TransferGrant): string {
  const { viewer, repositoryId, operation, object } = grant;
  const credential = recordCredential(viewer);
  const payload: Payload = {
    r: repositoryId,
    o: operation,
    e: deps.clock.now() + tokenTtlMs,
    ...(object === null ? {} : { i: object.oid, b: object.bytes }),
    ...(viewer.kind === 'person' && credential !== null
      ? {
          p: {
            i: viewer.id,
            v: credential.via,
            s: credential.scope,
            in: credential.repositoryIds === null || credential.repositoryIds.includes(repositoryId),
          },
        }
      : {}),
    ...(viewer.kind === 'task' ? { t: { i: viewer.taskId, r: viewer.repositoryId, s: viewer.scope } } : {}),
    ...(viewer.kind === 'deployKey' ? { k: viewer.id } : {}),
  };
  const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
  return `${prefix}${text}.${signatureOf(deps, text).toString('base64url')}`;
}

/**
 * The scope of a token, or null if it is not signed here, has expired, or its account was deleted or disabled, or its
 * deploy key removed. A user's viewer is limited to the repository of the token, and to reading if the token is for
 * downloads.
 */
export async function verifyTransfer(
  deps: Pick<LfsDeps, 'instanceKey' | 'clock' | 'accounts' | 'db'>,
  token: string,
): Promise<TransferGrant | null> {
  const [text = '', signature = ''] = token.slice(prefix.length).split('.');
  const expected = signatureOf(deps, text);
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const payload = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Payload;
  if (payload.e <= deps.clock.now()) return null;
  const viewer = await viewerOf(deps, payload);
  if (viewer === null) return null;
  const object = isOid(payload.i) ? { oid: payload.i, bytes: payload.b! } : null;
  return { viewer, repositoryId: payload.r, operation: payload.o, object };
}

async function viewerOf(
  { accounts, db }: Pick<LfsDeps, 'accounts' | 'db'>,
  { r, o, p, t, k }: Payload,
): Promise<Viewer | null> {
  if (t !== undefined) return { kind: 'task', taskId: t.i, repositoryId: t.r, scope: o === 'download' ? 'read' : t.s };
  if (k !== undefined) {
    const key = await accounts.deployKeys.viewerOf(db.lookup, k);
    return key === null || o === 'upload' ? key : { ...key, scope: 'read' };
  }
  if (p === undefined) return anonymous;
  const person = (await accounts.peopleById([p.i])).get(p.i);
  if (person === undefined || person.disabledAt !== null) return null;
  const credential = { via: p.v, scope: o === 'download' ? ('read' as const) : p.s, repositoryIds: p.in ? [r] : [] };
  return { ...viewerWithCredential(p.i, credential, r), username: person.username };
}
