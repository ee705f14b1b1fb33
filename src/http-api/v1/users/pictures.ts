import { z } from 'zod';
import { invalid } from '../../../kernel/index.ts';
import type { ImageUpload } from '../../../images/index.ts';
import { noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';

/** Pictures of users, organisations and repositories in Gitea's form: base64 in JSON. */
const picture = z.object({ image: z.string().describe('PNG, JPEG, GIF or WebP file in base64') });
/** Two MiB of an image in base64. */
const maxJsonBytes = 3 * 1024 * 1024;

const signatures: readonly [type: string, start: RegExp][] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8/],
  ['image/webp', /^RIFF.{4}WEBP/s],
];

/** Throws `invalid_base64`; storing the picture checks its format. */
function uploadOf(text: string): ImageUpload {
  const plain = text.replace(/^data:[^,]{0,100},/, '').replace(/[\r\n\t ]+/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain))
    throw invalid('invalid_base64', 'A picture is given in base64.', { field: 'image' });
  const bytes = Buffer.from(plain, 'base64');
  const start = bytes.subarray(0, 16).toString('latin1');
  return { declaredType: signatures.find(([, pattern]) => pattern.test(start))?.[0] ?? '', bytes };
}

const common = { tag: 'Images', cost: 'upload', status: 204 } as const;
const put = { ...common, method: 'POST', maxJsonBytes, body: picture, refuses: [404] } as const;
const remove = { ...common, method: 'DELETE', cost: 'rows', refuses: [404] } as const;

export const pictureOperations = [
  operation({
    ...put,
    id: 'setUserAvatar',
    path: '/user/avatar',
    summary: 'Set the caller’s avatar',
    access: 'account:write',
    async run({ viewer, body, deps }) {
      await deps.avatars.replace(viewer.id, uploadOf(body.image));
      return noContent();
    },
  }),
  operation({
    ...remove,
    id: 'removeUserAvatar',
    path: '/user/avatar',
    summary: 'Remove the caller’s avatar',
    access: 'account:write',
    async run({ viewer, deps }) {
      await deps.avatars.remove(viewer.id);
      return noContent();
    },
  }),
  operation({
    ...put,
    id: 'setOrganisationAvatar',
    path: '/orgs/{org}/avatar',
    summary: 'Set an organisation’s avatar',
    access: 'organisation:owner',
    async run({ viewer, params, body, deps }) {
      await deps.organisations.replaceAvatar(viewer, params.org, uploadOf(body.image));
      return noContent();
    },
  }),
  operation({
    ...remove,
    id: 'removeOrganisationAvatar',
    path: '/orgs/{org}/avatar',
    summary: 'Remove an organisation’s avatar',
    access: 'organisation:owner',
    async run({ viewer, params, deps }) {
      await deps.organisations.removeAvatar(viewer, params.org);
      return noContent();
    },
  }),
  operation({
    ...put,
    id: 'setRepositoryAvatar',
    path: '/repos/{owner}/{name}/avatar',
    summary: 'Set a repository’s custom image (Gitea-compatible)',
    access: 'repository:owner',
    async run({ viewer, found: { canonical }, body, deps }) {
      await deps.repositories.images.replace(viewer, canonical.owner, canonical.name, uploadOf(body.image));
      return noContent();
    },
  }),
  operation({
    ...remove,
    id: 'removeRepositoryAvatar',
    path: '/repos/{owner}/{name}/avatar',
    summary: 'Remove a repository’s custom image (Gitea-compatible)',
    access: 'repository:owner',
    async run({ viewer, found: { canonical }, deps }) {
      await deps.repositories.images.remove(viewer, canonical.owner, canonical.name);
      return noContent();
    },
  }),
];
