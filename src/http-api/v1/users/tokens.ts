import { z } from 'zod';
import type { PersonViewer } from '../../../access/index.ts';
import type { AccessToken } from '../../../accounts/index.ts';
import { invalid, isDomainError } from '../../../kernel/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { accessToken, madeAccessToken, newAccessToken } from '../shapes/schemas.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

/** Names of the repositories that tokens are limited to, if their owner can still see them. */
async function namesFor(
  viewer: PersonViewer,
  tokens: readonly AccessToken[],
  { repositories }: Pick<WebDeps, 'repositories'>,
): Promise<Map<string, string>> {
  const seen = await repositories.listByIds(
    viewer,
    tokens.flatMap(({ repositoryIds }) => repositoryIds ?? []),
  );
  return new Map(seen.map(({ id, owner, name }) => [id, `${owner.handle}/${name}`]));
}

function showToken(token: AccessToken, names: ReadonlyMap<string, string>): z.output<typeof accessToken> {
  const { id, name, ending, access, repositoryIds, createdAt, expiresAt, lastUsedAt } = token;
  return {
    id,
    name,
    ending,
    access,
    repositories: repositoryIds === null ? null : repositoryIds.flatMap((one) => names.get(one) ?? []).sort(),
    createdAt: isoTime(createdAt),
    expiresAt: isoTimeOrNull(expiresAt),
    lastUsedAt: isoTimeOrNull(lastUsedAt),
  };
}

async function idOf(
  viewer: PersonViewer,
  path: string,
  { repositories }: Pick<WebDeps, 'repositories'>,
): Promise<string> {
  const [owner = '', name = ''] = path.split('/', 2);
  try {
    return (await repositories.find(viewer, owner, name)).repository.id;
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'not_found') throw error;
    throw invalid('invalid_repositories', 'One of the repositories does not exist.', { field: 'repositories' });
  }
}

export const listTokens = operation({
  id: 'listTokens',
  method: 'GET',
  path: '/user/tokens',
  tag: 'Users',
  summary: 'List the caller’s access tokens, newest first',
  access: 'account:admin',
  cost: 'rows',
  status: 200,
  response: z.array(accessToken),
  async run({ viewer, deps }) {
    const tokens = await deps.accounts.listTokens(viewer.id);
    const names = await namesFor(viewer, tokens, deps);
    return json(tokens.map((token) => showToken(token, names)));
  },
});

export const addToken = operation({
  id: 'addToken',
  method: 'POST',
  path: '/user/tokens',
  tag: 'Users',
  summary: 'Create an access token',
  description: 'Only this response contains the secret.',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [409],
  refusesUnknownKeys: true,
  body: newAccessToken,
  response: madeAccessToken,
  async run({ viewer, body, deps }) {
    const paths = body.repositories ?? null;
    const { token, secret } = await deps.accounts.addToken(viewer.id, {
      name: body.name,
      access: body.access,
      repositoryIds: paths === null ? null : await Promise.all(paths.map((path) => idOf(viewer, path, deps))),
      expiresAt: body.expiresAt == null ? null : Date.parse(body.expiresAt),
    });
    const names = await namesFor(viewer, [token], deps);
    return { kind: 'json', value: { ...showToken(token, names), secret }, showsSecret: true };
  },
});

export const removeToken = operation({
  id: 'removeToken',
  method: 'DELETE',
  path: '/user/tokens/{id}',
  tag: 'Users',
  summary: 'Revoke an access token, including the one used for this request',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404],
  async run({ viewer, params, deps }) {
    await deps.accounts.removeToken(viewer.id, params.id);
    return noContent();
  },
});
