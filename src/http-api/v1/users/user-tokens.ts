import { z } from 'zod';
import type { PersonViewer } from '../../../access/index.ts';
import { apiScopeNames, scopeFor, scopesGiven } from '../../../accounts/index.ts';
import type { AccessToken } from '../../../accounts/index.ts';
import { giteaTime, noTime, numericId } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { tokenNeeded } from '../../authenticate-token.ts';
import { rowNamed } from '../shapes/ids.ts';

/** Access tokens at Gitea's URLs, with its names of scopes; `tokens.ts` has those of this server. */
const at = '/users/{username}/tokens';

const accessToken = z
  .strictObject({
    id: z.int().describe('Derived from the UUID'),
    name: z.string(),
    sha1: z.string().describe('Secret, included only in the response that creates the token'),
    token_last_eight: z.string().describe('The last four characters'),
    scopes: z.array(z.string()),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime(),
  })
  .meta({ id: 'GiteaAccessToken' });

const scopeNames = z.enum(apiScopeNames as [string, ...string[]]);

const show = (token: AccessToken, secret = ''): z.output<typeof accessToken> => ({
  id: numericId(token.id),
  name: token.name,
  sha1: secret,
  token_last_eight: token.ending,
  scopes: token.onlyPackages
    ? [`${token.access === 'read' ? 'read' : 'write'}:package`]
    : [...scopesGiven[token.access]],
  created_at: giteaTime(token.createdAt),
  last_used_at: token.lastUsedAt === null ? noTime : giteaTime(token.lastUsedAt),
});

/** Throws `unknown_person` for all users but the caller: tokens are visible only to their owner. */
async function refuseOthers({ owners }: WebDeps, viewer: PersonViewer, username: string): Promise<void> {
  if ((await owners.resolve(username))?.id !== viewer.id) throw notFound('unknown_person', 'There is no such person.');
}

/** Throws `token_needed` for calls with name and password, and for applications, whose tokens have no name. */
async function ownToken({ accounts }: WebDeps, secret: string | null): Promise<AccessToken> {
  const token = secret === null ? null : await accounts.tokenOfSecret(secret);
  if (token === null) throw tokenNeeded();
  return token;
}

const currentToken = z
  .strictObject({
    ...accessToken.omit({ sha1: true, token_last_eight: true }).shape,
    user: z.strictObject({ id: z.int(), login: z.string() }),
  })
  .meta({ id: 'CurrentAccessToken' });

const common = { tag: 'Users', access: 'account:admin', cost: 'rows' } as const;
const proof =
  'Also accepts a username and password through Basic authentication, for programs that create their own token.';

export const userTokenOperations = [
  operation({
    ...common,
    id: 'getCurrentToken',
    method: 'GET',
    path: '/token',
    access: 'token:read',
    summary: 'Get the name and scopes of the access token used for this request',
    status: 200,
    response: currentToken,
    async run({ viewer, deps, secret }) {
      const token = await ownToken(deps, secret);
      const { sha1: _s, token_last_eight: _l, ...shown } = show(token);
      const [owner] = (await deps.accounts.peopleById([token.personId])).values();
      return json({
        ...shown,
        user: { id: numericId(token.personId), login: owner?.username ?? viewer.username ?? '' },
      });
    },
  }),
  operation({
    ...common,
    id: 'deleteCurrentToken',
    method: 'DELETE',
    path: '/token',
    access: 'token:read',
    summary: 'Revoke the access token used for this request',
    status: 204,
    async run({ deps, secret }) {
      const { id, personId } = await ownToken(deps, secret);
      await deps.accounts.removeToken(personId, id);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'listUserTokens',
    method: 'GET',
    path: at,
    summary: 'List the caller’s access tokens in Gitea’s format, newest first',
    description: proof,
    status: 200,
    refuses: [404],
    response: z.array(accessToken),
    async run({ viewer, params, deps }) {
      await refuseOthers(deps, viewer, params.username);
      return json((await deps.accounts.listTokens(viewer.id)).map((token) => show(token)));
    },
  }),
  operation({
    ...common,
    id: 'createUserToken',
    method: 'POST',
    path: at,
    summary: 'Create an access token with Gitea’s scopes',
    description: `The token gets the lowest scope that covers all requested scopes: read, write (in repositories) or admin. With only read:package or write:package, it is limited to packages. ${proof}`,
    status: 201,
    refuses: [404, 409],
    refusesUnknownKeys: true,
    body: z.object({ name: z.string(), scopes: z.array(scopeNames).min(1).max(50) }),
    response: accessToken,
    async run({ viewer, params, body, deps }) {
      await refuseOthers(deps, viewer, params.username);
      const { token, secret } = await deps.accounts.addToken(viewer.id, {
        name: body.name,
        access: scopeFor(body.scopes),
        repositoryIds: null,
        onlyPackages: body.scopes.every((scope) => scope.endsWith(':package')),
        expiresAt: null,
      });
      return { kind: 'json', value: show(token, secret), showsSecret: true };
    },
  }),
  operation({
    ...common,
    id: 'deleteUserToken',
    method: 'DELETE',
    path: `${at}/{token}`,
    summary: 'Revoke an access token by name or ID',
    description: proof,
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      await refuseOthers(deps, viewer, params.username);
      const all = await deps.accounts.listTokens(viewer.id);
      const found = all.find(({ name }) => name === params.token) ?? rowNamed(all, params.token);
      if (found === undefined) throw notFound('unknown_token', 'There is no such token.');
      await deps.accounts.removeToken(viewer.id, found.id);
      return noContent();
    },
  }),
];
