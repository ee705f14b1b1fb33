import type { Viewer } from '../../access/index.ts';
import { invalid, unauthenticated } from '../../kernel/index.ts';
import { looksLikeTransferToken } from '../../lfs/index.ts';
import type { LfsContext, LfsOperation, TransferGrant } from '../../lfs/index.ts';
import { secretsOf, readAuthorization, readBytes } from '../../http/index.ts';
import { authenticate } from '../authenticate.ts';
import type { GitHttpDeps } from '../deps.ts';
import { challengeAnonymous } from '../errors.ts';
import type { GitExchange } from '../git-exchange.ts';

/** The caller: identified by git credentials, or by a token of this server for one repository and one operation. */
export interface LfsCaller {
  viewer: Viewer;
  grant: TransferGrant | null;
}

/** Throws `bad_credentials`, `lfs_token_refused`. */
export async function identify(deps: GitHttpDeps, exchange: GitExchange): Promise<LfsCaller> {
  const { req, state } = exchange;
  const token = secretsOf(readAuthorization(req.headers.authorization)).find(looksLikeTransferToken);
  if (token === undefined) return { viewer: await authenticate(deps, exchange), grant: null };
  const grant = await deps.lfs.tokens.verify(token);
  if (grant === null) throw tokenRefused();
  state.identity = { viewer: grant.viewer, person: null, session: null, avatarAt: null };
  return { viewer: grant.viewer, grant };
}

const tokenRefused = () =>
  unauthenticated('lfs_token_refused', 'This transfer token has expired or is for something else. Please try again.');

export interface OpenedLfs extends LfsCaller {
  context: LfsContext;
}

/**
 * Identifies the caller and opens the repository for an action that its token must permit.
 * @param operation operation of the action: a token for uploads also permits downloads
 */
export async function openFor(
  deps: GitHttpDeps,
  exchange: GitExchange,
  act: Parameters<GitHttpDeps['lfs']['open']>[2],
  operation: LfsOperation,
): Promise<OpenedLfs> {
  const caller = await identify(deps, exchange);
  return openAs(deps, exchange, caller, act, operation);
}

/** The same for an identified caller. */
export async function openAs(
  deps: GitHttpDeps,
  { params }: GitExchange,
  caller: LfsCaller,
  act: Parameters<GitHttpDeps['lfs']['open']>[2],
  operation: LfsOperation,
): Promise<OpenedLfs> {
  const { viewer, grant } = caller;
  if (grant !== null && grant.operation === 'download' && operation === 'upload') throw tokenRefused();
  const at = { owner: params.owner, name: params.name.replace(/\.git$/i, '') };
  const context = await deps.lfs.open(viewer, at, act).catch(challengeAnonymous(viewer));
  if (grant !== null && grant.repositoryId !== context.repository.id) throw tokenRefused();
  return { ...caller, context };
}

/** Throws `lfs_token_refused` for a token of another object. */
export function requireObject({ grant }: LfsCaller, oid: string): void {
  if (grant?.object != null && grant.object.oid !== oid) throw tokenRefused();
}

/** A thousand objects take a fifth of it. */
const maxJsonBytes = 512 * 1024;

/** The body of a request as a JSON object. Throws `body_too_large`, `malformed_json`. */
export async function readLfsJson({ req }: GitExchange): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await readBytes(req, {
    maxBytes: maxJsonBytes,
    tooLarge: () => invalid('body_too_large', 'This request is too large.'),
  });
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    value = null;
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw invalid('malformed_json', 'This request is not a JSON object.');
  return value as Readonly<Record<string, unknown>>;
}
