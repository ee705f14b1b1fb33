import { conflict, invalid } from '../../kernel/index.ts';
import { tokenTtlMs } from '../../lfs/index.ts';
import type { BatchEntry, LfsOperation, NamedObject } from '../../lfs/index.ts';
import type { GitHttpDeps } from '../deps.ts';
import type { GitExchange } from '../git-exchange.ts';
import { sendLfsJson } from './lfs-response.ts';
import { identify, openAs, readLfsJson } from './lfs-request.ts';
import type { OpenedLfs } from './lfs-request.ts';

/** Clients send a hundred at a time. */
const maxObjects = 1_000;

/**
 * `POST objects/batch` (Git LFS Batch API): the objects to transfer, with links to this server. Only `basic` transfers
 * and SHA-256.
 */
export async function serveBatch(deps: GitHttpDeps, exchange: GitExchange): Promise<void> {
  const caller = await identify(deps, exchange);
  const { operation, objects } = readBatch(await readLfsJson(exchange));
  const opened = await openAs(deps, exchange, caller, operation, operation);
  const plan = await deps.lfs.batch(opened.viewer, opened.context, operation, objects);
  sendLfsJson(exchange, 200, {
    transfer: 'basic',
    objects: plan.map((entry) => viewEntry(deps, exchange, opened, entry)),
    hash_algo: 'sha256',
  });
}

/** Throws `lfs_operation`, `lfs_transfer`, `lfs_hash_algorithm`, `malformed_json`, `too_many_objects`. */
function readBatch(body: Readonly<Record<string, unknown>>): { operation: LfsOperation; objects: NamedObject[] } {
  const { operation, transfers, objects, hash_algo: hashAlgorithm = 'sha256' } = body;
  if (operation !== 'upload' && operation !== 'download')
    throw invalid('lfs_operation', 'The operation of a batch is upload or download.');
  if (Array.isArray(transfers) && transfers.length > 0 && !transfers.includes('basic'))
    throw invalid('lfs_transfer', 'This server transfers with "basic" only.');
  if (hashAlgorithm !== 'sha256') throw conflict('lfs_hash_algorithm', 'This server takes sha256 only.');
  const areObjects = Array.isArray(objects) && objects.every((object) => object !== null && typeof object === 'object');
  if (!areObjects) throw invalid('malformed_json', 'A batch has a list of objects.');
  if (objects.length > maxObjects)
    throw invalid('too_many_objects', `A batch can have at most ${maxObjects} objects. Split the request.`);
  return { operation, objects: (objects as NamedObject[]).map(({ oid, size }) => ({ oid, size })) };
}

function viewEntry(deps: GitHttpDeps, exchange: GitExchange, opened: OpenedLfs, entry: BatchEntry) {
  const { oid, size, act } = entry;
  if (act === 'refuse') return { oid, size, error: { code: entry.status, message: entry.message } };
  if (act === 'nothing') return { oid, size };
  const { viewer, context } = opened;
  const { owner, name } = context.canonical;
  const href =
    `${exchange.origin()}/git/${encodeURIComponent(owner)}/${encodeURIComponent(name)}.git` +
    `/info/lfs/objects/${oid}`;
  if (viewer.kind === 'anonymous') return { oid, size, actions: { [act]: { href } } };
  const token = deps.lfs.tokens.sign({
    viewer,
    repositoryId: context.repository.id,
    operation: act,
    object: { oid, bytes: size },
  });
  const shared = { header: { Authorization: `Bearer ${token}` }, expires_in: tokenTtlMs / 1000 };
  const transfer = { href, ...shared };
  const actions =
    act === 'download' ? { download: transfer } : { upload: transfer, verify: { href: `${href}/verify`, ...shared } };
  return { oid, size, authenticated: true, actions };
}
