import { anonymous } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { readAuthorization, secretsOf } from '../../http/index.ts';
import type { Context } from '../../http/index.ts';
import { invalid, unauthenticated } from '../../kernel/index.ts';
import { decrypt, encrypt } from '../../sealing/index.ts';
import { badCredentials, identify, viewerOfSecret } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { readSmallBody, sendJson } from '../transfer.ts';

/** Permissions are checked at each use, so a token may be valid as long as a push takes. */
const tokenTtlMs = 60 * 60_000;
const prefix = 'hreg_';
const maxScopes = 50;

/** `pull`, `push` and `delete` for the name `owner/name`. */
type Granted = Readonly<Record<string, readonly string[]>>;

/** The encrypted content of a registry token: the secret that it stands for is looked up at each use. */
interface Sealed {
  /** Null for an anonymous client. */
  s: string | null;
  /** Expiry, epoch milliseconds. */
  e: number;
  a: Granted;
}

/** The caller of the registry. */
export interface RegistryCaller {
  viewer: Viewer;
  /** Requested scope of its token; null for credentials without a scope. */
  granted: Granted | null;
}

const sealingKey = ({ instanceKey }: Pick<PackageHttpDeps, 'instanceKey'>) => instanceKey('packages');

/**
 * The token service (Distribution, "Token Authentication"): exchanges an access token or a task token for a registry
 * token that is valid for an hour, by GET with Basic or by POST with a form. Without credentials the token is
 * anonymous. Throws `bad_credentials`.
 */
export async function serveToken(deps: PackageHttpDeps, ctx: Context): Promise<void> {
  const fields = new URLSearchParams(
    ctx.method === 'POST' ? (await readSmallBody(ctx, 16_384)).toString() : ctx.querystring,
  );
  const secrets = secretsIn(ctx, fields);
  let secret: string | null = null;
  for (const one of secrets) {
    const viewer = await viewerOfSecret(deps, ctx, one);
    if (viewer === null) continue;
    identify(ctx, viewer);
    secret = one;
    break;
  }
  if (secret === null && secrets.length > 0) throw badCredentials(secrets);
  const granted = readScopes(fields.getAll('scope').flatMap((scope) => scope.split(' ')));
  const now = deps.clock.now();
  const text = JSON.stringify({ s: secret, e: now + tokenTtlMs, a: granted } satisfies Sealed);
  const token = prefix + encrypt(sealingKey(deps).for('registry token'), deps.random, 'registry token', text);
  ctx.set('Cache-Control', 'no-store');
  ctx.state.showsSecret = true;
  sendJson(ctx, {
    token,
    access_token: token,
    expires_in: tokenTtlMs / 1000,
    issued_at: new Date(now).toISOString(),
  });
}

function secretsIn(ctx: Context, fields: URLSearchParams): string[] {
  const credentials = readAuthorization(ctx.req.headers.authorization);
  if (credentials.kind === 'unknown') throw badCredentials([]);
  const inForm = [fields.get('password'), fields.get('refresh_token')].filter((one) => one !== null && one !== '');
  return [...secretsOf(credentials), ...(ctx.method === 'POST' ? (inForm as string[]) : [])];
}

/** `repository:owner/name:pull,push`; ignores anything else. */
function readScopes(scopes: readonly string[]): Granted {
  const granted = new Map<string, string[]>();
  for (const scope of scopes.slice(0, maxScopes)) {
    const [, name, actions] = /^repository(?:\([^)]*\))?:([^:]{1,255}):([a-z,*]{1,100})$/.exec(scope) ?? [];
    if (name !== undefined) granted.set(name, [...(granted.get(name) ?? []), ...actions!.split(',')]);
    else if (scope.startsWith('registry:catalog:')) granted.set('', ['catalog']);
  }
  return Object.fromEntries(granted);
}

/**
 * Authenticates the caller by a registry token or by an access token itself. Throws `bad_credentials`,
 * `package_token_expired`.
 */
export async function identifyCaller(deps: PackageHttpDeps, ctx: Context): Promise<RegistryCaller> {
  const credentials = readAuthorization(ctx.req.headers.authorization);
  if (credentials.kind === 'none') return { viewer: anonymous, granted: null };
  const secrets = secretsOf(credentials);
  const sealed = secrets.find((secret) => secret.startsWith(prefix));
  if (sealed !== undefined) return openToken(deps, ctx, sealed);
  for (const secret of secrets) {
    const viewer = await viewerOfSecret(deps, ctx, secret);
    if (viewer === null) continue;
    identify(ctx, viewer);
    return { viewer, granted: null };
  }
  throw badCredentials(secrets);
}

async function openToken(deps: PackageHttpDeps, ctx: Context, token: string): Promise<RegistryCaller> {
  const keys = sealingKey(deps).decrypting('registry token');
  const text = decrypt(keys, 'registry token', token.slice(prefix.length));
  const sealed = text === null ? null : (JSON.parse(text) as Sealed);
  if (sealed === null || sealed.e <= deps.clock.now())
    throw unauthenticated('package_token_expired', 'This registry token has expired. Please ask for another one.');
  const viewer = sealed.s === null ? anonymous : await viewerOfSecret(deps, ctx, sealed.s);
  if (viewer === null) throw badCredentials([sealed.s!]);
  identify(ctx, viewer);
  return { viewer, granted: sealed.a };
}

/** Throws `package_token_scope` unless the scope of the caller's token covers this. */
export function requireGranted(
  { granted }: RegistryCaller,
  name: string,
  action: 'pull' | 'push' | 'delete' | 'catalog',
): void {
  if (granted === null) return;
  const actions = granted[name] ?? [];
  const isGranted =
    actions.includes(action) || actions.includes('*') || (action === 'delete' && actions.includes('push'));
  if (!isGranted) throw unauthenticated('package_token_scope', `This registry token was not asked for ${action}.`);
}

/** Refuses a query that no client sends. */
export const badQuery = (name: string) => invalid('package_query', `The parameter ${name} is missing or invalid.`);
