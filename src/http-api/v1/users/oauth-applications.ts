import { z } from 'zod';
import { giteaTime, numericId } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { Application, ApplicationOwner } from '../../../oauth/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { rowNamed } from '../shapes/ids.ts';

/** The caller's OAuth2 applications, as in Gitea's API. */
const at = '/user/applications/oauth2';
const one = `${at}/{application}` as const;

const application = z
  .strictObject({
    id: z.int().describe('Derived from the UUID'),
    name: z.string(),
    client_id: z.string(),
    client_secret: z.string().describe('Included only in the response that creates it'),
    redirect_uris: z.array(z.string()),
    confidential_client: z.boolean(),
    skip_secondary_authorization: z.boolean(),
    created: z.iso.datetime(),
  })
  .meta({ id: 'OAuth2Application' });

const input = z.object({
  name: z.string(),
  redirect_uris: z.array(z.string()).max(100),
  confidential_client: z.boolean().optional(),
  skip_secondary_authorization: z.boolean().optional(),
});

const show = (found: Application, secret: string | null = null): z.output<typeof application> => ({
  id: numericId(found.id),
  name: found.name,
  client_id: found.clientId,
  client_secret: secret ?? '',
  redirect_uris: [...found.redirectUris],
  confidential_client: found.isConfidential,
  skip_secondary_authorization: false,
  created: giteaTime(found.createdAt),
});

const ownerOf = (viewer: { id: string }): ApplicationOwner => ({ kind: 'user', id: viewer.id });

async function applicationOf({ oauth }: WebDeps, owner: ApplicationOwner, id: string): Promise<Application> {
  const found = rowNamed(await oauth.applications.list(owner), id);
  if (found === undefined) throw notFound('unknown_application', 'There is no such application.');
  return found;
}

const inputOf = (body: z.output<typeof input>, isConfidential: boolean) => ({
  name: body.name,
  redirectUris: body.redirect_uris,
  isConfidential: body.confidential_client ?? isConfidential,
});

const common = { tag: 'Users', access: 'account:admin', cost: 'rows' } as const;

export const oauthApplicationOperations = [
  operation({
    ...common,
    id: 'listOAuthApplications',
    method: 'GET',
    path: at,
    summary: 'List the caller’s OAuth2 applications, oldest first',
    status: 200,
    response: z.array(application),
    run: async ({ viewer, deps }) =>
      json((await deps.oauth.applications.list(ownerOf(viewer))).map((each) => show(each))),
  }),
  operation({
    ...common,
    id: 'createOAuthApplication',
    method: 'POST',
    path: at,
    summary: 'Create an OAuth2 application',
    description: 'Only this response contains the secret of a confidential client.',
    status: 201,
    refuses: [409],
    body: input,
    response: application,
    async run({ viewer, body, deps }) {
      const { application: added, secret } = await deps.oauth.applications.add(ownerOf(viewer), inputOf(body, true));
      return { kind: 'json', value: show(added, secret), showsSecret: true };
    },
  }),
  operation({
    ...common,
    id: 'getOAuthApplication',
    method: 'GET',
    path: one,
    summary: 'Get one of the caller’s OAuth2 applications',
    status: 200,
    refuses: [404],
    response: application,
    run: async ({ viewer, params, deps }) => json(show(await applicationOf(deps, ownerOf(viewer), params.application))),
  }),
  operation({
    ...common,
    id: 'updateOAuthApplication',
    method: 'PATCH',
    path: one,
    summary: 'Update one of the caller’s OAuth2 applications',
    description: 'As in Gitea, a confidential client gets a new secret; the previous one stops working immediately.',
    status: 200,
    refuses: [404, 409],
    body: input,
    response: application,
    async run({ viewer, params, body, deps }) {
      const owner = ownerOf(viewer);
      const { id, isConfidential } = await applicationOf(deps, owner, params.application);
      const { application: changed, secret } = await deps.oauth.applications.change(
        owner,
        id,
        inputOf(body, isConfidential),
      );
      const shown =
        secret ?? (changed.isConfidential ? await deps.oauth.applications.replaceSecret(owner, changed.id) : null);
      return { kind: 'json', value: show(changed, shown), showsSecret: true };
    },
  }),
  operation({
    ...common,
    id: 'deleteOAuthApplication',
    method: 'DELETE',
    path: one,
    summary: 'Delete one of the caller’s OAuth2 applications and revoke its tokens',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      const owner = ownerOf(viewer);
      const { id } = await applicationOf(deps, owner, params.application);
      await deps.oauth.applications.remove(owner, id);
      return noContent();
    },
  }),
];
