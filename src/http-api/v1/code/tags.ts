import { z } from 'zod';
import type { WebDeps } from '../../../web/index.ts';
import { repositoryUrl } from '../../../http/index.ts';
import { conflict, notFound } from '../../../kernel/index.ts';
import type { NamedRef } from '../../../git/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { newTag } from './releases-schemas.ts';
import { objectId } from '../shapes/commits-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

const list = '/repos/{owner}/{name}/tags';
const one = `${list}/{tag}` as const;

export const tagShape = z
  .strictObject({
    name: z.string(),
    id: objectId.describe('ID of the tag object, for annotated tags'),
    message: z.string().describe('Of the tag, for lightweight tags of the commit'),
    commit: z
      .strictObject({ sha: objectId, url: z.url(), created: z.iso.datetime() })
      .nullable()
      .describe('Null if the tag does not point to a commit'),
    zipball_url: z.url(),
    tarball_url: z.url(),
  })
  .meta({ id: 'GitTag' });

/** Tags in Gitea's form. */
export async function showTags(
  { git }: Pick<WebDeps, 'git'>,
  found: Found,
  origin: string,
  tags: readonly NamedRef[],
): Promise<z.output<typeof tagShape>[]> {
  const ids = tags.map(({ oid }) => oid);
  const [notes, refs] = await Promise.all([git.queries.tags(found.path, ids), git.queries.cachedRefs(found.path)]);
  const page = origin + repositoryUrl(found.canonical);
  const at = `${origin}/${found.canonical.owner}/${found.canonical.name}`;
  return Promise.all(
    tags.map(async ({ name, oid }, index) => {
      const commit = await git.refs
        .resolve(found.path, `refs/tags/${name}`)
        .then((id) => git.objects.commit(found.path, id))
        .catch(() => null);
      const path = name.split('/').map(encodeURIComponent).join('/');
      // By its full name if a branch has the same short name.
      const isShadowed = refs.has(`refs/heads/${name}`);
      const archive = isShadowed ? `${page}/archive/refs/tags/${path}` : `${at}/archive/${path}`;
      return {
        name,
        id: oid,
        message: (notes[index]?.message ?? commit?.message ?? '').trim(),
        commit: commit && {
          sha: commit.oid,
          url: `${page}/commit/${commit.oid}`,
          created: isoTime(Math.min(Math.max(commit.committer.at, -8.64e15), 8.64e15)),
        },
        zipball_url: `${archive}.zip`,
        tarball_url: `${archive}.tar.gz`,
      };
    }),
  );
}

/** Throws `tag_gone`. */
async function find({ git }: WebDeps, { path }: Found, name: string): Promise<NamedRef> {
  const oid = await git.refs.tip(path, `refs/tags/${name}`);
  if (oid === null) throw notFound('tag_gone', 'There is no such tag.');
  return { name, oid };
}

const getTag = operation({
  id: 'getTag',
  method: 'GET',
  path: one,
  tag: 'Contents',
  summary: 'Get a tag',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: tagShape,
  async run({ found, params, deps, origin }) {
    const [shown] = await showTags(deps, found, origin, [await find(deps, found, params.tag)]);
    return json(shown!);
  },
});

const createTag = operation({
  id: 'createTag',
  method: 'POST',
  path: list,
  tag: 'Contents',
  summary: 'Create a tag',
  access: 'repository:read',
  scope: 'write',
  cost: 'objects',
  status: 201,
  refuses: [409, 422],
  body: newTag,
  response: tagShape,
  async run({ viewer, found, body, deps, origin }) {
    const { owner, name } = found.canonical;
    const { tag_name: tag, target, message } = body;
    const wanted = { name: tag, from: target || found.repository.defaultBranch, message };
    const made = await deps.repositories.tags.create(viewer, owner, name, wanted);
    const [shown] = await showTags(deps, found, origin, [made]);
    return created(shown!);
  },
});

const deleteTag = operation({
  id: 'deleteTag',
  method: 'DELETE',
  path: one,
  tag: 'Contents',
  summary: 'Delete a tag that has no release',
  access: 'repository:read',
  scope: 'write',
  cost: 'objects',
  status: 204,
  refuses: [409],
  async run({ viewer, found, params, deps }) {
    const { name: tag, oid } = await find(deps, found, params.tag);
    if ((await deps.releases.releasedTags(found.repository.id, [tag])).length > 0)
      throw conflict('tag_has_release', 'This tag has a release. Delete that first.');
    const { owner, name } = found.canonical;
    await deps.repositories.tags.delete(viewer, owner, name, { name: tag, expected: oid });
    return noContent();
  },
});

export const tagOperations = [getTag, createTag, deleteTag];
